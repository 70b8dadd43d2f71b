import { getOwn } from '../core/validation/formats.js'

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

/** What people write after a number, by unit; the name on pages first, then longer spellings first. */
const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  l: ['litres', 'liters', 'litre', 'liter', 'ltrs', 'ltr', 'lt', 'l'],
  m3: ['m³', 'm3', 'cbm'],
  kg: ['kg'],
  t: ['tonnes', 'tonne', 'mt', 't'],
  'gal-us': ['US gallons', 'us gal', 'gallons', 'gal'],
  'gal-imp': ['imp. gallons', 'imp gal', 'gallons', 'gal'],
  kWh: ['kWh'],
  nmi: ['nautical miles', 'nautical mi', 'nmi', 'nm'],
  km: ['km'],
  mi: ['miles', 'mile', 'mi'],
  'l/h': ['litres/hour', 'l/hour', 'l/hr', 'l/h', 'lph'],
  'l/nmi': ['litres/nmi', 'l/nmi', 'l/nm'],
  d: ['days', 'day', 'd'],
  h: ['hours', 'hour', 'hrs', 'h'],
  kn: ['knots', 'knot', 'kts', 'kn', 'kt'],
  '%': ['%', '٪'],
  'kg/kWh': ['kg CO₂e/kWh', 'kg/kWh'],
  'g/MJ': ['g CO₂e/MJ', 'g/MJ'],
}

/** The units of number fields. */
const FIELD_UNITS: Readonly<Record<string, string>> = {
  speedKn: 'kn',
  referenceSpeedKn: 'kn',
  hvoPercent: '%',
  generatorLitresPerHour: 'l/h',
  generatorHours: 'h',
  kgCo2ePerKwh: 'kg/kWh',
  certifiedGCo2ePerMj: 'g/MJ',
}

/** The fields that select the units of other number fields. */
const UNIT_FIELDS: Readonly<Record<string, string>> = {
  quantity: 'unit',
  amount: 'unit',
  distance: 'distanceUnit',
  tripLength: 'tripLengthUnit',
  consumption: 'consumptionUnit',
}

/**
 * Lists what people may write after the number in a field, the name of its unit first.
 *
 * @param getUnit returns the unit that a field selects, as submitted
 */
export function listUnitSpellings(
  field: string,
  getUnit: (field: string) => string,
): readonly string[] {
  const unitField = UNIT_FIELDS[field]
  const unit = unitField === undefined ? (FIELD_UNITS[field] ?? '') : getUnit(unitField)
  return getOwn(SPELLINGS, unit) ?? []
}
