import { Type, type TSchema } from '@sinclair/typebox'
import { formatUnambiguous, parseNumber } from '../core/formatting/number-input.js'
import type { FieldError } from '../core/validation/field-errors.js'
import {
  CALCULATOR_DATA,
  CERTIFIABLE,
  FuelLine,
  type Calculation,
  type CalculatorType,
} from './calculator-data.js'
import { DEFAULT_FRAMEWORK } from './factors/edition.js'
import { ELECTRICITY } from './factors/editions.js'
import {
  completeLines,
  getDefaultFuel,
  getLineField,
  LINE_INDEXES,
  toLineUse,
  type FormLine,
} from './further-lines.js'
import { listUnitSpellings } from './units.js'
import { validateCalculation } from './validate-calculation.js'

/** How an ambiguous number was read. */
export interface NumberReading {
  /** As typed */
  text: string
  /** `null` if the locale does not decide how to read it, so that the field has an error */
  value: number | null
  /** What else the number could mean */
  otherValues: readonly number[]
  /** Name of the unit; blank if the field has none */
  unit: string
}

/** A calculator's form as submitted. Fields of further lines are named `furtherLines.0.quantity`. */
export interface CalculatorForm {
  /** Field values as typed */
  values: Record<string, string>
  /** Messages by field, except for the fields in `missing` */
  errors: Record<string, string>
  /** Required fields that are blank */
  missing: string[]
  /** Ambiguous numbers, such as `1,500`, by field */
  readings: Record<string, NumberReading>
  /** The length of the trip, proposed as generator hours; `null` if it is not given */
  tripHours: number | null
  /** The further lines to show: the submitted ones, and blank ones if there is room */
  lines: FormLine[]
  /** The calculation; `null` unless every field is valid */
  calculation: Calculation | null
  /**
   * The calculation without the lines that lack a required field, by index in the form; `null` if
   * there is no such line, or if something else is wrong
   */
  partial: { calculation: Calculation; excludedLines: number[] } | null
}

const DEFAULTS: Record<CalculatorType, Record<string, string>> = {
  fuel: { fuelType: 'mgo', unit: 'l', certifiedAs: 'bio', framework: DEFAULT_FRAMEWORK },
  distance: {
    fuelType: 'mgo',
    distanceUnit: 'nmi',
    consumptionUnit: 'l/h',
    certifiedAs: 'bio',
    hullType: 'displacement',
    tripLengthUnit: 'd',
    framework: DEFAULT_FRAMEWORK,
  },
  custom: { unit: 'kg', framework: DEFAULT_FRAMEWORK },
}
const LINE_DEFAULTS: Record<string, string> = {
  use: 'other',
  fuelType: 'mgo',
  unit: 'l',
  certifiedAs: 'bio',
}

/** The value of a form's field before anything is filled in; `undefined` if it is blank. */
export function getDefault(type: CalculatorType, field: string): string | undefined {
  const [, lineField] = /^furtherLines\.\d+\.(\w+)$/.exec(field) ?? []
  return lineField === undefined ? DEFAULTS[type][field] : LINE_DEFAULTS[lineField]
}

/** Fields of a form that are not part of the calculation. */
export const FORM_FIELDS: Partial<Record<CalculatorType, Record<string, TSchema>>> = {
  distance: { tripLength: Type.Number(), tripLengthUnit: Type.String() },
}

/** Required fields of a further line. */
const LINE_REQUIRED = ['fuelType', 'quantity', 'unit']

/** The form of an existing calculation. */
export const toCalculatorForm = (calculation: Calculation): CalculatorForm =>
  parseCalculatorForm(calculation.calculatorType, toFormFields(calculation))

/**
 * The fields of a calculation as a form submits them, with numbers that are unambiguous in every
 * locale.
 */
export function toFormFields({ calculatorData }: Calculation): Record<string, string> {
  const { furtherLines = [], ...fields }: Record<string, unknown> & { furtherLines?: FuelLine[] } =
    calculatorData
  const toText = (value: unknown): string =>
    typeof value === 'number' ? formatUnambiguous(String(value)) : String(value)
  const values: (readonly [string, unknown])[] = [
    ...Object.entries(fields),
    ...furtherLines.flatMap((line, i) =>
      Object.entries({ use: '', ...line }).map(
        ([name, value]) => [getLineField(i, name), value] as const,
      ),
    ),
  ]
  return Object.fromEntries(values.map(([name, value]) => [name, toText(value)]))
}

/** The length of a trip in hours; `null` if it is not given. */
const toTripHours = ({ tripLength, tripLengthUnit }: Record<string, unknown>): number | null =>
  typeof tripLength === 'number' ? tripLength * (tripLengthUnit === 'h' ? 1 : 24) : null

/** Uses the length of the trip as generator hours, and drops values that are the default. */
function toCalculatorData(fields: Record<string, unknown>) {
  const data = { ...fields }
  const hours = toTripHours(fields)
  if (hours !== null && data.generatorLitresPerHour !== undefined) data.generatorHours ??= hours
  delete data.tripLength
  delete data.tripLengthUnit
  if (data.framework === DEFAULT_FRAMEWORK) delete data.framework
  if (data.hullType === 'displacement') delete data.hullType
  return data
}

interface CalculatorFormOptions {
  /** Prefix of each field's name, for pages with several forms */
  prefix?: string
  /** How to read numbers such as `1,500`, which are errors if this is not set */
  decimalSign?: '.' | undefined
}

/** The fields of the trip itself, or of a further line. */
interface FieldGroup {
  schemas: Record<string, TSchema>
  defaults: Record<string, string>
  /** Returns the name of a field in the form. */
  toPath: (name: string) => string
}

/** Parses the number and text fields of a group. `data` has the fields by their own names. */
function parseFields(
  { schemas, defaults, toPath }: FieldGroup,
  submitted: Record<string, unknown>,
  { prefix = '', decimalSign }: CalculatorFormOptions,
) {
  const texts: Record<string, string> = { ...defaults }
  const data: Record<string, unknown> = {}
  const errors: FieldError[] = []
  const readings: CalculatorForm['readings'] = {}
  const getText = (name: string): string | undefined => {
    const raw = submitted[prefix + toPath(name)]
    return typeof raw === 'string' ? raw.trim() : undefined
  }
  // The form has no unit selector for electricity.
  const getUnit = (field: string): string => {
    if (getText('fuelType') === ELECTRICITY) return 'kWh'
    const unit = getText(field) ?? ''
    return unit === '' ? (defaults[field] ?? '') : unit
  }
  for (const [name, schema] of Object.entries(schemas)) {
    if (schema.type === 'array') continue
    const text = getText(name) ?? texts[name] ?? ''
    if (text === '' && name in defaults && name !== 'use') {
      data[name] = texts[name]
      continue
    }
    texts[name] = text
    if (text === '') continue
    if (schema.type !== 'number' && schema.type !== 'integer') {
      data[name] = text
      continue
    }
    const units = listUnitSpellings(name, getUnit)
    const parsed = parseNumber(text, { decimalSign, units })
    if (parsed.ok) data[name] = parsed.value
    else errors.push({ path: name, message: parsed.message })
    const value = parsed.ok ? parsed.value : null
    const otherValues = parsed.ok ? [parsed.otherValue ?? []].flat() : (parsed.readings ?? [])
    if (otherValues.length > 0) {
      readings[toPath(name)] = { text, value, otherValues, unit: units[0] ?? '' }
    }
  }
  if ('fuelType' in schemas && data.fuelType === ELECTRICITY) data.unit = 'kWh'
  const hidden = 'fuelType' in schemas ? listHiddenFields(data) : []
  return {
    texts,
    values: Object.fromEntries(Object.entries(texts).map(([name, text]) => [toPath(name), text])),
    data: Object.fromEntries(Object.entries(data).filter(([name]) => !hidden.includes(name))),
    unparsable: errors
      .filter(({ path }) => !hidden.includes(path))
      .map(({ path, message }) => ({ path: toPath(path), message })),
    readings,
  }
}

/** The fields that the form hides for a fuel, or that are about a blank field; they are ignored. */
function listHiddenFields({ fuelType, certifiedGCo2ePerMj }: Record<string, unknown>): string[] {
  const kinds = CERTIFIABLE.get(fuelType === 'mgo' ? 'hvo' : fuelType)
  const hasCertificate = kinds !== undefined && certifiedGCo2ePerMj !== undefined
  return [
    ...(fuelType === 'mgo' ? [] : ['hvoPercent']),
    ...(kinds === undefined ? ['certifiedGCo2ePerMj'] : []),
    ...(hasCertificate ? [] : ['certificateReference']),
    ...(hasCertificate && kinds.length > 1 ? [] : ['certifiedAs']),
    ...(fuelType === ELECTRICITY ? [] : ['kgCo2ePerKwh', 'factorSource']),
  ]
}

/** The fields that a fuel needs in addition. */
function getFuelRequired({ fuelType }: Record<string, unknown>): string[] {
  if (fuelType === ELECTRICITY) return ['kgCo2ePerKwh', 'factorSource']
  return fuelType === 'fame' ? ['certifiedGCo2ePerMj'] : []
}

/** Parses the submitted further lines. Blank lines are kept in the form, but not calculated. */
function parseLines(submitted: Record<string, unknown>, options: CalculatorFormOptions) {
  const { prefix = '' } = options
  const indexes = LINE_INDEXES.filter(
    (i) => typeof submitted[prefix + getLineField(i, 'quantity')] === 'string',
  )
  return indexes.map((index) => {
    const toPath = (name: string): string => getLineField(index, name)
    const group = { schemas: FuelLine.properties, defaults: LINE_DEFAULTS, toPath }
    const parsed = parseFields(group, submitted, options)
    const required = [...LINE_REQUIRED, ...getFuelRequired(parsed.data)].map(toPath)
    const isBlank = Object.entries(parsed.texts).every(
      ([name, text]) => name in LINE_DEFAULTS || text === '',
    )
    return { ...parsed, index, use: toLineUse(parsed.texts.use), required, isBlank }
  })
}

/**
 * Parses a submitted form. Blank fields take their default, or count as not given. Numbers may be
 * in any common notation. Unknown names in `submitted` are ignored.
 */
export function parseCalculatorForm(
  type: CalculatorType,
  submitted: Record<string, unknown>,
  options: CalculatorFormOptions = {},
): CalculatorForm {
  const schema = CALCULATOR_DATA[type]
  const main = parseFields(
    {
      schemas: { ...schema.properties, ...FORM_FIELDS[type] },
      defaults: DEFAULTS[type],
      toPath: (name) => name,
    },
    submitted,
    options,
  )
  const allLines = 'furtherLines' in schema.properties ? parseLines(submitted, options) : []
  const lines = allLines.filter(({ isBlank }) => !isBlank)
  const mainData = toCalculatorData(main.data)
  const validate = (included: typeof lines) =>
    validateCalculation(
      type,
      included.length === 0
        ? mainData
        : { ...mainData, furtherLines: included.map((line) => line.data) },
    )
  const validated = validate(lines)

  const groups = [main, ...lines]
  const shownLines = completeLines(type, allLines)
  const values = Object.fromEntries([
    ...shownLines.flatMap(({ index, use }) => [
      [getLineField(index, 'use'), use],
      [getLineField(index, 'fuelType'), getDefaultFuel(use)],
    ]),
    ...[main, ...allLines].flatMap((one) => Object.entries(one.values)),
  ]) as Record<string, string>
  const unparsable = groups.flatMap((one) => one.unparsable)
  const required = [
    ...schema.required,
    ...getFuelRequired(main.data),
    ...lines.flatMap((line) => line.required),
  ]
  const missing = required.filter((name) => values[name] === undefined || values[name] === '')
  // The data omits blank lines, so its line numbers can differ from the line numbers in the form.
  const toFormPath = (path: string): string =>
    path.replace(/^furtherLines\.(\d+)/, (_, i) => `furtherLines.${lines[Number(i)]?.index}`)
  const errors = [
    ...(validated.ok ? [] : validated.errors).map(
      ({ path, message }) => [toFormPath(path), message] as const,
    ),
    ...unparsable.map(({ path, message }) => [path, message] as const),
  ]
  const isIncomplete = (line: (typeof lines)[number]): boolean =>
    line.required.some((name) => missing.includes(name))
  const excluded = lines.filter(isIncomplete)
  const included =
    excluded.length === 0 ? null : validate(lines.filter((one) => !isIncomplete(one)))
  return {
    values,
    errors: Object.fromEntries(errors.filter(([path]) => !missing.includes(path))),
    missing,
    readings: Object.fromEntries(groups.flatMap((one) => Object.entries(one.readings))),
    tripHours: toTripHours(main.data),
    lines: shownLines,
    calculation: validated.ok && unparsable.length === 0 ? validated.value : null,
    partial:
      included?.ok === true && unparsable.length === 0
        ? { calculation: included.value, excludedLines: excluded.map(({ index }) => index) }
        : null,
  }
}
