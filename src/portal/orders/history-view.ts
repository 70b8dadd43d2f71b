import type { Formatters } from '../formatters.js'
import { STATUS_LABELS } from '../labels.js'
import type { FieldChange, Order, HistoryEntry } from '../../orders/order.js'
import { findDifferences } from '../../fulfilment/verify-response.js'
import {
  findConfirmedAttempt,
  ATTEMPT_FIELD,
  findLatestAttempt,
  type FulfilmentAttempt,
} from '../../fulfilment/attempt.js'

/** A change in words; without `from` something was added, without `to` it was taken away. */
export interface ChangeView {
  field: string
  from: string | null
  to: string | null
  /** A text of some length rather than a value */
  isText: boolean
  /** What happened, where it is no change from one value to another */
  said: string | null
}

export interface EntryView {
  at: string
  date: string
  time: string
  by: string
  version: number
  isFirst: boolean
  changes: ChangeView[]
}

const LABELS: Record<string, string> = {
  status: 'Status',
  customerName: 'Customer',
  customerEmail: 'E-mail',
  vesselName: 'Vessel',
  imoNumber: 'IMO number',
  co2eKg: 'CO₂e',
  amountMinor: 'Amount',
  orderSourceId: 'Order source id',
  notes: 'Notes',
  fulfilledAt: 'Time of fulfilment',
  cancelledAt: 'Time of cancellation',
}

/** Fields told as one, of which one or both may have changed. */
const TOLD_AS: Record<string, string> = { currency: 'amountMinor' }

function inWords(order: Order, field: string, figures: Formatters): string | null {
  switch (field) {
    case 'status':
      return STATUS_LABELS[order.status]
    case 'co2eKg':
      return `${figures.exactKilograms(order.co2eKg)} kg`
    case 'amountMinor':
      return figures.money(order.amountMinor, order.currency)
    case 'fulfilledAt':
    case 'cancelledAt': {
      const moment = order[field]
      return moment === null ? null : `${figures.date(moment)}, ${figures.time(moment)}`
    }
    default: {
      const value = order[field as keyof Order]
      if (value === null || value === '') return null
      return typeof value === 'object' ? JSON.stringify(value) : String(value)
    }
  }
}

/** How placing an order at the order source went on. */
function placementInWords(
  step: FulfilmentAttempt,
  agreed: FulfilmentAttempt | null,
  figures: Formatters,
): string {
  const { state, portfolioName, reference, reason } = step
  const price = figures.money(step.amountMinor, step.currency)
  const differences = agreed === null ? [] : findDifferences(agreed, step)
  const otherwise =
    differences.length === 0 ? '' : ` (${figures.exact(step.tons)} t): not as confirmed`
  switch (state) {
    case 'sent':
      return `to be placed with ${portfolioName}: ${figures.exact(step.tons)} t for ${price} (reference ${reference})`
    case 'placed':
      return `placed as ${step.orderSourceId ?? reference}, for ${price}${otherwise}`
    case 'unanswered':
      return 'no answer: it may have been placed, or not'
    case 'refused':
      return reason ? `not placed: ${reason}` : 'not placed: it was refused'
    case 'released':
      return `released (reference ${reference})${reason ? `, as ${reason}` : ''}: it may be placed again`
  }
}

const LONG = 60

function changeViews(
  changes: FieldChange[],
  before: Order,
  after: Order,
  history: HistoryEntry[],
  figures: Formatters,
): ChangeView[] {
  const fields = new Set(changes.map(({ field }) => TOLD_AS[field] ?? field))
  const step = findLatestAttempt([{ changes }])
  const views = [...fields].map((field): ChangeView => {
    if (field === ATTEMPT_FIELD && step !== null) {
      const said = placementInWords(step, findConfirmedAttempt(history, step.reference), figures)
      return { field: 'Order source', from: null, to: null, isText: false, said }
    }
    const [from, to] = [inWords(before, field, figures), inWords(after, field, figures)]
    const isText = field === 'notes' || (from ?? '').length > LONG || (to ?? '').length > LONG
    return { field: LABELS[field] ?? field, from, to, isText, said: null }
  })
  return views.sort((a, b) => Number(a.isText) - Number(b.isText))
}

/**
 * What became of an order in words, newest first.
 *
 * @param order as it is after the newest entry: what it was before follows from the changes
 */
export function buildHistoryView(
  order: Order,
  history: HistoryEntry[],
  figures: Formatters,
): EntryView[] {
  let after = order
  return history.map((entry, index) => {
    const undone = Object.fromEntries(entry.changes.map(({ field, from }) => [field, from]))
    const before: Order = { ...after, ...undone }
    const changes = changeViews(entry.changes, before, after, history, figures)
    after = before
    return {
      at: entry.at,
      date: figures.date(entry.at),
      time: figures.time(entry.at),
      by: entry.by,
      version: entry.version,
      isFirst: index === history.length - 1,
      changes,
    }
  })
}
