import type { NumberFormatter } from '../core/formatting/number-formatter.js'
import type { Factor } from './factor-list.js'
import { getFuelName, type FuelType } from './factors/editions.js'

/** A factor as pages show it. */
export interface FactorView {
  name: string
  value: string
  unit: string
  source: string
  isUnverified: boolean
}

/** The API writes chemical formulas in ASCII; pages use subscripts. */
export const withSubscripts = (text: string): string =>
  text.replace(/\b(?:CO2|CH4|N2O)/g, (formula) => formula.replace('2', '₂').replace('4', '₄'))

/**
 * Formats factors; if there is more than one fuel, each factor is preceded by the name of its fuel.
 */
export function buildFactorViews(
  factors: readonly Factor[],
  { exact }: NumberFormatter,
): FactorView[] {
  const fuels = new Set(factors.flatMap(({ fuelType }) => fuelType ?? []))
  return factors.map(({ name, value, unit, source, location, gwp, unverified, fuelType }) => {
    const prefix =
      fuels.size > 1 && fuelType !== undefined ? `${getFuelName(fuelType as FuelType)}: ` : ''
    const isCo2e = gwp !== undefined && !name.startsWith('GWP100')
    const details = [
      ...(location === undefined || location === 'none' ? [] : [location]),
      ...(isCo2e ? [`CO2e by GWP100 of IPCC ${gwp}`] : []),
    ]
    return {
      name: withSubscripts(prefix + name),
      value: exact(value),
      unit: withSubscripts(unit),
      source: withSubscripts([source, ...details].join('; ')),
      isUnverified: unverified === true,
    }
  })
}
