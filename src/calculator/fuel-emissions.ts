import type { Gases } from './estimate-schema.js'
import type { Edition, Fuel, MassBasedFuel } from './factors/edition.js'
import type { BurntFuelType } from './factors/editions.js'
import type { FuelAmount, FuelCertificate, TripLine } from './trip-lines.js'

/** Emissions of an amount of fuel, kg CO2e. */
interface Emissions {
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
  certificate: FuelCertificate | null
  gases: Gases
}

/** Emissions of a line, and the amounts of fuel and electricity that it used. */
export interface LineEmissions extends Emissions {
  line: TripLine
  fuelLitres: number | null
  fuelKg: number | null
  kilowattHours: number | null
  parts: FuelPart[]
  gases: Gases
}

export type Gwp100 = Edition['gwp100']

/** The fuel with the factors that apply: with a certificate, those by mass. */
const selectFactors = (fuel: Fuel, certificate: FuelCertificate | null): Fuel =>
  fuel.basis === 'mass' || fuel.certified === undefined || certificate === null
    ? fuel
    : { basis: 'mass', name: fuel.name, density: fuel.density, ...fuel.certified }

/**
 * Gases per kilogram of fuel. FuelEU Maritime, Annex I: the slipped share is emitted as methane;
 * only the rest burns.
 */
function toGasesPerKilogram(fuel: MassBasedFuel) {
  const slip = fuel.methaneSlip?.value ?? 0
  return {
    co2: (1 - slip) * fuel.co2.value,
    ch4: (1 - slip) * fuel.ch4.value + slip,
    n2o: (1 - slip) * fuel.n2o.value,
  }
}

/**
 * Emissions of a fuel with factors by mass, kg CO2e per kilogram.
 *
 * FuelEU Maritime, Annex II, column 4: the well-to-tank value of a certified fuel is its certified
 * value E minus the CO2 from burning it, Cf / LCV.
 */
export function toEmissionsPerKilogram(
  fuel: MassBasedFuel,
  gwp100: Gwp100,
  certificate: FuelCertificate | null,
) {
  const { lowerCalorificValue, wellToTank, co2 } = fuel
  const gases = toGasesPerKilogram(fuel)
  const gCo2ePerMj = certificate?.gCo2ePerMj ?? wellToTank?.value ?? 0
  return {
    wellToTank:
      (lowerCalorificValue.value * gCo2ePerMj) / 1000 - (certificate === null ? 0 : co2.value),
    tankToWake: gases.co2 + gases.ch4 * gwp100.ch4.value + gases.n2o * gwp100.n2o.value,
  }
}

const sumBy = <T>(items: readonly T[], get: (item: T) => number): number =>
  items.reduce((sum, item) => sum + get(item), 0)

/** Adds up emissions; the total is exactly the sum of its two parts. */
export function sumEmissions(items: readonly Emissions[]): Emissions {
  const wellToTankCo2eKg = sumBy(items, (item) => item.wellToTankCo2eKg)
  const tankToWakeCo2eKg = sumBy(items, (item) => item.tankToWakeCo2eKg)
  return { co2eKg: wellToTankCo2eKg + tankToWakeCo2eKg, wellToTankCo2eKg, tankToWakeCo2eKg }
}

const NO_GASES: Gases = { co2Kg: 0, ch4Kg: 0, n2oKg: 0, biogenicCo2Kg: 0 }
export const UNKNOWN_GASES: Gases = { co2Kg: null, ch4Kg: null, n2oKg: null, biogenicCo2Kg: null }

const addOrNull = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : a + b

/** Adds up gases; a sum with an unknown part is unknown. */
export const sumGases = (items: readonly { gases: Gases }[]): Gases =>
  items.reduce(
    (sum, { gases }) => ({
      co2Kg: addOrNull(sum.co2Kg, gases.co2Kg),
      ch4Kg: addOrNull(sum.ch4Kg, gases.ch4Kg),
      n2oKg: addOrNull(sum.n2oKg, gases.n2oKg),
      biogenicCo2Kg: addOrNull(sum.biogenicCo2Kg, gases.biogenicCo2Kg),
    }),
    NO_GASES,
  )

function calculateGases(fuel: Fuel, kilograms: number, certificate: FuelCertificate | null): Gases {
  if (fuel.basis === 'volume') {
    // The published CO2e of a biofuel excludes its biogenic CO2.
    const biogenicCo2Kg = fuel.certified ? kilograms * fuel.certified.co2.value : null
    return { ...UNKNOWN_GASES, biogenicCo2Kg }
  }
  const { co2, ch4, n2o } = toGasesPerKilogram(fuel)
  const isBiogenic = certificate?.as === 'bio'
  return {
    co2Kg: isBiogenic ? 0 : kilograms * co2,
    ch4Kg: kilograms * ch4,
    n2oKg: kilograms * n2o,
    biogenicCo2Kg: isBiogenic ? kilograms * co2 : 0,
  }
}

function calculatePart(
  { fuels }: Edition<BurntFuelType>,
  gwp100: Gwp100,
  fuelType: BurntFuelType,
  amount: FuelAmount,
  certificate: FuelCertificate | null,
): FuelPart {
  const fuel = selectFactors(fuels[fuelType], certificate)
  const litres = 'litres' in amount ? amount.litres : amount.kilograms / fuel.density.value
  const kilograms = 'kilograms' in amount ? amount.kilograms : amount.litres * fuel.density.value
  const [units, per] =
    fuel.basis === 'mass'
      ? [kilograms, toEmissionsPerKilogram(fuel, gwp100, certificate)]
      : [litres, { wellToTank: fuel.wellToTank.value, tankToWake: fuel.tankToWake.value }]
  const wellToTankCo2eKg = units * per.wellToTank
  const tankToWakeCo2eKg = units * per.tankToWake
  return {
    fuelType,
    fuel,
    litres,
    kilograms,
    certificate,
    gases: calculateGases(fuel, kilograms, certificate),
    co2eKg: wellToTankCo2eKg + tankToWakeCo2eKg,
    wellToTankCo2eKg,
    tankToWakeCo2eKg,
  }
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
export function calculateLine(
  edition: Edition<BurntFuelType>,
  gwp100: Gwp100,
  line: TripLine,
): LineEmissions {
  if (line.fuelType === 'electricity') {
    const co2eKg = line.kilowattHours * line.kgCo2ePerKwh
    return {
      line,
      fuelLitres: null,
      fuelKg: null,
      kilowattHours: line.kilowattHours,
      parts: [],
      gases: NO_GASES,
      co2eKg,
      // All emissions of electricity occur before it reaches the vessel.
      wellToTankCo2eKg: co2eKg,
      tankToWakeCo2eKg: 0,
    }
  }
  const { fuelType, amount, hvoPercent, certificate } = line
  const parts: FuelPart[] = []
  if (hvoPercent === 0) {
    parts.push(calculatePart(edition, gwp100, fuelType, amount, certificate))
  } else {
    const litres = toBlendLitres(edition, amount, hvoPercent / 100)
    const hvoLitres = (litres * hvoPercent) / 100
    if (hvoPercent < 100) {
      parts.push(calculatePart(edition, gwp100, fuelType, { litres: litres - hvoLitres }, null))
    }
    parts.push(calculatePart(edition, gwp100, 'hvo', { litres: hvoLitres }, certificate))
  }
  return {
    line,
    fuelLitres: sumBy(parts, ({ litres }) => litres),
    fuelKg: sumBy(parts, ({ kilograms }) => kilograms),
    kilowattHours: null,
    parts,
    gases: sumGases(parts),
    ...sumEmissions(parts),
  }
}
