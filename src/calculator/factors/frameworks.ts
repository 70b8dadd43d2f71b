import { stringEnum } from '../../core/validation/schema-types.js'
import type { Edition, FactorValue, GwpReport } from './edition.js'

/** Accounting frameworks; they differ in the GWP100 of CH4 and N2O. */
export const FRAMEWORKS = ['clearwake', 'fueleu', 'imo'] as const
export type Framework = (typeof FRAMEWORKS)[number]

export const DEFAULT_FRAMEWORK: Framework = 'clearwake'

export const FRAMEWORK_NAMES: Record<Framework, string> = {
  clearwake: 'Default (IPCC AR6)',
  fueleu: 'FuelEU Maritime (IPCC AR4)',
  imo: 'IMO (IPCC AR5)',
}

export const FrameworkSchema = stringEnum<Framework>(FRAMEWORKS, {
  description:
    'Framework of the calculation; sets the GWP100 of CH4 and N2O: clearwake (IPCC AR6: 29.8 and 273, the default), fueleu (AR4: 25 and 298) or imo (AR5: 28 and 265). Values published as CO2e keep the GWP100 of their publisher',
})

const gwp100 = (
  gwp: GwpReport,
  source: string,
  location: string,
  [ch4, n2o]: [number, number],
): Edition['gwp100'] => {
  const toFactor = (value: number): FactorValue => ({
    value,
    unit: 'kg CO2e/kg',
    source,
    location,
    retrieved: '2026-11-25',
    gwp,
  })
  return { ch4: toFactor(ch4), n2o: toFactor(n2o) }
}

const GWP100: Record<Exclude<Framework, 'clearwake'>, Edition['gwp100']> = {
  fueleu: gwp100(
    'AR4',
    'Regulation (EU) 2023/1805 (FuelEU Maritime); Directive (EU) 2018/2001 (RED II)',
    'Annex I; Annex V, part C, point 4',
    [25, 298],
  ),
  imo: gwp100(
    'AR5',
    'IMO resolution MEPC.391(81) (LCA guidelines); IPCC AR5, WG I',
    'GWP100; Table 8.A.1',
    [28, 265],
  ),
}

/** The GWP100 of CH4 and N2O in a framework; Clearwake's own are those of the edition. */
export const getGwp100 = (framework: Framework, edition: Edition): Edition['gwp100'] =>
  framework === 'clearwake' ? edition.gwp100 : GWP100[framework]
