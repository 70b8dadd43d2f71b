/** Litres in one unit of volume; exact by definition (NIST Handbook 44, Appendix C). */
export const LITRES_PER = { l: 1, m3: 1000, 'gal-us': 3.785411784, 'gal-imp': 4.54609 } as const

/** Kilograms in one unit of mass. */
export const KILOGRAMS_PER = { kg: 1, t: 1000 } as const

/** Kilometres in one unit of distance, exact (SI Brochure, table 8; NIST Handbook 44, Appendix C). */
export const KILOMETRES_PER = { nmi: 1.852, mi: 1.609344 } as const

/** Nautical miles in one unit of distance. */
export const NAUTICAL_MILES_PER = {
  nmi: 1,
  km: 1 / KILOMETRES_PER.nmi,
  mi: KILOMETRES_PER.mi / KILOMETRES_PER.nmi,
} as const

type VolumeUnit = keyof typeof LITRES_PER
export type MassUnit = keyof typeof KILOGRAMS_PER

const MIN_TONNES_DISPLAY_KG = 10_000

/** The display unit for a mass. For a group of masses, pass the largest mass. */
export const toMassUnit = (kilograms: number): MassUnit =>
  kilograms < MIN_TONNES_DISPLAY_KG ? 'kg' : 't'

export const convertKilograms = (kilograms: number, unit: MassUnit): number =>
  kilograms / KILOGRAMS_PER[unit]

export const isMassUnit = (unit: VolumeUnit | MassUnit | 'kWh'): unit is MassUnit =>
  unit in KILOGRAMS_PER

/** Unit names in select fields. */
export const UNIT_NAMES = {
  l: 'litres',
  m3: 'm³',
  kg: 'kg',
  t: 'tonnes',
  'gal-us': 'US gallons',
  'gal-imp': 'imp. gallons',
  kWh: 'kWh',
  nmi: 'nautical mi',
  km: 'km',
  mi: 'miles',
  'l/h': 'litres/hour',
  'l/nmi': 'litres/nmi',
} as const

/** Unit symbols in calculations. */
export const UNIT_SYMBOLS = {
  l: 'l',
  m3: 'm³',
  kg: 'kg',
  t: 't',
  'gal-us': 'US gal',
  'gal-imp': 'imp gal',
  kWh: 'kWh',
  nmi: 'nmi',
  km: 'km',
  mi: 'mi',
  'l/h': 'l/h',
  'l/nmi': 'l/nmi',
} as const
