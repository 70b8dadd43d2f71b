import type { TSchema } from '@sinclair/typebox'
import type { NumberFormatter } from '../formatting/number-formatter.js'
import { formatUnambiguous, parseNumber } from '../formatting/number-input.js'
import type { FieldError } from '../validation/field-errors.js'
import { CALCULATOR_DATA, type Calculation, type CalculatorType } from './calculator-data.js'
import { validateCalculation } from './validate-calculation.js'

/** A calculator's form as submitted. */
export interface CalculatorForm {
  /** Field values as typed */
  values: Record<string, string>
  /** Errors of fields that are not blank */
  errors: Record<string, string>
  /** Required fields that are blank */
  missing: string[]
  /** The calculation, if every field is valid */
  calculation: Calculation | null
}

const DEFAULTS: Record<CalculatorType, Record<string, string>> = {
  fuel: { fuelType: 'mgo', unit: 'l' },
  distance: { fuelType: 'mgo', distanceUnit: 'nmi', consumptionUnit: 'l/h' },
  custom: { unit: 'kg' },
}

/** The form of an existing calculation; numbers get the decimal sign of the user's locale. */
export function toCalculatorForm(
  { calculatorType, calculatorData }: Calculation,
  numbers: NumberFormatter,
): CalculatorForm {
  const values = Object.fromEntries(
    Object.entries(calculatorData).map(([name, value]) => [
      name,
      typeof value === 'number' ? numbers.input(formatUnambiguous(String(value))) : value,
    ]),
  )
  return parseCalculatorForm(calculatorType, values)
}

/**
 * Parses a submitted form. Blank fields count as missing, numbers may be in any common notation,
 * and unknown names in `submitted` are ignored.
 *
 * @param prefix of each field's name, for pages with several forms
 */
export function parseCalculatorForm(
  type: CalculatorType,
  submitted: Record<string, unknown>,
  prefix = '',
): CalculatorForm {
  const values: Record<string, string> = { ...DEFAULTS[type] }
  const data: Record<string, unknown> = {}
  const unparsable: FieldError[] = []
  for (const [name, schema] of Object.entries<TSchema>(CALCULATOR_DATA[type].properties)) {
    const raw = submitted[prefix + name]
    const text = typeof raw === 'string' ? raw.trim() : (values[name] ?? '')
    if (text === '' && name in DEFAULTS[type]) {
      data[name] = values[name]
      continue
    }
    values[name] = text
    if (text === '') continue
    const parsed = schema.type === 'number' ? parseNumber(text) : { ok: true as const, value: text }
    if (parsed.ok) data[name] = parsed.value
    else unparsable.push({ path: name, message: parsed.message })
  }
  const validated = validateCalculation(type, data)
  const required: readonly string[] = CALCULATOR_DATA[type].required
  const missing = required.filter((name) => values[name] === undefined || values[name] === '')
  const errors = [...(validated.ok ? [] : validated.errors), ...unparsable]
  return {
    values,
    errors: Object.fromEntries(
      errors
        .filter(({ path }) => !missing.includes(path))
        .map(({ path, message }) => [path, message]),
    ),
    missing,
    calculation: validated.ok && unparsable.length === 0 ? validated.value : null,
  }
}
