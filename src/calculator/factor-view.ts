import { withUnit, type NumberFormatter } from '../core/formatting/number-formatter.js'
import type { Estimate, Factor } from './estimate-schema.js'
import { getFuelName, type FuelType } from './factors/editions.js'
import { FRAMEWORK_NAMES } from './factors/frameworks.js'

/** The API writes chemical formulas in ASCII; pages use subscripts. */
export const withSubscripts = (text: string): string =>
  text.replace(/\b(?:CO2|CH4|N2O)/g, (formula) => formula.replace('2', '₂').replace('4', '₄'))

/**
 * Formats factors; if there is more than one fuel, each factor is preceded by the name of its fuel.
 */
export function buildFactorViews(factors: readonly Factor[], { exact }: NumberFormatter) {
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

/**
 * The framework of a result and the masses of gases from burning the fuel; no gases if no mass is
 * known.
 */
export function buildFrameworkView(
  { framework, gases }: Pick<Estimate, 'framework' | 'gases'>,
  numbers: NumberFormatter,
) {
  const masses: [string, number | null][] = [
    ['CO₂', gases.co2Kg],
    ['CH₄', gases.ch4Kg],
    ['N₂O', gases.n2oKg],
    ['Biogenic CO₂', gases.biogenicCo2Kg],
  ]
  const isKnown = masses.some(([, kilograms]) => kilograms !== null)
  const format = (kilograms: number | null): string =>
    kilograms === null ? 'published as CO₂e only' : withUnit(numbers.significant(kilograms), 'kg')
  return {
    framework: FRAMEWORK_NAMES[framework],
    gases: isKnown ? masses.map(([label, kilograms]) => ({ label, value: format(kilograms) })) : [],
  }
}
