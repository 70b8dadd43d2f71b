import type {
  CombustionFactors,
  Edition,
  Fuel,
  MassBasedFuel,
  VolumeBasedFuel,
} from './factors/edition.js'
import type { BurntFuelType } from './factors/editions.js'
import type { FuelAmount, TripLine } from './trip-lines.js'

/** Emissions of an amount of fuel, kg CO2e. */
export interface Emissions {
  co2eKg: number
  wellToTankCo2eKg: number
  tankToWakeCo2eKg: number
}

/** One of the fuels of a line; a blend has two. */
export interface FuelPart extends Emissions {
  fuelType: BurntFuelType
  fuel: Fuel
  litres: number
  kilograms: number
  /** Certified well-to-wake emissions of a biofuel, g CO2e/MJ */
  certifiedGCo2ePerMj: number | null
}

/** Emissions of a line, and the amounts of fuel and electricity that it used. */
export interface LineEmissions extends Emissions {
  line: TripLine
  fuelLitres: number | null
  fuelKg: number | null
  kilowattHours: number | null
  parts: FuelPart[]
}

/** kg CO2e per kilogram or litre of fuel. */
export interface EmissionsPerUnit {
  wellToTank: number
  tankToWake: number
}

type Gwp100 = Edition['gwp100']

const toCombustionCo2e = ({ co2, ch4, n2o }: CombustionFactors, gwp100: Gwp100): number =>
  co2.value + ch4.value * gwp100.ch4.value + n2o.value * gwp100.n2o.value

/** FuelEU Maritime, Annex I: the slipped share is emitted as methane; only the rest burns. */
export function toEmissionsPerKilogram(fuel: MassBasedFuel, gwp100: Gwp100): EmissionsPerUnit {
  const slip = fuel.methaneSlip?.value ?? 0
  return {
    wellToTank: (fuel.lowerCalorificValue.value * fuel.wellToTank.value) / 1000,
    tankToWake: (1 - slip) * toCombustionCo2e(fuel, gwp100) + slip * gwp100.ch4.value,
  }
}

/**
 * FuelEU Maritime, Annex II, column 4: the well-to-tank value of a biofuel is its certified value E
 * minus the CO2 from burning it, Cf / LCV.
 */
export function toCertifiedEmissionsPerKilogram(
  factors: CombustionFactors,
  gCo2ePerMj: number,
  gwp100: Gwp100,
): EmissionsPerUnit {
  return {
    wellToTank: (factors.lowerCalorificValue.value * gCo2ePerMj) / 1000 - factors.co2.value,
    tankToWake: toCombustionCo2e(factors, gwp100),
  }
}

const toEmissionsPerLitre = (fuel: VolumeBasedFuel): EmissionsPerUnit => ({
  wellToTank: fuel.wellToTank.value,
  tankToWake: fuel.tankToWake.value,
})

const sumBy = <T>(items: readonly T[], get: (item: T) => number): number =>
  items.reduce((sum, item) => sum + get(item), 0)

/** Adds up emissions; the total is exactly the sum of its two parts. */
export function sumEmissions(items: readonly Emissions[]): Emissions {
  const wellToTankCo2eKg = sumBy(items, (item) => item.wellToTankCo2eKg)
  const tankToWakeCo2eKg = sumBy(items, (item) => item.tankToWakeCo2eKg)
  return { co2eKg: wellToTankCo2eKg + tankToWakeCo2eKg, wellToTankCo2eKg, tankToWakeCo2eKg }
}

function calculatePart(
  { fuels, gwp100 }: Edition<BurntFuelType>,
  fuelType: BurntFuelType,
  amount: FuelAmount,
  certifiedGCo2ePerMj: number | null,
): FuelPart {
  const fuel: Fuel = fuels[fuelType]
  const litres = 'litres' in amount ? amount.litres : amount.kilograms / fuel.density.value
  const kilograms = 'kilograms' in amount ? amount.kilograms : amount.litres * fuel.density.value
  const certified = fuel.basis === 'volume' ? fuel.certified : undefined
  const toPart = (units: number, per: EmissionsPerUnit, value: number | null): FuelPart => {
    const wellToTankCo2eKg = units * per.wellToTank
    const tankToWakeCo2eKg = units * per.tankToWake
    return {
      fuelType,
      fuel,
      litres,
      kilograms,
      certifiedGCo2ePerMj: value,
      co2eKg: wellToTankCo2eKg + tankToWakeCo2eKg,
      wellToTankCo2eKg,
      tankToWakeCo2eKg,
    }
  }
  if (certified !== undefined && certifiedGCo2ePerMj !== null) {
    const per = toCertifiedEmissionsPerKilogram(certified, certifiedGCo2ePerMj, gwp100)
    return toPart(kilograms, per, certifiedGCo2ePerMj)
  }
  return fuel.basis === 'mass'
    ? toPart(kilograms, toEmissionsPerKilogram(fuel, gwp100), null)
    : toPart(litres, toEmissionsPerLitre(fuel), null)
}

/** Converts an amount of a blend to litres; the share of HVO is by volume. */
function toBlendLitres(
  { fuels }: Edition<BurntFuelType>,
  amount: FuelAmount,
  hvoShare: number,
): number {
  if ('litres' in amount) return amount.litres
  const density = fuels.mgo.density.value * (1 - hvoShare) + fuels.hvo.density.value * hvoShare
  return amount.kilograms / density
}

/** Calculates the emissions of a line of a trip with the factors of an edition. */
export function calculateLine(edition: Edition<BurntFuelType>, line: TripLine): LineEmissions {
  if (line.fuelType === 'electricity') {
    const co2eKg = line.kilowattHours * line.kgCo2ePerKwh
    return {
      line,
      fuelLitres: null,
      fuelKg: null,
      kilowattHours: line.kilowattHours,
      parts: [],
      // All emissions of electricity occur before it reaches the vessel.
      ...{ co2eKg, wellToTankCo2eKg: co2eKg, tankToWakeCo2eKg: 0 },
    }
  }
  const { fuelType, amount, hvoPercent, certifiedGCo2ePerMj } = line
  const parts: FuelPart[] = []
  if (hvoPercent === 0) {
    parts.push(calculatePart(edition, fuelType, amount, certifiedGCo2ePerMj))
  } else {
    const litres = toBlendLitres(edition, amount, hvoPercent / 100)
    const hvoLitres = (litres * hvoPercent) / 100
    if (hvoPercent < 100) {
      parts.push(calculatePart(edition, fuelType, { litres: litres - hvoLitres }, null))
    }
    parts.push(calculatePart(edition, 'hvo', { litres: hvoLitres }, certifiedGCo2ePerMj))
  }
  return {
    line,
    fuelLitres: sumBy(parts, ({ litres }) => litres),
    fuelKg: sumBy(parts, ({ kilograms }) => kilograms),
    kilowattHours: null,
    parts,
    ...sumEmissions(parts),
  }
}
