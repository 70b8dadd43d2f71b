import type { CertifiedAs, DistanceData, FuelData, FuelLine, LineUse } from './calculator-data.js'
import { calculateDistanceFuel } from './distance-fuel.js'
import { isBurnt, type BurntFuelType } from './factors/editions.js'
import { isMassUnit, KILOGRAMS_PER, LITRES_PER } from './units.js'

/** An amount of fuel, by volume or by mass. */
export type FuelAmount = { litres: number } | { kilograms: number }

/** A certified well-to-wake value, from the supplier's proof of sustainability. */
export interface Certificate {
  gCo2ePerMj: number
  as: CertifiedAs
  reference: string | null
}

/** Fuel burnt, in base units. */
interface BurntLine {
  use: LineUse | null
  fuelType: BurntFuelType
  amount: FuelAmount
  hvoPercent: number
  certificate: Certificate | null
}

/** Electricity from shore. */
interface ElectricityLine {
  use: LineUse | null
  fuelType: 'electricity'
  kilowattHours: number
  kgCo2ePerKwh: number
  source: string
}

export type TripLine = BurntLine | ElectricityLine

type BiofuelFields = Pick<
  DistanceData,
  'certifiedGCo2ePerMj' | 'certifiedAs' | 'certificateReference'
>

const toCertificate = ({
  certifiedGCo2ePerMj,
  certifiedAs,
  certificateReference,
}: BiofuelFields): Certificate | null =>
  certifiedGCo2ePerMj === undefined
    ? null
    : {
        gCo2ePerMj: certifiedGCo2ePerMj,
        as: certifiedAs ?? 'bio',
        reference: certificateReference ?? null,
      }

const toTripLine = (line: Omit<FuelLine, 'use'>, use: LineUse | null): TripLine => {
  const { fuelType, quantity, unit } = line
  if (!isBurnt(fuelType) || unit === 'kWh') {
    return {
      use,
      fuelType: 'electricity',
      kilowattHours: quantity,
      kgCo2ePerKwh: line.kgCo2ePerKwh ?? 0,
      source: line.factorSource ?? '',
    }
  }
  return {
    use,
    fuelType,
    amount: isMassUnit(unit)
      ? { kilograms: quantity * KILOGRAMS_PER[unit] }
      : { litres: quantity * LITRES_PER[unit] },
    hvoPercent: line.hvoPercent ?? 0,
    certificate: toCertificate(line),
  }
}

const toFurtherLines = (lines: FuelLine[] | undefined): TripLine[] =>
  (lines ?? []).map((line) => toTripLine(line, line.use ?? null))

export const getFuelLines = (data: FuelData): TripLine[] => [
  toTripLine(data, null),
  ...toFurtherLines(data.furtherLines),
]

/** The engines and generators of the trip burn the same fuel, so they share one line. */
export function getDistanceLines(data: DistanceData): TripLine[] {
  const { engineLitres, generatorLitres } = calculateDistanceFuel(data)
  return [
    {
      use: null,
      fuelType: data.fuelType,
      amount: { litres: engineLitres + generatorLitres },
      hvoPercent: data.hvoPercent ?? 0,
      certificate: toCertificate(data),
    },
    ...toFurtherLines(data.furtherLines),
  ]
}
