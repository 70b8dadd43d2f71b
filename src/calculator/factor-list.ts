import type { Factor } from './estimate-schema.js'
import type { FactorValue, Fuel } from './factors/edition.js'
import type { Gwp100, LineEmissions } from './fuel-emissions.js'

export const listGwp100 = ({ ch4, n2o }: Gwp100): Factor[] => [
  { name: 'GWP100 of CH4', ...ch4 },
  { name: 'GWP100 of N2O', ...n2o },
]

function listFuelFactors(fuel: Fuel, fuelType: string): Factor[] {
  const named: [string, FactorValue | undefined][] =
    fuel.basis === 'volume'
      ? [
          ['Density', fuel.density],
          ['Tank-to-wake', fuel.tankToWake],
          ['Well-to-tank', fuel.wellToTank],
          ['Biogenic CO2', fuel.certified?.co2],
        ]
      : [
          ['Density', fuel.density],
          ['Lower calorific value', fuel.lowerCalorificValue],
          ['Well-to-tank', fuel.wellToTank],
          ['Tank-to-wake CO2', fuel.co2],
          ['Tank-to-wake CH4', fuel.ch4],
          ['Tank-to-wake N2O', fuel.n2o],
          ['Methane slip', fuel.methaneSlip],
        ]
  return named.flatMap(([name, factor]) =>
    factor === undefined ? [] : [{ name, ...factor, fuelType }],
  )
}

/**
 * The published numbers of a fuel, excluding those that are used only with a certified value.
 *
 * @param gwp100 added if the fuel's CH4 and N2O are multiplied with them
 */
export const listPublishedFactors = (fuel: Fuel, fuelType: string, gwp100: Gwp100): Factor[] => [
  ...listFuelFactors(fuel, fuelType),
  ...(fuel.basis === 'mass' ? listGwp100(gwp100) : []),
]

/**
 * Every number used for a line of a trip.
 *
 * @param number of the line, counting from 1
 */
export function listLineFactors(
  { line, parts }: LineEmissions,
  number: number,
  gwp100: Gwp100,
): Factor[] {
  if (line.fuelType === 'electricity') {
    return [
      {
        name: 'Electricity',
        value: line.kgCo2ePerKwh,
        unit: 'kg CO2e/kWh',
        source: `entered: ${line.source}`,
        fuelType: line.fuelType,
        line: number,
      },
    ]
  }
  return parts.flatMap(({ fuel, fuelType, certificate }) => {
    if (certificate === null) return listPublishedFactors(fuel, fuelType, gwp100)
    const { gCo2ePerMj, as, reference } = certificate
    const details = [as === 'bio' ? 'biofuel' : 'e-fuel (RFNBO)', reference].filter(Boolean)
    return [
      ...listFuelFactors(fuel, fuelType).filter(({ name }) => name !== 'Well-to-tank'),
      {
        name: 'Certified well-to-wake',
        value: gCo2ePerMj,
        unit: 'g CO2e/MJ',
        source: `entered, from the proof of sustainability: ${details.join(', ')}`,
        fuelType,
        line: number,
      },
      ...listGwp100(gwp100),
    ]
  })
}
