import { EDITION_2025_06 } from './2025-06.js'
import type { Edition, FactorValue } from './edition.js'

/*
 * Values confirmed or corrected against DESNZ 2026 and further transcriptions of FuelEU Maritime,
 * Annex II; new fuels.
 */

const { fuels } = EDITION_2025_06

const RETRIEVED = '2026-11-25'
const DESNZ = 'UK Government (DESNZ) conversion factors 2026'
const FUELEU = 'Regulation (EU) 2023/1805 (FuelEU Maritime)'

const desnz = (value: number, sheet: string, row: string): FactorValue => ({
  value,
  unit: 'kg CO2e/l',
  source: DESNZ,
  location: `${sheet}, ${row}, litres`,
  retrieved: RETRIEVED,
  gwp: 'AR5',
})

/** The ratio of DESNZ's factors per litre and per tonne. */
const desnzDensity = (value: number, sheet: string, row: string): FactorValue => ({
  value,
  unit: 'kg/l',
  source: DESNZ,
  location: `${sheet}, ${row}, litres and tonnes`,
  retrieved: RETRIEVED,
})

/** The same value, found again in this edition's sources. */
const confirmed = ({ value, unit, location, gwp, source }: FactorValue, by = source) => ({
  value,
  unit,
  source: by,
  location,
  retrieved: RETRIEVED,
  ...(gwp === undefined ? {} : { gwp }),
})

const fame = (column: number, unit: string, value: number): FactorValue => ({
  value,
  unit,
  source: FUELEU,
  location: `Annex II, Biofuels, biodiesel (FAME), column ${column}`,
  retrieved: RETRIEVED,
})

const LNG_DENSITY = desnzDensity(0.4525, 'Fuels', 'LNG')

const BLEND_ROW = 'Petrol (average biofuel blend)'

export const EDITION_2026_11 = {
  id: '2026-11',
  title:
    'FuelEU Maritime 2023/1805 (CO2e by AR4), MEPC.364(79), DESNZ 2026 and, for petrol well-to-tank, 2025 (CO2e by AR5)',
  gwp100: EDITION_2025_06.gwp100,
  fuels: {
    mgo: fuels.mgo,
    lfo: fuels.lfo,
    hfo: { ...fuels.hfo, density: desnzDensity(0.983, 'Fuels', 'Marine fuel oil') },
    methanol: fuels.methanol,
    lpg: { ...fuels.lpg, density: desnzDensity(0.515, 'Fuels', 'Propane') },
    lng: { ...fuels.lng, density: LNG_DENSITY },
    petrol: {
      ...fuels.petrol,
      density: desnzDensity(0.746, 'Fuels', 'Petrol (100% mineral petrol)'),
      tankToWake: desnz(2.35372, 'Fuels', 'Petrol (100% mineral petrol)'),
      wellToTank: {
        ...fuels.petrol.wellToTank,
        location: `${fuels.petrol.wellToTank.location}; no row in 2026`,
        unverified: true,
      },
    },
    'diesel-road': {
      name: 'Road diesel (average biofuel blend)',
      basis: 'volume',
      density: {
        ...desnzDensity(0.833, 'WTT- fuels', 'Diesel (average biofuel blend)'),
        unverified: true,
      },
      tankToWake: desnz(2.58354, 'Fuels', 'Diesel (average biofuel blend)'),
      wellToTank: desnz(0.61101, 'WTT- fuels', 'Diesel (average biofuel blend)'),
    },
    hvo: {
      ...fuels.hvo,
      tankToWake: confirmed(fuels.hvo.tankToWake, DESNZ),
      wellToTank: confirmed(fuels.hvo.wellToTank, DESNZ),
    },
    fame: {
      name: 'Biodiesel (FAME)',
      basis: 'mass',
      density: {
        value: 0.89,
        unit: 'kg/l',
        source: 'typical industry value, not from a standard',
        location: 'none',
        retrieved: RETRIEVED,
        unverified: true,
      },
      lowerCalorificValue: {
        ...fame(3, 'MJ/kg', 37),
        source: 'Directive (EU) 2018/2001 (RED II)',
        location: 'Annex III, fatty acid methyl ester (biodiesel)',
      },
      co2: fame(6, 'kg/kg', 2.834),
      ch4: fame(7, 'kg/kg', 0.00005),
      n2o: fame(8, 'kg/kg', 0.00018),
    },
    'petrol-blend': {
      ...fuels['petrol-blend'],
      tankToWake: desnz(2.075, 'Fuels', BLEND_ROW),
      wellToTank: desnz(0.58094, 'WTT- fuels', BLEND_ROW),
    },
    'lpg-butane': {
      ...fuels['lpg-butane'],
      density: desnzDensity(0.5754, 'Fuels', 'Butane'),
    },
    'lng-otto-slow': { ...fuels['lng-otto-slow'], density: LNG_DENSITY },
    'lng-diesel-slow': { ...fuels['lng-diesel-slow'], density: LNG_DENSITY },
    'lng-lean-burn': { ...fuels['lng-lean-burn'], density: LNG_DENSITY },
    hydrogen: {
      ...fuels.hydrogen,
      wellToTank: confirmed(fuels.hydrogen.wellToTank),
      n2o: confirmed(fuels.hydrogen.n2o),
    },
    ammonia: {
      ...fuels.ammonia,
      wellToTank: confirmed(fuels.ammonia.wellToTank),
      ch4: confirmed(fuels.ammonia.ch4),
      n2o: confirmed(fuels.ammonia.n2o),
    },
  },
} as const satisfies Edition

/**
 * UK electricity, kg CO2e/kWh: generation, transmission and distribution losses, and both
 * well-to-tank parts, 0.13096 + 0.01299 + 0.03682 + 0.00359 (DESNZ 2026).
 */
export const UK_GRID = { value: '0.18436', label: 'UK grid, DESNZ 2026, total' }
