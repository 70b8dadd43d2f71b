import { parseNumber, formatUnambiguous } from '../../formatting/number-input.js'
import { isCurrency } from '../../validation/formats.js'
import type { Formatters } from '../formatters.js'
import { formatAmountInput, parseAmount } from './money-input.js'
import type { Order } from '../../orders/order.js'

/** The fields of an order's forms. All are texts there, and money is one amount and a currency. */
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
export type OrderField = (typeof ORDER_FIELDS)[number]

export type FieldTexts = Partial<Record<OrderField, string>>
/** What is wrong with fields, by their names */
export type FieldErrors = Record<string, string>

export const BLANK = 'must be filled in'

const NULLABLE: readonly OrderField[] = ['vesselName', 'imoNumber', 'orderSourceId']

/** Whether a field of a form may stay empty. */
export const isOptional = (field: OrderField): boolean =>
  field === 'notes' || NULLABLE.includes(field)

/** A field's text as it was sent: without blanks about it, lines broken as we break them. */
export const getFieldText = (value: unknown): string =>
  typeof value === 'string' ? value.replace(/\r\n?/g, '\n').trim() : ''

/** An order's fields as a reader would type them. */
export const getFieldTexts = (order: Order, { typed }: Formatters): Record<OrderField, string> => ({
  customerName: order.customerName,
  customerEmail: order.customerEmail,
  vesselName: order.vesselName ?? '',
  imoNumber: order.imoNumber ?? '',
  co2eKg: typed(formatUnambiguous(String(order.co2eKg))),
  amount: typed(formatAmountInput(order.amountMinor, order.currency)),
  currency: order.currency,
  orderSourceId: order.orderSourceId ?? '',
  notes: order.notes,
})

/** Some fields as they were typed, and what they come to. */
export interface ParsedFields {
  texts: FieldTexts
  /** By the names of an order, still to be checked */
  given: Record<string, unknown>
  faults: FieldErrors
}

/** Reads some fields of a submitted form; what cannot be read is named, and nothing typed is lost. */
export function parseFields(
  fields: readonly OrderField[],
  submitted: Record<string, unknown>,
): ParsedFields {
  const texts: FieldTexts = Object.fromEntries(
    fields.map((field) => [field, getFieldText(submitted[field])]),
  )
  const given: Record<string, unknown> = {}
  const faults: FieldErrors = {}
  for (const field of fields) {
    const text = texts[field] ?? ''
    if (text === '' && !isOptional(field)) faults[field] = BLANK
    else if (field === 'co2eKg' || field === 'amount') {
      const { currency = '' } = texts
      // Of an unknown currency only that is told: who knows how many decimals it has.
      if (field === 'amount' && !isCurrency(currency.toUpperCase())) continue
      const read =
        field === 'co2eKg' ? parseNumber(text) : parseAmount(text, currency.toUpperCase())
      if (!read.ok) faults[field] = read.message
      else given[field === 'amount' ? 'amountMinor' : field] = read.value + 0
    } else if (field === 'currency') given[field] = text.toUpperCase()
    else given[field] = text === '' && field !== 'notes' ? null : text
  }
  return { texts, given, faults }
}
