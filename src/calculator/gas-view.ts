import { withUnit, type NumberFormatter } from '../core/formatting/number-formatter.js'
import type { Estimate } from './estimate-schema.js'
import { FRAMEWORK_NAMES } from './factors/frameworks.js'

/** The framework of a result and the masses of gases from burning the fuel, as pages show them. */
export interface FrameworkView {
  framework: string
  /** Empty if no mass is known */
  gases: { label: string; value: string }[]
}

export function buildFrameworkView(
  { framework, gases }: Pick<Estimate, 'framework' | 'gases'>,
  numbers: NumberFormatter,
): FrameworkView {
  const masses: [string, number | null][] = [
    ['CO₂', gases.co2Kg],
    ['CH₄', gases.ch4Kg],
    ['N₂O', gases.n2oKg],
    ['Biogenic CO₂', gases.biogenicCo2Kg],
  ]
  const isKnown = masses.some(([, kilograms]) => kilograms !== null)
  return {
    framework: FRAMEWORK_NAMES[framework],
    gases: masses
      .filter(() => isKnown)
      .map(([label, kilograms]) => ({
        label,
        value:
          kilograms === null
            ? 'published as CO₂e only'
            : withUnit(numbers.significant(kilograms), 'kg'),
      })),
  }
}
