import { withUnit, type NumberFormatter } from '../core/formatting/number-formatter.js'
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
import { getLineField, type CalculatorForm } from './calculator-form.js'
import { USE_NAMES } from './describe-trip.js'
import { FRAMEWORK_NAMES, FRAMEWORKS } from './factors/edition.js'
import { BURNT_FUEL_TYPES, FUEL_TYPES, getFuelName, type FuelType } from './factors/editions.js'
import { UNIT_NAMES } from './units.js'

export const CALCULATOR_NAMES: Record<CalculatorType, { title: string; summary: string }> = {
  fuel: { title: 'Fuel', summary: 'You know how much fuel was burnt.' },
  distance: {
    title: 'Distance',
    summary: 'You know the distance, the speed and the fuel consumption.',
  },
  custom: {
    title: 'Custom amount',
    summary: 'You already know the amount of CO₂e.',
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
  consumption: 'Fuel consumption',
  consumptionUnit: 'Fuel consumption unit',
  referenceSpeedKn: 'Reference speed',
  hullType: 'Hull',
  tripLength: 'How long was the trip?',
  generatorLitresPerHour: 'Generator consumption',
  generatorHours: 'Generator hours',
  description: 'Description',
  hvoPercent: 'HVO in the blend',
  certifiedGCo2ePerMj: 'Certified emissions',
  certifiedAs: 'Certified as',
  certificateReference: 'Proof of sustainability',
  kgCo2ePerKwh: 'Emission factor of the electricity',
  factorSource: 'Source of the emission factor',
  guests: 'Guests',
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

/**
 * UK electricity, kg CO2e/kWh: generation, transmission and distribution losses, and both
 * well-to-tank parts, 0.13096 + 0.01299 + 0.03682 + 0.00359 (DESNZ 2026).
 */
const UK_GRID = { value: '0.18436', label: 'UK grid, DESNZ 2026, total' }

interface Option {
  value: string
  label: string
}

/** The options for values, with their names. */
const toOptions = <T extends string>(values: readonly T[], names: Record<T, string>): Option[] =>
  values.map((value) => ({ value, label: names[value] }))

const toFuelOptions = (fuelTypes: readonly FuelType[]): Option[] =>
  fuelTypes.map((value) => ({ value, label: getFuelName(value) }))

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
}

/**
 * Formats the limits in a validation message for the user's locale: `must be at most 10,000,000`.
 */
export const localizeLimits = (message: string, { exact }: NumberFormatter): string =>
  message.replace(/(?<=\b(?:at most|at least|than|between|and|trip at) )\d+(?:\.\d+)?/g, (limit) =>
    exact(Number(limit)),
  )

const LINE_FIELD = /^furtherLines\.(\d+)\.(\w+)$/

/** `Average speed`, or `Line 2: quantity` for a further line. Line 1 is the trip's own fuel. */
function getLabel(field: string): string {
  const [, index, name = ''] = LINE_FIELD.exec(field) ?? []
  if (index === undefined) return FIELD_NAMES[field] ?? field
  return `Line ${Number(index) + 2}: ${toSentenceCase(FIELD_NAMES[name] ?? name)}`
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

const FORM_ONLY_FIELDS: Partial<Record<CalculatorType, string[]>> = { distance: ['tripLength'] }

/** The names of a form's fields, including those of its further lines. */
export const listFieldNames = (type: CalculatorType, lineCount: number): string[] =>
  [...Object.keys(CALCULATOR_DATA[type].properties), ...(FORM_ONLY_FIELDS[type] ?? [])].flatMap(
    (name) =>
      name === 'furtherLines'
        ? Array.from({ length: lineCount }, (_, i) =>
            Object.keys(FuelLine.properties).map((field) => getLineField(i, field)),
          ).flat()
        : [name],
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
export const describeReadings = ({ readings }: CalculatorForm): string[] =>
  Object.entries(readings).map(
    ([field, { text, value }]) => `${getLabel(field)}: “${text}” was read as ${value}.`,
  )

/** The lines that a result does not include, and what they need. */
const describeExcludedLines = ({ partial, missing }: CalculatorForm): string[] =>
  (partial?.excludedLines ?? []).map((index) => {
    const needed = missing
      .filter((name) => name.startsWith(getLineField(index, '')))
      .map(toSentenceName)
    return `Line ${index + 2} is not included in this result. Still needed: ${needed.join(', ')}.`
  })

const describeGeneratorHours = (tripHours: number | null, { exact }: NumberFormatter): string =>
  tripHours === null
    ? 'Blank: the length of the trip or, without it, the time under way.'
    : `Blank: ${withUnit(exact(tripHours), 'hours')}, the length of the trip.`

/** @param showMissing whether blank required fields count as errors */
export function buildFormView(
  type: CalculatorType,
  form: CalculatorForm,
  numbers: NumberFormatter,
  showMissing: boolean,
) {
  const errors: Record<string, string> = {}
  for (const [name, message] of Object.entries(form.errors)) {
    errors[name] = localizeLimits(message, numbers)
  }
  if (showMissing) for (const name of form.missing) errors[name] = describeMissingField(name)
  return {
    names: FIELD_NAMES,
    values: form.values,
    lineCount: form.lineCount,
    fields: listFieldNames(type, form.lineCount),
    errors,
    invalid: sortByFormOrder(Object.keys(errors)).map((field) => ({
      field,
      name: getLabel(field),
      message: errors[field],
    })),
    missing: sortByFormOrder(form.missing).map((field) => toSentenceCase(getLabel(field))),
    readings: describeReadings(form),
    excluded: describeExcludedLines(form),
    generatorHoursHint: describeGeneratorHours(form.tripHours, numbers),
  }
}
