import type { Formatters } from '../../core/formatting/portal-formatters.js'
import { truncateText } from '../../core/formatting/text.js'
import { DEFAULT_CURRENCY, type Amount } from '../../orders/amount.js'
import {
  findConfirmedAttempt,
  findDifferences,
  findLatestAttempt,
  isSameTons,
  toAmount,
} from '../../orders/attempt.js'
import { joinWithAnd } from '../../orders/labels.js'
import { findOrderNumbers, type HistoryEntry, type Order } from '../../orders/order.js'
import type { OffsetOrder, Portfolio } from '../offset-order.js'
import { getTons } from './provider-requests.js'

const MAX_NOTE_LENGTH = 200
const MAX_NAMED_ORDERS = 3

interface Row {
  label: string
  /** The label inside a sentence */
  name: string
  ours: string | null
  theirs: string | null
  /** Explains our value if the label is ambiguous */
  oursHint?: string
  differs: boolean
  /** Describes the difference */
  mark?: string
  /** Long text, displayed across both columns */
  isLong?: boolean
}

/** Compares an order with the provider's record. */
export function buildProviderRecordView(
  order: Order,
  history: HistoryEntry[],
  record: OffsetOrder,
  portfolios: readonly Portfolio[],
  format: Formatters,
) {
  const attempt = findLatestAttempt(history)
  const confirmed =
    attempt?.orderSourceId === order.orderSourceId
      ? findConfirmedAttempt(history, attempt.reference)
      : null
  const formatAmount = ({ amountMinor, currency }: Amount) => format.money(amountMinor, currency)
  const formatTimestamp = (timestamp: string | null) =>
    timestamp === null || Number.isNaN(Date.parse(timestamp))
      ? timestamp
      : format.dateTime(timestamp)

  const isOtherId = record.id !== order.orderSourceId
  const tons = getTons(order)
  const portfolio = portfolios.find(({ id }) => id === record.portfolioId)
  // The confirmed price is comparable; the customer's price includes a margin.
  const price = confirmed ?? order
  const currency = confirmed?.currency ?? portfolio?.pricePerTon?.currency ?? DEFAULT_CURRENCY
  const amount = record.amount && toAmount(record.amount, currency)
  const isChargedOtherwise =
    confirmed !== null &&
    attempt !== null &&
    findDifferences({ ...confirmed, tons: attempt.tons }, attempt).length > 0
  const { note, portfolioId } = record
  const otherNumbers = note?.includes(order.orderNumber)
    ? []
    : findOrderNumbers(note ?? '').slice(0, MAX_NAMED_ORDERS)
  const expectedNote = confirmed ? `${order.orderNumber} ${confirmed.reference}` : order.orderNumber
  const lacksReference = confirmed !== null && note !== null && !note.includes(confirmed.reference)

  const rows: Row[] = [
    {
      label: 'ID',
      name: 'ID',
      ours: isOtherId ? order.orderSourceId : null,
      theirs: isOtherId ? record.id : null,
      differs: isOtherId,
    },
    {
      label: 'CO₂e',
      name: 'CO₂e',
      ours: `${format.exact(tons)} t`,
      theirs: `${format.exact(record.tons)} t`,
      differs: !isSameTons(tons, record.tons),
    },
    {
      label: 'Amount',
      name: 'amount',
      ours: formatAmount(price),
      theirs: amount && formatAmount(amount),
      oursHint: confirmed ? 'as confirmed' : 'customer price',
      differs:
        amount !== null &&
        (amount.amountMinor !== price.amountMinor || amount.currency !== price.currency),
    },
    {
      label: 'Charged',
      name: 'amount charged',
      ours: isChargedOtherwise ? formatAmount(confirmed) : null,
      theirs: isChargedOtherwise ? formatAmount(attempt) : null,
      oursHint: 'as confirmed',
      differs: isChargedOtherwise,
    },
    {
      label: 'Portfolio',
      name: 'portfolio',
      ours: confirmed?.portfolioName ?? null,
      theirs: portfolioId === null ? null : (portfolio?.name ?? `No. ${portfolioId}`),
      differs: confirmed !== null && portfolioId !== null && confirmed.portfolioId !== portfolioId,
    },
    {
      label: 'Placed',
      name: 'time',
      ours: confirmed && formatTimestamp(confirmed.sentAt),
      theirs: formatTimestamp(record.createdAt),
      differs: false,
    },
    {
      label: 'Note',
      name: 'note',
      isLong: true,
      ...(otherNumbers.length > 0 ? { mark: `names ${joinWithAnd(otherNumbers)}` } : {}),
      ours: confirmed !== null || otherNumbers.length > 0 ? expectedNote : null,
      theirs: note && truncateText(note, MAX_NOTE_LENGTH),
      differs: otherNumbers.length > 0 || lacksReference,
    },
  ]
  const differing = rows.filter(({ differs }) => differs).map(({ name }) => name)
  return {
    rows: rows.filter(({ ours, theirs }) => ours !== null || theirs !== null),
    matches: differing.length === 0,
    verdict:
      differing.length === 0
        ? 'Matches this order'
        : `Differs from this order: ${joinWithAnd(differing)}`,
  }
}
