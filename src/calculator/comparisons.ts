import { EDITION_2025_06 } from './factors/2025-06.js'

/** Typical petrol car, litres per kilometre. */
const CAR_LITRES_PER_KM = 0.06

/**
 * Density of CO2, kg/m3: its molar mass divided by the molar volume of an ideal gas at 15 °C and
 * 101.325 kPa (ISO 13443).
 */
const CO2_KG_PER_CUBIC_METRE = 0.0440095 / ((8.314462618 * 288.15) / 101_325)

/** Distance that a petrol car drives for the same well-to-wheel emissions, km. */
export function toCarKilometres(co2eKg: number): number {
  const { tankToWake, wellToTank } = EDITION_2025_06.fuels.petrol
  return co2eKg / ((tankToWake.value + wellToTank.value) * CAR_LITRES_PER_KM)
}

/** Edge of a cube that holds the mass as pure CO2 at 15 °C and sea-level pressure, m. */
export const toGasCubeEdge = (co2eKg: number): number => Math.cbrt(co2eKg / CO2_KG_PER_CUBIC_METRE)
