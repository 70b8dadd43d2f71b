import { isDeepStrictEqual } from 'node:util'
import type { Formatters } from '../../core/formatting/portal-formatters.js'
import { getOwn } from '../../core/validation/formats.js'
import {
  ATTEMPT_FIELD,
  findConfirmedAttempt,
  findDifferences,
  findLatestAttempt,
  type FulfilmentAttempt,
} from '../attempt.js'
import { ERASURE_FIELD } from '../erase-order.js'
import { STATUS_LABELS } from '../labels.js'
import type { FieldChange, HistoryEntry, Order } from '../order.js'

/** A changed field; `from` is `null` if a value was added, `to` is `null` if it was removed. */
interface ChangeView {
  field: string
  from: string | null
  to: string | null
  /** Long text, displayed as a block */
  isText: boolean
  /** Replaces `from` and `to` */
  description: string | null
}

const describeAs = (field: string, description: string): ChangeView => ({
  field,
  from: null,
  to: null,
  isText: false,
  description,
})

const LABELS: Record<string, string> = {
  status: 'Status',
  customerName: 'Customer',
  customerEmail: 'Email',
  vesselName: 'Vessel',
  imoNumber: 'IMO number',
  co2eKg: 'CO₂e',
  amountMinor: 'Amount',
  orderSourceId: 'Provider order ID',
  notes: 'Notes',
  fulfilledAt: 'Time of fulfilment',
  cancelledAt: 'Time of cancellation',
  paidAt: 'Time of payment',
  retirement: 'Retirement',
  calculation: 'Emission factors',
  [ERASURE_FIELD]: 'Personal data',
}

/** Amount and currency are displayed as one change. */
const toDisplayField = (field: string): string => (field === 'currency' ? 'amountMinor' : field)

function formatValue(order: Order, field: string, format: Formatters): string | null {
  switch (field) {
    case 'status':
      return STATUS_LABELS[order.status]
    case 'co2eKg':
      return `${format.exactKilograms(order.co2eKg)} kg`
    case 'amountMinor':
      return format.money(order.amountMinor, order.currency)
    case 'paidAt':
    case 'fulfilledAt':
    case 'cancelledAt': {
      const timestamp = order[field]
      return timestamp === null ? null : format.dateTime(timestamp)
    }
    case 'retirement':
      return order.retirement && `${order.retirement.registry}: ${order.retirement.reference}`
    case 'calculation':
      return order.calculation === null ? 'not recorded' : `edition ${order.calculation.edition}`
    default: {
      const value = order[field as keyof Order]
      if (value === null || value === '') return null
      return typeof value === 'object' ? JSON.stringify(value) : String(value)
    }
  }
}

function describeAttempt(
  attempt: FulfilmentAttempt,
  confirmed: FulfilmentAttempt | null,
  format: Formatters,
): string {
  const { state, portfolioName, reference, reason } = attempt
  const price = format.money(attempt.amountMinor, attempt.currency)
  const tons = `${format.exact(attempt.tons)} t`
  const differs = confirmed !== null && findDifferences(confirmed, attempt).length > 0
  switch (state) {
    case 'sent':
      return `placing with ${portfolioName}: ${tons} for ${price} (reference ${reference})`
    case 'placed':
      return `placed as ${attempt.orderSourceId ?? reference}, for ${price}${differs ? ` (${tons}), which differs from what was confirmed` : ''}`
    case 'unanswered':
      return 'no response; placement status unknown'
    case 'refused':
      return `not placed: ${reason ?? 'refused'}`
    case 'released':
      return `another attempt allowed (reference ${reference})${reason === undefined ? '' : `: ${reason}`}`
  }
}

const MAX_INLINE_LENGTH = 60
const isLong = (text: string | null): boolean => (text ?? '').length > MAX_INLINE_LENGTH

/** Builds the entries of an order's history, newest first. */
export function buildHistoryView(order: Order, history: HistoryEntry[], format: Formatters) {
  function buildChange(
    field: string,
    before: Order,
    after: Order,
    changes: FieldChange[],
  ): ChangeView {
    const attempt = field === ATTEMPT_FIELD ? findLatestAttempt([{ changes }]) : null
    if (attempt !== null) {
      const confirmed = findConfirmedAttempt(history, attempt.reference)
      return describeAs('Offset order', describeAttempt(attempt, confirmed, format))
    }
    const label = getOwn(LABELS, field) ?? field
    const change = changes.find((one) => one.field === field)
    // Erasure makes both values of a change to personal data the same.
    if (field === ERASURE_FIELD || (change && isDeepStrictEqual(change.from, change.to))) {
      return describeAs(label, 'erased')
    }
    const from = formatValue(before, field, format)
    const to = formatValue(after, field, format)
    const isText = field === 'notes' || isLong(from) || isLong(to)
    return { field: label, from, to, isText, description: null }
  }

  // Entries contain only the changed fields, so start with the current order and go back.
  let after = order
  return history.map((entry, index) => {
    const { changes } = entry
    const previous = Object.fromEntries(changes.map(({ field, from }) => [field, from]))
    const before: Order = { ...after, ...previous }
    const fields = new Set(changes.map(({ field }) => toDisplayField(field)))
    const views = [...fields].map((field) => buildChange(field, before, after, changes))
    after = before
    return {
      ...entry,
      dateTime: format.dateTime(entry.at),
      isFirst: index === history.length - 1,
      changes: views.sort((a, b) => Number(a.isText) - Number(b.isText)),
    }
  })
}

export type EntryView = ReturnType<typeof buildHistoryView>[number]
