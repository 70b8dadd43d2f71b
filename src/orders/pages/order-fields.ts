import { parseNumber, formatUnambiguous } from '../../core/formatting/number-input.js'
import type { Order, Retirement } from '../order.js'
import { isCurrency } from '../../core/validation/formats.js'
import { formatAmountInput, parseAmount } from './money-input.js'

/** The fields of an order's forms. All are strings; money is an amount and a currency. */
export const ORDER_FIELDS = [
  'customerName',
  'customerEmail',
  'vesselName',
  'imoNumber',
  'co2eKg',
  'amount',
  'currency',
  'orderSourceId',
  'notes',
] as const

/** The fields of a retirement, which are optional together. */
export const RETIREMENT_FIELDS = [
  'registry',
  'reference',
  'url',
  'standard',
  'vintage',
  'retiredAt',
] as const satisfies readonly (keyof Retirement)[]

export type OrderField = (typeof ORDER_FIELDS)[number] | (typeof RETIREMENT_FIELDS)[number]

export type FieldValues = Partial<Record<OrderField, string>>
/** Error messages by field name */
export type FieldErrors = Record<string, string>

/** Error messages for required fields that are empty; the other fields are optional */
const EMPTY_ERRORS: Partial<Record<OrderField, string>> = {
  customerName: 'Enter a name',
  customerEmail: 'Enter an email address',
  co2eKg: 'Enter the CO₂e',
  amount: 'Enter an amount',
  currency: 'Choose a currency',
  registry: 'Enter the registry',
  reference: 'Enter the reference',
  retiredAt: 'Enter the date',
}

export const isOptional = (field: OrderField): boolean => EMPTY_ERRORS[field] === undefined

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
export interface ParsedFields {
  values: FieldValues
  /** Properties of an order, still to be validated */
  input: Record<string, unknown>
  errors: FieldErrors
}

/** Parses the form of a retirement; `null` if all its fields are empty. */
export function parseRetirement(submitted: Record<string, unknown>): ParsedFields {
  const filled = RETIREMENT_FIELDS.map(
    (field) => [field, normalizeFieldValue(submitted[field])] as const,
  )
  const given = filled.filter(([, value]) => value !== '')
  const missing = given.length === 0 ? [] : filled.filter(([, value]) => value === '')
  return {
    values: Object.fromEntries(filled),
    input: { retirement: given.length === 0 ? null : Object.fromEntries(given) },
    errors: Object.fromEntries(
      missing.flatMap(([field]) => {
        const error = EMPTY_ERRORS[field]
        return error === undefined ? [] : [[field, error]]
      }),
    ),
  }
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
    const emptyError = EMPTY_ERRORS[field]
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
