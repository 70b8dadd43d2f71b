import type { TSchema } from '@sinclair/typebox'
import { withUnit, type NumberFormatter } from '../core/formatting/number-formatter.js'
import { formatUnambiguous } from '../core/formatting/number-input.js'
import {
  AMOUNT_UNITS,
  CALCULATOR_DATA,
  CERTIFIED_AS,
  CONSUMPTION_UNITS,
  DISTANCE_UNITS,
  FuelLine,
  HULL_TYPES,
  LINE_USES,
  QUANTITY_UNITS,
  type CalculatorType,
  type CertifiedAs,
  type HullType,
} from './calculator-data.js'
import { FORM_FIELDS, type CalculatorForm, type NumberReading } from './calculator-form.js'
import { getPlainFuelName, USE_NAMES } from './describe-trip.js'
import { UK_GRID } from './factors/2026-11.js'
import { FRAMEWORK_NAMES, FRAMEWORKS } from './factors/edition.js'
import { BURNT_FUEL_TYPES, FUEL_TYPES, type FuelType } from './factors/editions.js'
import { getLineField, type FormLine } from './further-lines.js'
import { UNIT_NAMES } from './units.js'

interface CalculatorName {
  title: string
  summary: string
  /** Which of the calculators to take, in a guest's words */
  reason: string
}

export const CALCULATOR_NAMES: Record<CalculatorType, CalculatorName> = {
  fuel: {
    title: 'Fuel',
    summary: 'You know how much fuel the trip took.',
    reason: 'I know the fuel used',
  },
  distance: {
    title: 'Distance',
    summary: 'You know how far, how fast, and the fuel the engines use per hour.',
    reason: 'I know distance and speed',
  },
  custom: {
    title: 'CO₂e amount',
    summary: 'You already know the amount of CO₂e.',
    reason: 'I know the CO₂e amount',
  },
}

/** Field labels, in the order of the forms. */
export const FIELD_NAMES: Record<string, string> = {
  distance: 'Distance',
  distanceUnit: 'Distance unit',
  speedKn: 'Average speed',
  fuelType: 'Fuel',
  quantity: 'Quantity',
  amount: 'Amount of CO₂e',
  unit: 'Unit',
  consumption: 'Fuel per hour or mile',
  consumptionUnit: 'Unit of the fuel per hour or mile',
  referenceSpeedKn: 'Speed when measured',
  hullType: 'Hull',
  tripLength: 'How long was the trip?',
  generatorLitresPerHour: 'Generator fuel per hour',
  generatorHours: 'Generator hours',
  description: 'Description',
  hvoPercent: 'HVO in the blend',
  certifiedGCo2ePerMj: 'Certified emissions',
  certifiedAs: 'Certified as',
  certificateReference: 'Proof of sustainability',
  kgCo2ePerKwh: 'Emission factor of the electricity',
  factorSource: 'Source of the emission factor',
  guests: 'Guests on board',
  use: 'Used by',
  framework: 'Framework',
}

const HULL_NAMES: Record<HullType, string> = {
  displacement: 'Displacement or semi-displacement',
  planing: 'Planing',
}

const CERTIFIED_AS_NAMES: Record<CertifiedAs, string> = {
  bio: 'Biofuel',
  rfnbo: 'E-fuel (RFNBO)',
}

interface Option {
  value: string
  label: string
  /** Heading of the options that it belongs to */
  group?: string
}

/** The options for values, with their names. */
const toOptions = <T extends string>(values: readonly T[], names: Record<T, string>): Option[] =>
  values.map((value) => ({ value, label: names[value] }))

/** Fuels by what they are made of; the ones that most vessels use come first. */
const FUEL_GROUPS: Record<string, readonly FuelType[]> = {
  'Most used': ['mgo', 'petrol', 'hfo'],
  'Other oil fuels': ['lfo', 'diesel-road', 'petrol-blend'],
  Biofuels: ['hvo', 'fame'],
  Gas: ['lng', 'lng-otto-slow', 'lng-diesel-slow', 'lng-lean-burn', 'lpg', 'lpg-butane'],
  'New fuels': ['methanol', 'hydrogen', 'ammonia'],
  'From shore': ['electricity'],
}

const toFuelOptions = (fuelTypes: readonly FuelType[]): Option[] =>
  Object.entries(FUEL_GROUPS).flatMap(([group, fuels]) =>
    fuels
      .filter((value) => fuelTypes.includes(value))
      .map((value) => ({ value, label: getPlainFuelName(value), group })),
  )

/** Names of fuels in delivery notes. VLSFO is no fuel of its own in FuelEU Maritime. */
const FUEL_CODES: Option[] = [
  { value: 'MGO, MDO, DMA, DMB, DMX', label: 'Marine diesel' },
  { value: 'HFO, IFO 180, IFO 380', label: 'Heavy fuel oil' },
  { value: 'VLSFO of an ISO 8217 grade from RMA to RMD', label: 'Light fuel oil' },
  { value: 'VLSFO of an ISO 8217 grade from RME to RMK', label: 'Heavy fuel oil' },
  { value: 'EN 590, B7', label: 'Road diesel' },
  { value: 'HVO100, EN 15940', label: 'Renewable diesel (HVO)' },
]

/** The options of each select field. */
export const CHOICES: Record<string, Option[]> = {
  fuelType: toFuelOptions(FUEL_TYPES),
  burntFuelType: toFuelOptions(BURNT_FUEL_TYPES),
  use: toOptions(LINE_USES, USE_NAMES),
  quantityUnit: toOptions(
    QUANTITY_UNITS.filter((unit) => unit !== 'kWh'),
    UNIT_NAMES,
  ),
  distanceUnit: toOptions(DISTANCE_UNITS, UNIT_NAMES),
  consumptionUnit: toOptions(CONSUMPTION_UNITS, UNIT_NAMES),
  amountUnit: toOptions(AMOUNT_UNITS, UNIT_NAMES),
  hullType: toOptions(HULL_TYPES, HULL_NAMES),
  certifiedAs: toOptions(CERTIFIED_AS, CERTIFIED_AS_NAMES),
  framework: toOptions(FRAMEWORKS, FRAMEWORK_NAMES),
  tripLengthUnit: [
    { value: 'd', label: 'days' },
    { value: 'h', label: 'hours' },
  ],
  grid: [UK_GRID],
  fuelCodes: FUEL_CODES,
}

/**
 * Formats the limits in a validation message for the user's locale: `must be at most 10,000,000`.
 */
export const localizeLimits = (message: string, { exact }: NumberFormatter): string =>
  message.replace(/(?<=\b(?:at most|at least|than|between|and|trip at) )\d+(?:\.\d+)?/g, (limit) =>
    exact(Number(limit)),
  )

const LINE_FIELD = /^furtherLines\.(\d+)\.(\w+)$/

/** `Average speed`, or `Tender: quantity` for a further line. */
function getLabel(field: string, lines: readonly FormLine[]): string {
  const [, index, name = ''] = LINE_FIELD.exec(field) ?? []
  if (index === undefined) return FIELD_NAMES[field] ?? field
  const title = lines.find((line) => line.index === Number(index))?.title
  return `${title}: ${toSentenceCase(FIELD_NAMES[name] ?? name)}`
}

const FIELD_ORDER = Object.keys(FIELD_NAMES)

/** The fields of further lines come last. */
function sortByFormOrder(fields: string[]): string[] {
  const getKey = (field: string): number => {
    const [, index, name = ''] = LINE_FIELD.exec(field) ?? []
    return index === undefined
      ? FIELD_ORDER.indexOf(field)
      : (Number(index) + 1) * FIELD_ORDER.length + FIELD_ORDER.indexOf(name)
  }
  return fields.toSorted((a, b) => getKey(a) - getKey(b))
}

/** The fields of a form, including those of its further lines, with their schemas. */
const listFields = (type: CalculatorType, lines: readonly FormLine[]) => [
  ...Object.entries<TSchema>(CALCULATOR_DATA[type].properties).filter(
    ([name]) => name !== 'furtherLines',
  ),
  ...Object.entries(FORM_FIELDS[type] ?? {}),
  ...('furtherLines' in CALCULATOR_DATA[type].properties ? lines : []).flatMap(({ index }) =>
    Object.entries<TSchema>(FuelLine.properties).map(
      ([name, schema]) => [getLineField(index, name), schema] as const,
    ),
  ),
]

/** The names of a form's fields, including those of its further lines. */
export const listFieldNames = (type: CalculatorType, lines: readonly FormLine[]): string[] =>
  listFields(type, lines).map(([name]) => name)

const listNumberFields = (type: CalculatorType, lines: readonly FormLine[]): string[] =>
  listFields(type, lines).flatMap(([name, { type }]) =>
    type === 'number' || type === 'integer' ? [name] : [],
  )

const toSentenceCase = (label: string): string => label.charAt(0).toLowerCase() + label.slice(1)

/** The name of a field within a sentence, without its line: `average speed`. */
function toSentenceName(field: string): string {
  const name = LINE_FIELD.exec(field)?.[2] ?? field
  return toSentenceCase(FIELD_NAMES[name] ?? name)
}

/** The error for a required field that is blank: `enter the average speed`. */
export const describeMissingField = (field: string): string => `enter the ${toSentenceName(field)}`

/** How ambiguous numbers were read: `Quantity: “1,500” was read as 1500.` */
export const describeReadings = ({ readings, lines }: CalculatorForm): string[] =>
  Object.entries(readings)
    .filter(([, { value }]) => value !== null)
    .map(([field, { text, value }]) => `${getLabel(field, lines)}: “${text}” was read as ${value}.`)

/** The lines that a result does not include, and what they need. */
const describeExcludedLines = ({ partial, missing, lines }: CalculatorForm): string[] =>
  lines
    .filter(({ index }) => partial?.excludedLines.includes(index))
    .map(({ index, title }) => {
      const needed = missing
        .filter((name) => name.startsWith(getLineField(index, '')))
        .map(toSentenceName)
      return `${title} is not included in this result. Still needed: ${needed.join(', ')}.`
    })

const describeGeneratorHours = (tripHours: number | null, { exact }: NumberFormatter): string =>
  tripHours === null
    ? 'Blank: the length of the trip or, without it, the time under way.'
    : `Blank: ${withUnit(exact(tripHours), 'hours')}, the length of the trip.`

/**
 * The fields of a trip that differ from the scanned one, with the scanned numbers:
 * `Quantity (scanned: 500)`.
 */
export function describeChanges(
  scanned: CalculatorForm,
  edited: CalculatorForm,
  { exact }: NumberFormatter,
): string[] {
  const fields = new Set([...Object.keys(scanned.values), ...Object.keys(edited.values)])
  return (
    sortByFormOrder([...fields])
      .filter((field) => (scanned.values[field] ?? '') !== (edited.values[field] ?? ''))
      // Guests who enter their number correct nothing.
      .filter((field) => field !== 'guests' || scanned.values.guests)
      .map((field) => {
        const before = scanned.values[field] ?? ''
        const label = getLabel(field, edited.lines)
        return before === '' || Number.isNaN(Number(before))
          ? label
          : `${label} (scanned: ${exact(Number(before))})`
      })
  )
}

/** What the page asks about an ambiguous number. */
interface ReadingQuestion {
  /** How the number was read, with its unit: `1.234 litres`; `null` if it was not */
  reading: string | null
  /** Whether the decimal point was read as such, which makes the number unusually small */
  isDoubtful: boolean
  /** What else it could mean */
  choices: { label: string; value: string; href: string }[]
}

/**
 * Builds the question about each ambiguous number, by field. Its links open the page with the other
 * value.
 *
 * @param query the parameters of the page
 */
function buildReadingQuestions(
  readings: Record<string, NumberReading>,
  query: URLSearchParams,
  { exact }: NumberFormatter,
): Record<string, ReadingQuestion> {
  const toHref = (field: string, value: string): string => {
    const params = new URLSearchParams(query)
    params.set(field, value)
    return `?${params.toString()}#outcome`
  }
  return Object.fromEntries(
    Object.entries(readings).map(([field, { value, otherValues, unit }]) => [
      field,
      {
        reading: value === null ? null : `${exact(value)} ${unit}`.trim(),
        isDoubtful: value === null || otherValues.some((other) => other > value),
        choices: otherValues.map((other) => {
          const text = formatUnambiguous(String(other))
          return { label: exact(other), value: text, href: toHref(field, text) }
        }),
      },
    ]),
  )
}

interface FormViewOptions {
  /** Whether blank required fields count as errors */
  showMissing?: boolean
  /** The parameters of the page, for links to it */
  query?: URLSearchParams
}

/** Builds what the templates of a calculator's form show. */
export function buildFormView(
  type: CalculatorType,
  form: CalculatorForm,
  numbers: NumberFormatter,
  { showMissing = false, query = new URLSearchParams() }: FormViewOptions = {},
) {
  const errors: Record<string, string> = {}
  for (const [name, message] of Object.entries(form.errors)) {
    // The question below the field lists the readings.
    const isUndecided = form.readings[name]?.value === null
    errors[name] = isUndecided
      ? `“${form.readings[name]?.text}” could mean two numbers`
      : localizeLimits(message, numbers)
  }
  if (showMissing) for (const name of form.missing) errors[name] = describeMissingField(name)
  return {
    names: FIELD_NAMES,
    values: form.values,
    lines: form.lines,
    fields: listFieldNames(type, form.lines),
    numberFields: listNumberFields(type, form.lines),
    questions: buildReadingQuestions(form.readings, query, numbers),
    errors,
    invalid: sortByFormOrder(Object.keys(errors)).map((field) => ({
      field,
      name: getLabel(field, form.lines),
      message: errors[field],
    })),
    missing: sortByFormOrder(form.missing).map((field) =>
      toSentenceCase(getLabel(field, form.lines)),
    ),
    excluded: describeExcludedLines(form),
    generatorHoursHint: describeGeneratorHours(form.tripHours, numbers),
  }
}
