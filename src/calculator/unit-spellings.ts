import { getOwn } from '../core/validation/is-object.js'

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
