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

export type VolumeUnit = keyof typeof LITRES_PER
export type MassUnit = keyof typeof KILOGRAMS_PER

const FIRST_IN_TONNES_KG = 10_000

/** The unit that reads best for a mass, or for several of which this is the largest. */
export const toMassUnit = (kilograms: number): MassUnit =>
  kilograms < FIRST_IN_TONNES_KG ? 'kg' : 't'

/** A mass as a number of a unit. */
export const formatWithUnit = (kilograms: number, unit: MassUnit): number =>
  kilograms / KILOGRAMS_PER[unit]

export const isMassUnit = (unit: VolumeUnit | MassUnit): unit is MassUnit => unit in KILOGRAMS_PER

/** What people read for a unit. */
export const UNIT_NAMES = {
  l: 'litres',
  m3: 'm³',
  kg: 'kg',
  t: 'tonnes',
  'gal-us': 'US gallons',
  'gal-imp': 'imp. gallons',
  nmi: 'nautical mi',
  km: 'km',
  mi: 'miles',
  'l/h': 'litres/hour',
  'l/nmi': 'litres/nmi',
} as const

/** The usual symbol of a unit. */
export const UNIT_SYMBOLS = {
  l: 'l',
  m3: 'm³',
  kg: 'kg',
  t: 't',
  'gal-us': 'US gal',
  'gal-imp': 'imp gal',
  nmi: 'nmi',
  km: 'km',
  mi: 'mi',
  'l/h': 'l/h',
  'l/nmi': 'l/nmi',
} as const
