import { Type, type Static } from '@sinclair/typebox'
import { stringEnum } from '../validation/string-enum.js'
import type { CombustionFactors, Edition, FactorValue } from './factors/edition.js'
import { BURNT_FUEL_TYPES, EDITIONS, type BurntFuelType } from './factors/editions.js'
import type { LineEmissions } from './fuel-emissions.js'

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

function listGwp100({ gwp100 }: Edition): Factor[] {
  return [
    { name: 'GWP100 of CH4', ...gwp100.ch4 },
    { name: 'GWP100 of N2O', ...gwp100.n2o },
  ]
}

const listCombustion = ({ co2, ch4, n2o }: CombustionFactors): [string, FactorValue][] => [
  ['Tank-to-wake CO2', co2],
  ['Tank-to-wake CH4', ch4],
  ['Tank-to-wake N2O', n2o],
]

function listFuelFactors(edition: Edition<BurntFuelType>, fuelType: BurntFuelType): Factor[] {
  const fuel = edition.fuels[fuelType]
  const named: [string, FactorValue | undefined][] =
    fuel.basis === 'volume'
      ? [
          ['Density', fuel.density],
          ['Tank-to-wake', fuel.tankToWake],
          ['Well-to-tank', fuel.wellToTank],
        ]
      : [
          ['Density', fuel.density],
          ['Lower calorific value', fuel.lowerCalorificValue],
          ['Well-to-tank', fuel.wellToTank],
          ...listCombustion(fuel),
          ['Methane slip', fuel.methaneSlip],
        ]
  return [...toFactors(named, fuelType), ...(fuel.basis === 'mass' ? listGwp100(edition) : [])]
}

const toFactors = (named: [string, FactorValue | undefined][], fuelType: BurntFuelType): Factor[] =>
  named.flatMap(([name, factor]) => (factor === undefined ? [] : [{ name, ...factor, fuelType }]))

/** The published numbers, by edition and fuel. */
const PUBLISHED = new Map<string, Record<BurntFuelType, Factor[]>>(
  EDITIONS.map((edition) => [
    edition.id,
    Object.fromEntries(
      BURNT_FUEL_TYPES.map((fuelType) => [fuelType, listFuelFactors(edition, fuelType)]),
    ) as Record<BurntFuelType, Factor[]>,
  ]),
)

/** The published numbers of a fuel, excluding those that are used only with a certified value. */
export const getPublishedFactors = (edition: Edition, fuelType: BurntFuelType): Factor[] =>
  PUBLISHED.get(edition.id)?.[fuelType] ?? []

function listCertifiedFactors(
  edition: Edition<BurntFuelType>,
  fuelType: BurntFuelType,
  gCo2ePerMj: number,
  line: number,
): Factor[] {
  const fuel = edition.fuels[fuelType]
  if (fuel.basis !== 'volume' || fuel.certified === undefined) return []
  return [
    ...toFactors(
      [
        ['Density', fuel.density],
        ['Lower calorific value', fuel.certified.lowerCalorificValue],
        ...listCombustion(fuel.certified),
      ],
      fuelType,
    ),
    {
      name: 'Certified well-to-wake',
      value: gCo2ePerMj,
      unit: 'g CO2e/MJ',
      source: 'entered, from the proof of sustainability',
      fuelType,
      line,
    },
    ...listGwp100(edition),
  ]
}

/** Every number used for a line of a trip. */
export function listLineFactors(
  edition: Edition<BurntFuelType>,
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
  return parts.flatMap(({ fuelType, certifiedGCo2ePerMj }) =>
    certifiedGCo2ePerMj === null
      ? getPublishedFactors(edition, fuelType)
      : listCertifiedFactors(edition, fuelType, certifiedGCo2ePerMj, number),
  )
}
