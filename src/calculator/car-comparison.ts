import { FUELS } from './emission-factors.js'

/** A petrol car of usual thirst, litres per kilometre. */
const CAR_LITRES_PER_KM = 0.06

/** kg per mol of CO2 over the molar volume of an ideal gas at 15 °C and 101.325 kPa (ISO 13443). */
const CO2_KG_PER_CUBIC_METRE = 0.0440095 / ((8.314462618 * 288.15) / 101_325)

/** Things a person can picture that stand for a mass of CO2e. */
export interface Comparison {
  /** Distance in a petrol car that uses 6 litres per 100 km, well-to-wake, km */
  carKm: number
  /** Edge of a cube that would hold the mass as pure CO2 at 15 °C and sea-level pressure, m */
  cubeEdgeM: number
}

export function compareWithCar(co2eKg: number): Comparison {
  const { tankToWake, wellToTank } = FUELS.petrol
  return {
    carKm: co2eKg / ((tankToWake.value + wellToTank.value) * CAR_LITRES_PER_KM),
    cubeEdgeM: Math.cbrt(co2eKg / CO2_KG_PER_CUBIC_METRE),
  }
}
