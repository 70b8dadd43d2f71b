import { stringEnum } from '../../core/validation/formats.js'

/** IPCC assessment report whose GWP100 values a CO2e figure is based on. */
type GwpReport = 'AR4' | 'AR5' | 'AR6'

/** A published number, and where to check it. */
export interface FactorValue {
  value: number
  unit: string
  source: string
  /** Table, row and column, or sheet and row */
  location: string
  /** Date of retrieval, `2026-11-23` */
  retrieved: string
  /** For a value that is published as CO2e: the report that the publisher used */
  gwp?: GwpReport
  /** No second source confirms the value */
  unverified?: true
}

/** CO2, CH4 and N2O from burning a kilogram of fuel, kg per kg. */
interface CombustionFactors {
  /** MJ per kg */
  lowerCalorificValue: FactorValue
  co2: FactorValue
  ch4: FactorValue
  n2o: FactorValue
}

interface FuelBase {
  name: string
  /** kg per litre */
  density: FactorValue
}

/** A fuel whose factors are published per mass and energy (FuelEU Maritime, IMO). */
export interface MassBasedFuel extends FuelBase, CombustionFactors {
  basis: 'mass'
  /** g CO2e per MJ; missing if it depends on the origin of the fuel, so that only a certificate has it */
  wellToTank?: FactorValue
  /** Share of the fuel mass that leaves the engine unburnt, as methane */
  methaneSlip?: FactorValue
}

/** A fuel whose factors are published per volume (DESNZ). */
export interface VolumeBasedFuel extends FuelBase {
  basis: 'volume'
  /** kg CO2e per litre */
  wellToTank: FactorValue
  /** kg CO2e per litre */
  tankToWake: FactorValue
  /** For a biofuel: its CO2 is biogenic, and it may have a certified value (FuelEU Maritime, Annex I) */
  certified?: CombustionFactors
}

export type Fuel = MassBasedFuel | VolumeBasedFuel

/** A set of emission factors, published together. Released editions never change. */
export interface Edition<Id extends string = string> {
  /** Year and month of the newest publication, `2026-06` */
  id: string
  title: string
  /** kg CO2e per kg, applied where masses of CH4 and N2O are published */
  gwp100: { ch4: FactorValue; n2o: FactorValue }
  fuels: Record<Id, Fuel>
}

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
