import type { Edition, FactorValue } from './edition.js'

/*
 * Released: never edit this file. Later values belong to a later edition.
 */

const RETRIEVED = '2026-11-23'
const FUELEU = 'Regulation (EU) 2023/1805 (FuelEU Maritime)'
const FUELEU_AND_IMO = `${FUELEU}; IMO resolution MEPC.364(79)`
const DESNZ = 'UK Government (DESNZ) conversion factors 2025'

/** Annex II of FuelEU Maritime, with the numbers of its columns. */
const annexII = (row: string) => {
  const cell = (
    column: number,
    unit: string,
    value: number,
    more: Partial<FactorValue> = {},
  ): FactorValue => ({
    value,
    unit,
    source: FUELEU,
    location: `Annex II, ${row}, column ${column}`,
    retrieved: RETRIEVED,
    ...more,
  })
  return {
    lowerCalorificValue: (value: number) => cell(3, 'MJ/kg', value),
    wellToTank: (value: number, more?: Partial<FactorValue>) =>
      cell(4, 'g CO2e/MJ', value, { gwp: 'AR4', ...more }),
    co2: (value: number) => cell(6, 'kg/kg', value, { source: FUELEU_AND_IMO }),
    carbonFree: () => cell(6, 'kg/kg', 0),
    ch4: (value: number, more?: Partial<FactorValue>) => cell(7, 'kg/kg', value, more),
    n2o: (value: number, more?: Partial<FactorValue>) => cell(8, 'kg/kg', value, more),
    methaneSlip: (value: number) => cell(9, 'kg CH4/kg', value),
    /** A cell "TBM" (to be measured): Annex II requires the highest value of the fuel class. */
    highestOfClass: (column: 7 | 8, value: number, more?: Partial<FactorValue>) =>
      cell(column, 'kg/kg', value, {
        location: `Annex II, ${row}, column ${column}: TBM, highest value of the fuel class`,
        ...more,
      }),
  }
}

const desnz =
  (unit: string, sheet: string, row: string) =>
  (value: number): FactorValue => ({
    value,
    unit,
    source: DESNZ,
    location: `${sheet}, ${row}`,
    retrieved: RETRIEVED,
    ...(unit === 'kg CO2e/l' ? { gwp: 'AR5' } : {}),
  })

/** The ratio of DESNZ's factors per litre and per tonne. */
const desnzDensity = (sheet: string, row: string) =>
  desnz('kg/l', sheet, `${row}, litres and tonnes`)

const typicalDensity = (value: number): FactorValue => ({
  value,
  unit: 'kg/l',
  source: 'typical industry value, not from a standard',
  location: 'none',
  retrieved: RETRIEVED,
  unverified: true,
})

const ipcc = (gas: string, value: number): FactorValue => ({
  value,
  unit: 'kg CO2e/kg',
  source: 'IPCC AR6, WG I',
  location: `Table 7.15, ${gas}, GWP-100`,
  retrieved: RETRIEVED,
  gwp: 'AR6',
})

const mgo = annexII('Fossil, MDO and MGO')
const lfo = annexII('Fossil, LFO')
const hfo = annexII('Fossil, HFO')
const methanol = annexII('Fossil, methanol (natural gas)')
const propane = annexII('Fossil, LPG (propane)')
const butane = annexII('Fossil, LPG (butane)')
const hydrogen = annexII('Fossil, H2 (natural gas)')
const ammonia = annexII('Fossil, NH3 (natural gas)')
const hvo = annexII('Biofuels, HVO')

/** LNG differs by engine only in the methane that leaves it unburnt. */
function lng(engine: string, name: string, slip: number) {
  const row = annexII(`Fossil, LNG, ${engine}`)
  return {
    name,
    basis: 'mass',
    density: typicalDensity(0.45),
    lowerCalorificValue: row.lowerCalorificValue(49.1),
    wellToTank: row.wellToTank(18.5),
    co2: row.co2(2.75),
    ch4: row.ch4(0),
    n2o: row.n2o(0.00011),
    methaneSlip: row.methaneSlip(slip),
  } as const
}

export const EDITION_2025_06 = {
  id: '2025-06',
  title:
    'FuelEU Maritime 2023/1805 (CO2e by AR4), MEPC.364(79), DESNZ 2025 (CO2e by AR5), GWP100 of IPCC AR6 for CH4 and N2O',
  gwp100: { ch4: ipcc('CH4, fossil', 29.8), n2o: ipcc('N2O', 273) },
  fuels: {
    mgo: {
      name: 'Marine diesel / gas oil',
      basis: 'mass',
      density: desnzDensity('Fuels', 'Marine gas oil')(0.854),
      lowerCalorificValue: mgo.lowerCalorificValue(42.7),
      wellToTank: mgo.wellToTank(14.4),
      co2: mgo.co2(3.206),
      ch4: mgo.ch4(0.00005),
      n2o: mgo.n2o(0.00018),
    },
    lfo: {
      name: 'Light fuel oil',
      basis: 'mass',
      density: typicalDensity(0.91),
      lowerCalorificValue: lfo.lowerCalorificValue(41.0),
      wellToTank: lfo.wellToTank(13.2),
      co2: lfo.co2(3.151),
      ch4: lfo.ch4(0.00005),
      n2o: lfo.n2o(0.00018),
    },
    hfo: {
      name: 'Heavy fuel oil',
      basis: 'mass',
      density: typicalDensity(0.96),
      lowerCalorificValue: hfo.lowerCalorificValue(40.5),
      wellToTank: hfo.wellToTank(13.5),
      co2: hfo.co2(3.114),
      ch4: hfo.ch4(0.00005),
      n2o: hfo.n2o(0.00018),
    },
    methanol: {
      name: 'Methanol (natural gas)',
      basis: 'mass',
      density: typicalDensity(0.792),
      lowerCalorificValue: methanol.lowerCalorificValue(19.9),
      wellToTank: methanol.wellToTank(31.3),
      co2: methanol.co2(1.375),
      ch4: methanol.highestOfClass(7, 0.00005),
      n2o: methanol.highestOfClass(8, 0.00018),
    },
    lpg: {
      name: 'LPG (propane)',
      basis: 'mass',
      density: typicalDensity(0.51),
      lowerCalorificValue: propane.lowerCalorificValue(46.0),
      wellToTank: propane.wellToTank(7.8),
      co2: propane.co2(3.0),
      ch4: propane.highestOfClass(7, 0.00005),
      n2o: propane.highestOfClass(8, 0.00018),
    },
    lng: lng('Otto, medium speed', 'LNG (dual-fuel, medium speed)', 0.031),
    petrol: {
      name: 'Petrol (mineral)',
      basis: 'volume',
      density: desnzDensity('Fuels', 'Petrol (100% mineral petrol)')(0.742),
      tankToWake: desnz('kg CO2e/l', 'Fuels', 'Petrol (100% mineral petrol), litres')(2.33984),
      wellToTank: desnz('kg CO2e/l', 'WTT- fuels', 'Petrol (100% mineral petrol), litres')(0.60664),
    },
    hvo: {
      name: 'Renewable diesel (HVO)',
      basis: 'volume',
      density: desnzDensity('Bioenergy', 'Biodiesel HVO')(0.78),
      tankToWake: desnz('kg CO2e/l', 'Bioenergy', 'Biodiesel HVO, litres')(0.03558),
      wellToTank: desnz('kg CO2e/l', 'WTT- bioenergy', 'Biodiesel HVO, litres')(0.56439),
      certified: {
        lowerCalorificValue: {
          ...hvo.lowerCalorificValue(44.0),
          source: 'Directive (EU) 2018/2001 (RED II)',
          location: 'Annex III, hydrotreated oil for the replacement of diesel',
        },
        co2: hvo.co2(3.115),
        ch4: hvo.ch4(0.00005),
        n2o: hvo.n2o(0.00018),
      },
    },
    'petrol-blend': {
      name: 'Petrol (average biofuel blend)',
      basis: 'volume',
      density: desnzDensity('Fuels', 'Petrol (average biofuel blend)')(0.746),
      tankToWake: desnz('kg CO2e/l', 'Fuels', 'Petrol (average biofuel blend), litres')(2.06916),
      wellToTank: desnz(
        'kg CO2e/l',
        'WTT- fuels',
        'Petrol (average biofuel blend), litres',
      )(0.58094),
    },
    'lpg-butane': {
      name: 'LPG (butane)',
      basis: 'mass',
      density: typicalDensity(0.58),
      lowerCalorificValue: butane.lowerCalorificValue(46.0),
      wellToTank: butane.wellToTank(7.8),
      co2: butane.co2(3.03),
      ch4: butane.highestOfClass(7, 0.00005),
      n2o: butane.highestOfClass(8, 0.00018),
    },
    'lng-otto-slow': lng('Otto, slow speed', 'LNG (dual-fuel Otto, slow speed)', 0.017),
    'lng-diesel-slow': lng('diesel, slow speed', 'LNG (dual-fuel diesel, slow speed)', 0.002),
    'lng-lean-burn': lng('LBSI', 'LNG (lean-burn spark-ignited)', 0.026),
    hydrogen: {
      name: 'Hydrogen (natural gas, fuel cell)',
      basis: 'mass',
      density: typicalDensity(0.0708),
      lowerCalorificValue: hydrogen.lowerCalorificValue(120),
      // One transcription of the Annex has 100, two have 132.
      wellToTank: hydrogen.wellToTank(132, { unverified: true }),
      co2: hydrogen.carbonFree(),
      ch4: hydrogen.ch4(0),
      n2o: hydrogen.n2o(0, { unverified: true }),
    },
    ammonia: {
      name: 'Ammonia (natural gas)',
      basis: 'mass',
      density: typicalDensity(0.682),
      lowerCalorificValue: ammonia.lowerCalorificValue(18.6),
      wellToTank: ammonia.wellToTank(121, { unverified: true }),
      co2: ammonia.carbonFree(),
      // Only one of two transcriptions applies the rule for TBM cells.
      ch4: ammonia.highestOfClass(7, 0.00005, { unverified: true }),
      n2o: ammonia.highestOfClass(8, 0.00018, { unverified: true }),
    },
  },
} as const satisfies Edition
