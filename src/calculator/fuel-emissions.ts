import { Type, type Static } from '@sinclair/typebox'
import {
  DATASET,
  FUELS,
  GWP100,
  type Fuel,
  type FuelType,
  type MassBasedFuel,
  type VolumeBasedFuel,
} from './emission-factors.js'

/** One published number used in a calculation. */
export const Factor = Type.Object(
  {
    name: Type.String(),
    value: Type.Number(),
    unit: Type.String(),
    source: Type.String({ description: 'Publication of the number' }),
  },
  { title: 'Emission factor' },
)
export type Factor = Static<typeof Factor>

/** Emissions of one kilogram or litre of fuel, kg CO2e. */
interface EmissionsPerUnit {
  wellToTank: number
  tankToWake: number
}

/** FuelEU Maritime, Annex I: the slipped share is emitted as methane, only the rest burns. */
export function toEmissionsPerKilogram(fuel: MassBasedFuel): EmissionsPerUnit {
  const slip = fuel.methaneSlip?.value ?? 0
  const combustion = fuel.co2.value + fuel.ch4.value * GWP100.ch4 + fuel.n2o.value * GWP100.n2o
  return {
    wellToTank: (fuel.lowerCalorificValue.value * fuel.wellToTank.value) / 1000,
    tankToWake: (1 - slip) * combustion + slip * GWP100.ch4,
  }
}

const toEmissionsPerLitre = (fuel: VolumeBasedFuel): EmissionsPerUnit => ({
  wellToTank: fuel.wellToTank.value,
  tankToWake: fuel.tankToWake.value,
})

/** Every published number used for a fuel. */
function listFactors(fuelType: FuelType): Factor[] {
  const fuel: Fuel = FUELS[fuelType]
  const density = { name: 'Density', unit: 'kg/l', ...fuel.density }
  if (fuel.basis === 'volume') {
    return [
      density,
      { name: 'Tank-to-wake', unit: 'kg CO2e/l', ...fuel.tankToWake },
      { name: 'Well-to-tank', unit: 'kg CO2e/l', ...fuel.wellToTank },
    ]
  }
  return [
    density,
    { name: 'Lower calorific value', unit: 'MJ/kg', ...fuel.lowerCalorificValue },
    { name: 'Well-to-tank', unit: 'g CO2e/MJ', ...fuel.wellToTank },
    { name: 'Tank-to-wake CO2', unit: 'kg/kg', ...fuel.co2 },
    { name: 'Tank-to-wake CH4', unit: 'kg/kg', ...fuel.ch4 },
    { name: 'Tank-to-wake N2O', unit: 'kg/kg', ...fuel.n2o },
    ...(fuel.methaneSlip ? [{ name: 'Methane slip', unit: 'kg CH4/kg', ...fuel.methaneSlip }] : []),
    { name: 'GWP100 of CH4', unit: 'kg CO2e/kg', value: GWP100.ch4, source: GWP100.source },
    { name: 'GWP100 of N2O', unit: 'kg CO2e/kg', value: GWP100.n2o, source: GWP100.source },
  ]
}

/** Every published number used, by fuel. */
export const FACTORS = Object.fromEntries(
  (Object.keys(FUELS) as FuelType[]).map((id) => [id, listFactors(id)]),
) as Record<FuelType, Factor[]>

/** Emissions of an amount of fuel; masses in kg CO2e. */
export interface FuelEmissions {
  co2eKg: number
  wellToTankCo2eKg: number
  tankToWakeCo2eKg: number
  fuelLitres: number
  fuelKg: number
  dataset: string
}

/** Calculates the emissions of an amount of fuel, given by volume or by mass. */
export function calculateFuelEmissions(
  fuelType: FuelType,
  amount: { litres: number } | { kilograms: number },
): FuelEmissions {
  const fuel: Fuel = FUELS[fuelType]
  const litres = 'litres' in amount ? amount.litres : amount.kilograms / fuel.density.value
  const kilograms = 'kilograms' in amount ? amount.kilograms : amount.litres * fuel.density.value
  const per = fuel.basis === 'mass' ? toEmissionsPerKilogram(fuel) : toEmissionsPerLitre(fuel)
  const units = fuel.basis === 'mass' ? kilograms : litres
  const wellToTank = units * per.wellToTank
  const tankToWake = units * per.tankToWake
  return {
    co2eKg: wellToTank + tankToWake,
    wellToTankCo2eKg: wellToTank,
    tankToWakeCo2eKg: tankToWake,
    fuelLitres: litres,
    fuelKg: kilograms,
    dataset: DATASET,
  }
}
