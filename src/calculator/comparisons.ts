/** Average petrol car, kg CO2e per kilometre (DESNZ 2026, Passenger vehicles). */
export const CAR_KG_CO2E_PER_KM = 0.16152

/**
 * Density of CO2, kg/m3: its molar mass divided by the molar volume of an ideal gas at 15 °C and
 * 101.325 kPa (ISO 13443).
 */
const CO2_KG_PER_CUBIC_METRE = 0.0440095 / ((8.314462618 * 288.15) / 101_325)

/** Distance that an average petrol car drives for the same emissions, km. */
export const toCarKilometres = (co2eKg: number): number => co2eKg / CAR_KG_CO2E_PER_KM

/** Edge of a cube that holds the mass as pure CO2 at 15 °C and sea-level pressure, m. */
export const toGasCubeEdge = (co2eKg: number): number => Math.cbrt(co2eKg / CO2_KG_PER_CUBIC_METRE)
