import { formatMoney, getMinorUnitDigits } from '../../core/formatting/number-formatter.js'
import {
  formatUnambiguous,
  parseNumber,
  type ParsedNumber,
} from '../../core/formatting/number-input.js'
import type { Formatters } from '../../core/formatting/portal-formatters.js'
import { CURRENCIES, isCurrency } from '../../core/validation/formats.js'
import { getMaxLength, Order } from '../order.js'

const MAX_AMOUNT_MINOR = Order.properties.amountMinor.maximum ?? Number.MAX_SAFE_INTEGER

/** Formats an amount for a form field: in major units, with all decimals of its currency. */
export function formatAmountInput(amountMinor: number, currency: string): string {
  const digits = getMinorUnitDigits(currency)
  return formatUnambiguous((amountMinor / 10 ** digits).toFixed(digits))
}

/**
 * Parses an amount in major units of a currency, with or without the currency; the value is in
 * minor units.
 */
export function parseAmount(text: string, currency: string): ParsedNumber {
  const digits = getMinorUnitDigits(currency)
  const symbol = formatMoney(0, currency)
    .replace(/[\d.,]/g, '')
    .trim()
    .toLowerCase()
  const units = [symbol, currency.toLowerCase(), ...(/\p{Sc}/u.exec(symbol) ?? [])]
  const parsed = parseNumber(text, { decimals: digits, units })
  if (!parsed.ok) return parsed
  const { value } = parsed
  const maximum = MAX_AMOUNT_MINOR / 10 ** digits
  if (value < 0) return { ok: false, message: 'must be at least 0' }
  if (value > maximum) return { ok: false, message: `must be at most ${maximum}` }
  if (Number(value.toFixed(digits)) !== value) {
    const message =
      digits === 0
        ? `must be a whole number: ${currency} has no decimals`
        : `must have at most ${digits} decimals in ${currency}`
    return { ok: false, message }
  }
  // Adding 0 turns -0 into 0.
  return { ...parsed, value: Math.round(value * 10 ** digits) + 0 }
}

const COMMON = ['EUR', 'USD', 'GBP', 'CHF', 'NOK', 'SEK', 'DKK', 'JPY', 'AUD', 'CAD', 'SGD']

/** The options of a currency field. Currencies in use and common ones come first. */
export function buildCurrencyChoices(inUse: string[], locale: string) {
  const names = new Intl.DisplayNames([locale], { type: 'currency' })
  const toChoice = (code: string) => ({
    code,
    label: `${code} – ${names.of(code) ?? code}`,
  })
  const first = new Set([...inUse, ...COMMON])
  return {
    first: [...first].map(toChoice),
    rest: [...CURRENCIES].filter((code) => !first.has(code)).map(toChoice),
  }
}

interface FieldDefinition {
  label: string
  type: 'line' | 'email' | 'kilograms' | 'money' | 'currency' | 'text' | 'web' | 'date'
  maxLength: number
  hint?: string
  /** The error if a required field is empty; the other fields are optional */
  emptyError?: string
}

const fields = <Name extends string>(definitions: Record<Name, FieldDefinition>) => definitions

/** The fields of an order's forms. All values are strings; money is an amount and a currency. */
const ORDER = fields({
  customerName: {
    label: 'Name',
    type: 'line',
    maxLength: getMaxLength('customerName'),
    emptyError: 'Enter a name',
  },
  customerEmail: {
    label: 'Email',
    type: 'email',
    maxLength: getMaxLength('customerEmail'),
    emptyError: 'Enter an email address',
  },
  vesselName: { label: 'Name', type: 'line', maxLength: getMaxLength('vesselName') },
  imoNumber: {
    label: 'IMO number',
    type: 'line',
    maxLength: getMaxLength('imoNumber'),
    hint: 'Seven digits, with or without “IMO”.',
  },
  co2eKg: { label: 'CO₂e', type: 'kilograms', maxLength: 32, emptyError: 'Enter the CO₂e' },
  amount: { label: 'Amount', type: 'money', maxLength: 32, emptyError: 'Enter an amount' },
  currency: { label: 'Currency', type: 'currency', maxLength: 3, emptyError: 'Choose a currency' },
  orderSourceId: {
    label: 'Provider order ID',
    type: 'line',
    maxLength: getMaxLength('orderSourceId'),
    hint: 'ID of the offset order at the provider.',
  },
  notes: {
    label: 'Notes',
    type: 'text',
    maxLength: getMaxLength('notes'),
    hint: 'Visible to administrators only.',
  },
})

/** The fields of a retirement, which are optional together. */
const RETIREMENT = fields({
  registry: { label: 'Registry', type: 'line', maxLength: 120, emptyError: 'Enter the registry' },
  reference: {
    label: 'Reference',
    type: 'line',
    maxLength: 500,
    hint: 'Serial numbers, or the number of the retirement in the registry.',
    emptyError: 'Enter the reference',
  },
  url: { label: 'Page in the registry', type: 'web', maxLength: 2000 },
  standard: { label: 'Standard', type: 'line', maxLength: 120 },
  vintage: { label: 'Vintage', type: 'line', maxLength: 40 },
  retiredAt: { label: 'Retired on', type: 'date', maxLength: 10, emptyError: 'Enter the date' },
})

export type OrderField = keyof typeof ORDER | keyof typeof RETIREMENT

const FIELDS: Record<OrderField, FieldDefinition> = { ...ORDER, ...RETIREMENT }
export const ORDER_FIELDS = Object.keys(ORDER) as (keyof typeof ORDER)[]
export const RETIREMENT_FIELDS = Object.keys(RETIREMENT) as (keyof typeof RETIREMENT)[]

export type FieldValues = Partial<Record<OrderField, string>>
/** Error messages by field name */
export type FieldErrors = Record<string, string>

/** A submitted value without surrounding whitespace and with normalised line breaks. */
export const normalizeFieldValue = (value: unknown): string =>
  typeof value === 'string' ? value.replace(/\r\n?/g, '\n').trim() : ''

/** The values of an order's form fields. */
export const getFieldValues = (order: Order): Record<OrderField, string> => ({
  customerName: order.customerName,
  customerEmail: order.customerEmail,
  vesselName: order.vesselName ?? '',
  imoNumber: order.imoNumber ?? '',
  co2eKg: formatUnambiguous(String(order.co2eKg)),
  amount: formatAmountInput(order.amountMinor, order.currency),
  currency: order.currency,
  orderSourceId: order.orderSourceId ?? '',
  notes: order.notes,
  registry: order.retirement?.registry ?? '',
  reference: order.retirement?.reference ?? '',
  url: order.retirement?.url ?? '',
  standard: order.retirement?.standard ?? '',
  vintage: order.retirement?.vintage ?? '',
  // The form has a date without a time.
  retiredAt: order.retirement?.retiredAt.slice(0, 10) ?? '',
})

/** Submitted fields, as typed and as parsed. */
interface ParsedFields {
  values: FieldValues
  /** Properties of an order, still to be validated */
  input: Record<string, unknown>
  errors: FieldErrors
}

/** Parses the form of a retirement; `null` if all its fields are empty. */
export function parseRetirement(submitted: Record<string, unknown>): ParsedFields {
  const values: FieldValues = {}
  const errors: FieldErrors = {}
  for (const field of RETIREMENT_FIELDS) {
    const value = normalizeFieldValue(submitted[field])
    const { emptyError } = FIELDS[field]
    values[field] = value
    if (value === '' && emptyError !== undefined) errors[field] = emptyError
  }
  const given = Object.entries(values).filter(([, value]) => value !== '')
  return given.length === 0
    ? { values, input: { retirement: null }, errors: {} }
    : { values, input: { retirement: Object.fromEntries(given) }, errors }
}

/** Parses submitted fields. Invalid fields have an error; all fields keep the value as typed. */
export function parseFields(
  fields: readonly OrderField[],
  submitted: Record<string, unknown>,
): ParsedFields {
  const values: FieldValues = Object.fromEntries(
    fields.map((field) => [field, normalizeFieldValue(submitted[field])]),
  )
  const input: Record<string, unknown> = {}
  const errors: FieldErrors = {}
  for (const field of fields) {
    const value = values[field] ?? ''
    const { emptyError } = FIELDS[field]
    if (value === '' && emptyError !== undefined) errors[field] = emptyError
    else if (field === 'co2eKg' || field === 'amount') {
      const currency = (values.currency ?? '').toUpperCase()
      // The decimals of an invalid currency are unknown; the currency has its own error.
      if (field === 'amount' && !isCurrency(currency)) continue
      const parsed =
        field === 'co2eKg' ? parseNumber(value, { units: ['kg'] }) : parseAmount(value, currency)
      if (!parsed.ok) errors[field] = parsed.message
      else input[field === 'amount' ? 'amountMinor' : field] = parsed.value + 0
    } else if (field === 'currency') input[field] = value.toUpperCase()
    else input[field] = value === '' && field !== 'notes' ? null : value
  }
  return { values, input, errors }
}

/** Formats large limits in an error message. */
const formatLimit = (message: string | undefined, { numbers }: Formatters): string | undefined =>
  message?.replace(/(?<=at most )\d{5,}/, (limit) => numbers.exact(Number(limit)))

interface FormState {
  values: FieldValues
  errors: FieldErrors
  /** After a version conflict: the stored values that differ from the form */
  currentValues?: FieldValues
  format: Formatters
}

/** Builds the fields of a form. The first invalid field, or else the first field, has the focus. */
export function buildFieldViews(
  fields: readonly OrderField[],
  { values, errors, currentValues = {}, format }: FormState,
) {
  const focused = fields.find((field) => errors[field] !== undefined) ?? fields[0]
  return fields.map((name) => ({
    ...FIELDS[name],
    name,
    isOptional: FIELDS[name].emptyError === undefined,
    value: values[name] ?? '',
    error: formatLimit(errors[name], format),
    currentValue: currentValues[name],
    hasFocus: name === focused,
  }))
}
