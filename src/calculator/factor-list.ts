import { Type, type Static } from '@sinclair/typebox'
import { stringEnum } from '../core/validation/string-enum.js'
import type { CombustionFactors, Edition, Fuel, FactorValue } from './factors/edition.js'
import { EDITIONS, type BurntFuelType } from './factors/editions.js'
import type { FuelPart, Gwp100, LineEmissions } from './fuel-emissions.js'

/** A number used in a calculation, and where it was published. */
export const Factor = Type.Object(
  {
    name: Type.String(),
    value: Type.Number(),
    unit: Type.String(),
    source: Type.String({ description: 'Publication that states the number' }),
    location: Type.Optional(Type.String({ description: 'Table, row and column' })),
    retrieved: Type.Optional(Type.String({ description: 'Date of retrieval' })),
    gwp: Type.Optional(
      stringEnum(['AR4', 'AR5', 'AR6'], {
        description: 'IPCC assessment report whose GWP100 values a CO2e value is based on',
      }),
    ),
    unverified: Type.Optional(
      Type.Boolean({ description: 'Whether the number has not been confirmed by a second source' }),
    ),
    fuelType: Type.Optional(Type.String({ description: 'Fuel that the number belongs to' })),
    line: Type.Optional(
      Type.Integer({ description: 'Line that the value was entered for, counting from 1' }),
    ),
  },
  { title: 'Emission factor' },
)
export type Factor = Static<typeof Factor>

export const listGwp100 = ({ ch4, n2o }: Gwp100): Factor[] => [
  { name: 'GWP100 of CH4', ...ch4 },
  { name: 'GWP100 of N2O', ...n2o },
]

const listCombustion = ({ co2, ch4, n2o }: CombustionFactors): [string, FactorValue][] => [
  ['Tank-to-wake CO2', co2],
  ['Tank-to-wake CH4', ch4],
  ['Tank-to-wake N2O', n2o],
]

const toFactors = (named: [string, FactorValue | undefined][], fuelType: string): Factor[] =>
  named.flatMap(([name, factor]) => (factor === undefined ? [] : [{ name, ...factor, fuelType }]))

const listFuelFactors = (fuel: Fuel, fuelType: string): Factor[] =>
  toFactors(
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
          ...listCombustion(fuel),
          ['Methane slip', fuel.methaneSlip],
        ],
    fuelType,
  )

/** The published numbers, by edition and fuel. */
const PUBLISHED = new Map<string, Map<string, Factor[]>>(
  EDITIONS.map(({ id, fuels }: Edition) => [
    id,
    new Map(
      Object.entries(fuels).map(([fuelType, fuel]) => [fuelType, listFuelFactors(fuel, fuelType)]),
    ),
  ]),
)

/**
 * The published numbers of a fuel, excluding those that are used only with a certified value.
 *
 * @param gwp100 added if the fuel's CH4 and N2O are multiplied with them
 */
export function getPublishedFactors(
  { id, fuels }: Edition<BurntFuelType>,
  fuelType: BurntFuelType,
  gwp100: Gwp100,
): Factor[] {
  const published = PUBLISHED.get(id)?.get(fuelType) ?? listFuelFactors(fuels[fuelType], fuelType)
  return fuels[fuelType].basis === 'mass' ? [...published, ...listGwp100(gwp100)] : published
}

/** The numbers of a certified fuel: its certified value replaces the published well-to-tank factor. */
function listCertifiedFactors(
  { fuel, fuelType, certificate }: FuelPart,
  gwp100: Gwp100,
  line: number,
): Factor[] {
  if (certificate === null) return []
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
      line,
    },
    ...listGwp100(gwp100),
  ]
}

/** Every number used for a line of a trip. */
export function listLineFactors(
  edition: Edition<BurntFuelType>,
  gwp100: Gwp100,
  { line, parts }: LineEmissions,
  number: number,
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
  return parts.flatMap((part) =>
    part.certificate === null
      ? getPublishedFactors(edition, part.fuelType, gwp100)
      : listCertifiedFactors(part, gwp100, number),
  )
}
