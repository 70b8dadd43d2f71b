import type { HistoryEntry } from '../book/order-records.js'
import type { Figures } from './figures.js'
import { STATUS_NAMES } from './order-words.js'
import type { FieldChange, Order } from '../order.js'

/** A change in words; without `from` something was added, without `to` it was taken away. */
export interface ChangeView {
  field: string
  from: string | null
  to: string | null
  /** A text of some length rather than a value */
  isText: boolean
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

function inWords(order: Order, field: string, figures: Figures): string | null {
  switch (field) {
    case 'status':
      return STATUS_NAMES[order.status]
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

const LONG = 60

function changeViews(
  changes: FieldChange[],
  before: Order,
  after: Order,
  figures: Figures,
): ChangeView[] {
  const fields = new Set(changes.map(({ field }) => TOLD_AS[field] ?? field))
  const views = [...fields].map((field) => {
    const [from, to] = [inWords(before, field, figures), inWords(after, field, figures)]
    const isText = field === 'notes' || (from ?? '').length > LONG || (to ?? '').length > LONG
    return { field: LABELS[field] ?? field, from, to, isText }
  })
  return views.sort((a, b) => Number(a.isText) - Number(b.isText))
}

/**
 * What became of an order in words, newest first.
 *
 * @param order as it is after the newest entry: what it was before follows from the changes
 */
export function historyView(order: Order, history: HistoryEntry[], figures: Figures): EntryView[] {
  let after = order
  return history.map((entry, index) => {
    const undone = Object.fromEntries(entry.changes.map(({ field, from }) => [field, from]))
    const before: Order = { ...after, ...undone }
    const changes = changeViews(entry.changes, before, after, figures)
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
