const FUELEU = 'Regulation (EU) 2023/1805 (FuelEU Maritime), Annex II'
const MEPC_364 = 'IMO resolution MEPC.364(79)'
const TYPICAL_DENSITY = 'typical industry value, not from a standard'
const FUELEU_OIL_FUEL = `${FUELEU}; CH4 and N2O as for oil fuels`
const DESNZ = 'UK Government (DESNZ) conversion factors 2025'

/** Global warming potential over 100 years, kg CO2e per kg (IPCC AR6, fossil methane). */
export const GWP100 = { ch4: 29.8, n2o: 273, source: 'IPCC AR6, WG I, table 7.15' } as const

/** A number and its published source. */
export interface SourcedValue {
  value: number
  source: string
}

interface FuelBase {
  name: string
  /** kg per litre */
  density: SourcedValue
}

/** A fuel whose factors are published per mass and energy (FuelEU Maritime, IMO). */
export interface MassBasedFuel extends FuelBase {
  basis: 'mass'
  /** Lower calorific value, MJ per kg */
  lowerCalorificValue: SourcedValue
  /** Well-to-tank, g CO2e per MJ */
  wellToTank: SourcedValue
  /** Tank-to-wake, kg of gas per kg of fuel burnt */
  co2: SourcedValue
  ch4: SourcedValue
  n2o: SourcedValue
  /** Share of the fuel mass that leaves the engine unburnt, as methane */
  methaneSlip?: SourcedValue
}

/** A fuel whose factors are published per volume (DESNZ). */
export interface VolumeBasedFuel extends FuelBase {
  basis: 'volume'
  /** kg CO2e per litre */
  wellToTank: SourcedValue
  /** kg CO2e per litre */
  tankToWake: SourcedValue
}

export type Fuel = MassBasedFuel | VolumeBasedFuel

const withSource = (source: string) => (value: number) => ({ value, source })
const fuelEu = withSource(FUELEU)
const fuelEuOilFuel = withSource(FUELEU_OIL_FUEL)
const desnz = withSource(DESNZ)
const typical = withSource(TYPICAL_DENSITY)
const imo = withSource(`${FUELEU}; ${MEPC_364}`)

/** Every supported fuel, by id. */
export const FUELS = {
  mgo: {
    name: 'Marine diesel / gas oil',
    basis: 'mass',
    density: desnz(0.854),
    lowerCalorificValue: fuelEu(42.7),
    wellToTank: fuelEu(14.4),
    co2: imo(3.206),
    ch4: fuelEu(0.00005),
    n2o: fuelEu(0.00018),
  },
  lfo: {
    name: 'Light fuel oil',
    basis: 'mass',
    density: typical(0.91),
    lowerCalorificValue: fuelEu(41.0),
    wellToTank: fuelEu(13.2),
    co2: imo(3.151),
    ch4: fuelEu(0.00005),
    n2o: fuelEu(0.00018),
  },
  hfo: {
    name: 'Heavy fuel oil',
    basis: 'mass',
    density: typical(0.96),
    lowerCalorificValue: fuelEu(40.5),
    wellToTank: fuelEu(13.5),
    co2: imo(3.114),
    ch4: fuelEu(0.00005),
    n2o: fuelEu(0.00018),
  },
  methanol: {
    name: 'Methanol (natural gas)',
    basis: 'mass',
    density: typical(0.792),
    lowerCalorificValue: fuelEu(19.9),
    wellToTank: fuelEu(31.3),
    co2: imo(1.375),
    ch4: fuelEuOilFuel(0.00005),
    n2o: fuelEuOilFuel(0.00018),
  },
  lpg: {
    name: 'LPG (propane)',
    basis: 'mass',
    density: typical(0.51),
    lowerCalorificValue: fuelEu(46.0),
    wellToTank: fuelEu(7.8),
    co2: imo(3.0),
    ch4: fuelEuOilFuel(0.00005),
    n2o: fuelEuOilFuel(0.00018),
  },
  lng: {
    name: 'LNG (dual-fuel, medium speed)',
    basis: 'mass',
    density: typical(0.45),
    lowerCalorificValue: fuelEu(49.1),
    wellToTank: fuelEu(18.5),
    co2: imo(2.75),
    ch4: fuelEu(0),
    n2o: fuelEu(0.00011),
    methaneSlip: fuelEu(0.031),
  },
  petrol: {
    name: 'Petrol (mineral)',
    basis: 'volume',
    density: desnz(0.742),
    tankToWake: desnz(2.33984),
    wellToTank: desnz(0.60664),
  },
  hvo: {
    name: 'Renewable diesel (HVO)',
    basis: 'volume',
    density: desnz(0.78),
    tankToWake: desnz(0.03558),
    wellToTank: desnz(0.56439),
  },
} as const satisfies Record<string, Fuel>

export type FuelType = keyof typeof FUELS
export const FUEL_TYPES = Object.keys(FUELS) as FuelType[]

/** Name of the factor set; changes with any number above. */
export const DATASET = 'FuelEU Maritime 2023/1805, MEPC.364(79), DESNZ 2025, GWP100 of IPCC AR6'
