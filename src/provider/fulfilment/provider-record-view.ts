import { findConfirmedAttempt, findLatestAttempt } from '../../orders/attempt.js'
import { getTons } from './provider-requests.js'
import { findDifferences, isSameTons, toAmount } from '../../orders/verify-response.js'
import { findOrderNumbers } from '../../orders/order-number.js'
import type { HistoryEntry, Order } from '../../orders/order.js'
import { DEFAULT_CURRENCY, type Amount } from '../../orders/amount.js'
import type { OffsetOrder, Portfolio } from '../offset-order.js'
import { truncateText } from '../../core/formatting/truncate-text.js'
import type { Formatters } from '../../core/formatting/formatters.js'
import { joinWithAnd } from '../../orders/labels.js'

const MAX_NOTE_LENGTH = 200
const MAX_NAMED_ORDERS = 3

/** Order numbers in the provider's note; empty if the note names this order. */
function findForeignOrderNumbers(note: string, { orderNumber }: Order): string[] {
  return note.includes(orderNumber) ? [] : findOrderNumbers(note).slice(0, MAX_NAMED_ORDERS)
}

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

  function buildIdRow(): Row {
    const differs = record.id !== order.orderSourceId
    return {
      label: 'ID',
      name: 'ID',
      ours: differs ? order.orderSourceId : null,
      theirs: differs ? record.id : null,
      differs,
    }
  }
  function buildTonsRow(): Row {
    const tons = getTons(order)
    return {
      label: 'CO₂e',
      name: 'CO₂e',
      ours: `${format.exact(tons)} t`,
      theirs: `${format.exact(record.tons)} t`,
      differs: !isSameTons(tons, record.tons),
    }
  }
  function buildAmountRow(): Row {
    // The confirmed price is comparable; the customer's price includes a margin.
    const ours = confirmed ?? order
    const portfolio = portfolios.find(({ id }) => id === record.portfolioId)
    const currency = confirmed?.currency ?? portfolio?.pricePerTon?.currency ?? DEFAULT_CURRENCY
    const theirs = record.amount && toAmount(record.amount, currency)
    return {
      label: 'Amount',
      name: 'amount',
      ours: formatAmount(ours),
      theirs: theirs && formatAmount(theirs),
      oursHint: confirmed ? 'as confirmed' : 'customer price',
      differs:
        theirs !== null &&
        (theirs.amountMinor !== ours.amountMinor || theirs.currency !== ours.currency),
    }
  }
  function buildChargeRow(): Row {
    const differs =
      confirmed !== null &&
      attempt !== null &&
      findDifferences({ ...confirmed, tons: attempt.tons }, attempt).length > 0
    return {
      label: 'Charged',
      name: 'amount charged',
      ours: differs ? formatAmount(confirmed) : null,
      theirs: differs ? formatAmount(attempt) : null,
      oursHint: 'as confirmed',
      differs,
    }
  }
  function buildPortfolioRow(): Row {
    const { portfolioId } = record
    const portfolio = portfolios.find(({ id }) => id === portfolioId)
    return {
      label: 'Portfolio',
      name: 'portfolio',
      ours: confirmed?.portfolioName ?? null,
      theirs: portfolioId === null ? null : (portfolio?.name ?? `No. ${portfolioId}`),
      differs: confirmed !== null && portfolioId !== null && confirmed.portfolioId !== portfolioId,
    }
  }
  function buildNoteRow(): Row {
    const { note } = record
    const foreign = findForeignOrderNumbers(note ?? '', order)
    const expected = confirmed ? `${order.orderNumber} ${confirmed.reference}` : order.orderNumber
    const lacksReference =
      confirmed !== null && note !== null && !note.includes(confirmed.reference)
    return {
      label: 'Note',
      name: 'note',
      isLong: true,
      ...(foreign.length > 0 ? { mark: `names ${joinWithAnd(foreign)}` } : {}),
      ours: confirmed !== null || foreign.length > 0 ? expected : null,
      theirs: note && truncateText(note, MAX_NOTE_LENGTH),
      differs: foreign.length > 0 || lacksReference,
    }
  }

  const rows = [
    buildIdRow(),
    buildTonsRow(),
    buildAmountRow(),
    buildChargeRow(),
    buildPortfolioRow(),
    {
      label: 'Placed',
      name: 'time',
      ours: confirmed && formatTimestamp(confirmed.sentAt),
      theirs: formatTimestamp(record.createdAt ?? null),
      differs: false,
    },
    buildNoteRow(),
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
