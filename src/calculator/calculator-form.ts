import type { TSchema } from '@sinclair/typebox'
import type { FieldError } from '../validation/field-errors.js'
import { CALCULATOR_DATA, type Calculation, type CalculatorType } from './calculator-data.js'
import { validateCalculation } from './validate-calculation.js'
import { parseNumber, formatUnambiguous } from './number-format.js'

/** A calculator's form as a person filled it in. */
export interface CalculatorForm {
  /** What stands in each field, as typed */
  values: Record<string, string>
  /** What is wrong with fields that were filled in */
  errors: Record<string, string>
  /** Required fields that are still blank */
  missing: string[]
  /** The calculation, once all is well */
  calculation: Calculation | null
}

const DEFAULTS: Record<CalculatorType, Record<string, string>> = {
  fuel: { fuelType: 'mgo', unit: 'l' },
  distance: { fuelType: 'mgo', distanceUnit: 'nmi', consumptionUnit: 'l/h' },
  custom: { unit: 'kg' },
}

const fieldsOf = (type: CalculatorType): [string, TSchema][] =>
  Object.entries<TSchema>(CALCULATOR_DATA[type].properties)

/** A form that shows a calculation already made. */
export function toCalculatorForm({ calculatorType, calculatorData }: Calculation): CalculatorForm {
  const values = Object.fromEntries(
    Object.entries(calculatorData).map(([name, value]) => [
      name,
      typeof value === 'number' ? formatUnambiguous(String(value)) : value,
    ]),
  )
  return parseCalculatorForm(calculatorType, values)
}

/**
 * Reads a submitted form. Blank fields count as not given, numbers may be written as people
 * write them; other names in `submitted` are not ours and are left alone.
 *
 * @param prefix stands in front of each field's name, for pages with several forms
 */
export function parseCalculatorForm(
  type: CalculatorType,
  submitted: Record<string, unknown>,
  prefix = '',
): CalculatorForm {
  const values: Record<string, string> = { ...DEFAULTS[type] }
  const data: Record<string, unknown> = {}
  const unreadable: FieldError[] = []
  for (const [name, field] of fieldsOf(type)) {
    const given = submitted[prefix + name]
    const text = typeof given === 'string' ? given.trim() : (values[name] ?? '')
    if (text === '' && name in DEFAULTS[type]) {
      data[name] = values[name]
      continue
    }
    values[name] = text
    if (text === '') continue
    const parsed = field.type === 'number' ? parseNumber(text) : { ok: true as const, value: text }
    if (parsed.ok) data[name] = parsed.value
    else unreadable.push({ path: name, message: parsed.message })
  }
  const checked = validateCalculation(type, data)
  const required: readonly string[] = CALCULATOR_DATA[type].required
  const missing = required.filter((name) => values[name] === undefined || values[name] === '')
  const found = [...(checked.ok ? [] : checked.errors), ...unreadable]
  const errors = Object.fromEntries(
    found.filter(({ path }) => !missing.includes(path)).map(({ path, message }) => [path, message]),
  )
  return {
    values,
    errors,
    missing,
    calculation: checked.ok && unreadable.length === 0 ? checked.value : null,
  }
}
