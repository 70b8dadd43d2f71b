import {
  DEFAULT_CURRENCY,
  type Amount,
  type OffsetOrder,
  type Portfolio,
} from '../../provider/offset-order.js'
import { truncateText } from '../../provider/truncate-text.js'
import type { ProviderOrderRef } from '../../order-store/order-store.js'
import type { Order, HistoryEntry } from '../../orders/order.js'
import { toAmount, isSameTons, findDifferences } from '../../fulfilment/verify-response.js'
import {
  getPurchase,
  findConfirmedAttempt,
  isOpen,
  canBePlaced,
  findLatestAttempt,
  type FulfilmentAttempt,
} from '../../fulfilment/attempt.js'
import { getTons, type Fulfilment } from '../../fulfilment/fulfilment.js'
import type { Formatters } from '../formatters.js'
import { buildContextUrl, type ListContext } from './list-context.js'

/** What has just become of a wish about the order source. */
export interface ProviderNotice {
  title: string
  text: string
  /** Other orders that it is about */
  links?: { href: string; text: string }[]
}

/** Another order with the same id at the order source. */
export type SharedOrder = Pick<ProviderOrderRef, 'id' | 'orderNumber'>

interface Shown {
  order: Order
  history: HistoryEntry[]
  place: ListContext
  figures: Formatters
  placing: Fulfilment | null
  sharers: readonly SharedOrder[]
  wasNotThere?: boolean
  wasNotListed?: boolean
  sourceNotice?: ProviderNotice
}

export const formatDifference = (words: readonly string[]): string =>
  new Intl.ListFormat('en').format(words)

/** Of orders with one id, all but one are not what was bought under it. */
function sharing(sharers: readonly SharedOrder[], place: ListContext): ProviderNotice[] {
  if (sharers.length === 0) return []
  const numbers = sharers.map(({ orderNumber }) => orderNumber)
  return [
    {
      title: `${formatDifference(numbers)} ${numbers.length === 1 ? 'has' : 'have'} the same id there`,
      text: `It was bought for one order. Look at the order source for which one, then mend the id of the other${numbers.length === 1 ? '' : 's'}.`,
      links: sharers.map(({ id, orderNumber }) => ({
        href: buildContextUrl(place, `/admin/orders/${id}`),
        text: orderNumber,
      })),
    },
  ]
}

/** What nobody has confirmed of what was bought for an order; empty where all is well. */
export function buildWarnings(order: Order, history: HistoryEntry[], figures: Formatters) {
  const step = findLatestAttempt(history)
  if (step?.state !== 'placed') return []
  const warnings: ProviderNotice[] = []
  const { orderSourceId: id = step.reference } = step
  const agreed = findConfirmedAttempt(history, step.reference)
  const differences = agreed === null ? [] : findDifferences(agreed, step)
  const bought = ({ tons, amountMinor, currency }: FulfilmentAttempt) =>
    `${figures.exact(tons)} t for ${figures.money(amountMinor, currency)}`
  if (agreed !== null && differences.length > 0) {
    warnings.push({
      title: `Not as it was confirmed: ${formatDifference(differences)}`,
      text: `Confirmed: ${bought(agreed)}. The order source took ${bought(step)}, as ${id}. Ask those who run it.`,
    })
  }
  if (order.orderSourceId !== null && order.orderSourceId !== id) {
    warnings.push({
      title: `It was bought as ${id}, which is not the id of this order`,
      text: `The order has ${order.orderSourceId}: look at the order source which of them is right, and whether it was bought twice.`,
    })
  }
  return warnings
}

/** How an order stands with the order source, and what can be done about it. */
export function buildFulfilmentView(shown: Shown) {
  const { order, history, place, figures, placing, sharers } = shown
  const { wasNotThere = false, wasNotListed = false, sourceNotice } = shown
  const path = `/admin/orders/${order.id}`
  const placement = findLatestAttempt(history)
  const moment = (at: string) => `${figures.date(at)}, ${figures.time(at)}`
  const url = (rest: string, extra = {}) =>
    buildContextUrl(place, `${path}/${rest}`, { group: 'provider', ...extra })
  const canAsk = placing !== null
  const view = {
    id: order.orderSourceId,
    version: order.version,
    record: canAsk && order.orderSourceId !== null ? url('source-record') : null,
    place: canAsk && canBePlaced(order, placement) ? url('placement') : null,
    open: null,
    refusal: null,
    notice: sourceNotice ?? null,
    warnings: [...buildWarnings(order, history, figures), ...sharing(sharers, place)],
  }
  if (placement === null) return view
  if (placement.state === 'refused' && view.place !== null) {
    const { reason = 'it was not ordered', status = null, sentAt: at, by } = placement
    return { ...view, refusal: { reason, status, at, when: moment(at), by } }
  }
  if (!isOpen(order, placement)) return view
  const mayLastMs = placing?.mayLastMs(placement) ?? 0
  const bought = getPurchase(order, placement)
  const mayBeOnItsWay = bought === null && mayLastMs > 0
  const mayBeReleased =
    canAsk && (bought !== null || ((wasNotThere || wasNotListed) && !mayBeOnItsWay))
  return {
    ...view,
    open: {
      /** Its answer may still come by itself */
      isUnderWay: placement.state === 'sent' && mayBeOnItsWay,
      at: placement.sentAt,
      when: moment(placement.sentAt),
      by: placement.by,
      tons: figures.exact(placement.tons),
      price: figures.money(placement.amountMinor, placement.currency),
      portfolio: placement.portfolioName,
      reference: placement.reference,
      progress: url('placement/progress'),
      look: canAsk ? url('placement/look') : null,
      edit: buildContextUrl(place, `${path}/edit`, { group: 'provider' }),
      lookedAt: wasNotThere ? figures.time(new Date().toISOString()) : null,
      notBefore:
        mayBeOnItsWay && (wasNotThere || wasNotListed)
          ? figures.time(new Date(Date.now() + mayLastMs + 60_000).toISOString())
          : null,
      bought,
      release: mayBeReleased
        ? url('placement/release', wasNotListed ? { unlisted: '1' } : {})
        : null,
    },
  }
}

/** As much of a note is shown. */
const MOST_OF_NOTE = 200

/** Orders of ours that a note names, though not the one that it should. */
function othersIn(note: string, { orderNumber }: Order): string[] {
  const named = new Set(note.match(/\bCW-\d{6,}\b/g))
  return named.has(orderNumber) || note.includes(orderNumber) ? [] : [...named].slice(0, 3)
}

interface Row {
  label: string
  inText: string
  ours: string | null
  theirs: string | null
  /** What our value is, where its label does not say it */
  meaning: string | null
  differs: boolean
  /** What there is to say of the difference, where that is not plain */
  mark?: string
  /** Text that takes more room than a column has */
  isLong?: boolean
}

/** An order beside what the order source has of it. */
export function buildProviderRecordView(
  order: Order,
  history: HistoryEntry[],
  theirs: OffsetOrder,
  portfolios: readonly Portfolio[],
  figures: Formatters,
) {
  const latest = findLatestAttempt(history)
  const portfolioNames = new Map(portfolios.map(({ id, name }) => [id, name] as const))
  const usualCurrency =
    portfolios.find(({ id }) => id === theirs.portfolioId)?.pricePerTon?.currency ??
    DEFAULT_CURRENCY
  // What was agreed there says more than what the customer pays us.
  const agreed =
    latest?.orderSourceId === order.orderSourceId
      ? findConfirmedAttempt(history, latest.reference)
      : null
  const nameOf = (id: number | null) =>
    id === null ? null : (portfolioNames.get(id) ?? `No. ${id}`)
  const moment = (at: string | null | undefined) => {
    if (at === null || at === undefined) return null
    return Number.isNaN(Date.parse(at)) ? at : `${figures.date(at)}, ${figures.time(at)}`
  }
  const [tons, ourAmount] = [getTons(order), agreed ?? order]
  const usual = agreed?.currency ?? usualCurrency
  const theirAmount = theirs.amount && toAmount(theirs.amount, usual)
  const money = ({ amountMinor, currency }: Amount) => figures.money(amountMinor, currency)
  const isOther = theirs.id !== order.orderSourceId
  const isChargedOtherwise =
    agreed !== null &&
    latest !== null &&
    findDifferences({ ...agreed, tons: latest.tons }, latest).length > 0
  const others = othersIn(theirs.note ?? '', order)
  const rows: Row[] = [
    {
      label: 'Id',
      inText: 'id',
      ours: isOther ? order.orderSourceId : null,
      theirs: isOther ? theirs.id : null,
      meaning: null,
      differs: isOther,
    },
    {
      label: 'CO₂e',
      inText: 'CO₂e',
      ours: `${figures.exact(tons)} t`,
      theirs: `${figures.exact(theirs.tons)} t`,
      meaning: null,
      differs: !isSameTons(tons, theirs.tons),
    },
    {
      label: 'Amount',
      inText: 'amount',
      ours: figures.money(ourAmount.amountMinor, ourAmount.currency),
      theirs: theirAmount && money(theirAmount),
      meaning: agreed ? 'as confirmed' : 'what the customer pays',
      differs:
        theirAmount !== null &&
        (theirAmount.amountMinor !== ourAmount.amountMinor ||
          theirAmount.currency !== ourAmount.currency),
    },
    {
      label: 'Charged',
      inText: 'amount charged',
      ours: isChargedOtherwise ? money(agreed) : null,
      theirs: isChargedOtherwise ? money(latest) : null,
      meaning: 'as confirmed',
      differs: isChargedOtherwise,
    },
    {
      label: 'Portfolio',
      inText: 'portfolio',
      ours: agreed?.portfolioName ?? null,
      theirs: nameOf(theirs.portfolioId),
      meaning: null,
      differs:
        agreed !== null && theirs.portfolioId !== null && agreed.portfolioId !== theirs.portfolioId,
    },
    {
      label: 'Placed',
      inText: 'time',
      ours: agreed && moment(agreed.sentAt),
      theirs: moment(theirs.createdAt),
      meaning: null,
      differs: false,
    },
    {
      label: 'Note',
      inText: 'note',
      isLong: true,
      ...(others.length > 0 ? { mark: `names ${formatDifference(others)}` } : {}),
      ours: agreed
        ? `${order.orderNumber} ${agreed.reference}`
        : others.length > 0
          ? order.orderNumber
          : null,
      theirs: theirs.note && truncateText(theirs.note, MOST_OF_NOTE),
      meaning: null,
      differs:
        others.length > 0 ||
        (agreed !== null && theirs.note !== null && !theirs.note.includes(agreed.reference)),
    },
  ]
  const differing = rows.filter(({ differs }) => differs).map(({ inText }) => inText)
  return {
    rows: rows.filter(({ ours, theirs }) => ours !== null || theirs !== null),
    agrees: differing.length === 0,
    verdict:
      differing.length === 0
        ? 'Agrees with this order'
        : `Differs in ${formatDifference(differing)}`,
  }
}

const MOST_OF_NAME = 120
const MOST_OF_DESCRIPTION = 300

/** A portfolio to choose, with what an order would cost in it. */
export function buildPortfolioView(
  { id, name, description, pricePerTon, projects }: Portfolio,
  price: Amount | null,
  figures: Formatters,
) {
  const money = ({ amountMinor, currency }: Amount) => figures.money(amountMinor, currency)
  return {
    id,
    name: truncateText(name, MOST_OF_NAME),
    about: truncateText(
      description ?? projects.map((project) => project.name).join(', '),
      MOST_OF_DESCRIPTION,
    ),
    price: price && money(price),
    perTon: pricePerTon && money(pricePerTon),
  }
}
