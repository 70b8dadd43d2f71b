import type { OffsetOrder } from '../../order-source/offset-order.js'
import type { HistoryEntry } from '../book/order-records.js'
import type { Order } from '../order.js'
import { isOpen, mayBePlaced, placementIn } from '../placement/placement.js'
import { tonsOf, type Placing } from '../placement/placing.js'
import type { Figures } from './figures.js'
import { placeUrl, type ListPlace } from './list-place.js'

/** What has just become of a wish about the order source. */
export interface SourceNotice {
  title: string
  text: string
}

interface Shown {
  order: Order
  history: HistoryEntry[]
  place: ListPlace
  figures: Figures
  placing: Placing | null
  wasNotThere?: boolean
  sourceNotice?: SourceNotice
}

/** How an order stands with the order source, and what can be done about it. */
export function placementView(shown: Shown) {
  const { order, history, place, figures, placing, wasNotThere = false, sourceNotice } = shown
  const path = `/admin/orders/${order.id}`
  const placement = placementIn(history)
  const moment = (at: string) => `${figures.date(at)}, ${figures.time(at)}`
  const url = (rest: string) => placeUrl(place, `${path}/${rest}`, { group: 'source' })
  const canAsk = placing !== null
  const view = {
    id: order.orderSourceId,
    version: order.version,
    record: canAsk && order.orderSourceId !== null ? url('source-record') : null,
    place: canAsk && mayBePlaced(order, placement) ? url('placement') : null,
    open: null,
    refusal: null,
    notice: sourceNotice ?? null,
  }
  if (placement === null) return view
  if (placement.state === 'refused' && view.place !== null) {
    return { ...view, refusal: placement.reason ?? null }
  }
  if (!isOpen(order, placement)) return view
  const overAt = placing === null ? 0 : placing.overAt(placement)
  const mayBeOnItsWay = Date.now() < overAt
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
      edit: placeUrl(place, `${path}/edit`, { group: 'source' }),
      lookedAt: wasNotThere ? figures.time(new Date().toISOString()) : null,
      notBefore: mayBeOnItsWay ? figures.time(new Date(overAt + 60_000).toISOString()) : null,
      release: wasNotThere && !mayBeOnItsWay ? url('placement/release') : null,
    },
  }
}

interface Row {
  label: string
  inText: string
  ours: string | null
  theirs: string | null
  /** What our value is, where its label does not say it */
  meaning: string | null
  differs: boolean
}

/** Sums of tons that differ by less are the same. */
const LEAST_TONS = 1e-6

/** An order beside what the order source has of it. */
export function recordView(
  order: Order,
  history: HistoryEntry[],
  theirs: OffsetOrder,
  portfolioNames: ReadonlyMap<number, string>,
  figures: Figures,
) {
  const latest = placementIn(history)
  // What was agreed there says more than what the customer pays us.
  const agreed = latest?.orderSourceId === theirs.id ? confirmedIn(history, latest.reference) : null
  const nameOf = (id: number | null) =>
    id === null ? null : (portfolioNames.get(id) ?? `No. ${id}`)
  const moment = (at: string | null | undefined) => {
    if (at === null || at === undefined) return null
    return Number.isNaN(Date.parse(at)) ? at : `${figures.date(at)}, ${figures.time(at)}`
  }
  const [tons, ourAmount] = [tonsOf(order), agreed ?? order]
  const rows: Row[] = [
    {
      label: 'CO₂e',
      inText: 'CO₂e',
      ours: `${figures.exact(tons)} t`,
      theirs: `${figures.exact(theirs.tons)} t`,
      meaning: null,
      differs: Math.abs(tons - theirs.tons) > LEAST_TONS,
    },
    {
      label: 'Amount',
      inText: 'amount',
      ours: figures.money(ourAmount.amountMinor, ourAmount.currency),
      theirs: theirs.amount && figures.money(theirs.amount.amountMinor, theirs.amount.currency),
      meaning: agreed ? 'as confirmed' : 'what the customer pays',
      differs:
        theirs.amount !== null &&
        (theirs.amount.amountMinor !== ourAmount.amountMinor ||
          theirs.amount.currency !== ourAmount.currency),
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
      ours: agreed && `${order.orderNumber} ${agreed.reference}`,
      theirs: theirs.note,
      meaning: null,
      differs: agreed !== null && theirs.note !== null && !theirs.note.includes(agreed.reference),
    },
  ]
  const differing = rows.filter(({ differs }) => differs).map(({ inText }) => inText)
  return {
    rows: rows.filter(({ ours, theirs }) => ours !== null || theirs !== null),
    agrees: differing.length === 0,
    verdict:
      differing.length === 0
        ? 'Agrees with this order'
        : `Differs in ${new Intl.ListFormat('en').format(differing)}`,
  }
}

/** What was confirmed of an attempt when it was sent. */
const confirmedIn = (history: HistoryEntry[], reference: string) =>
  history
    .map((entry) => placementIn([entry]))
    .find((step) => step?.reference === reference && step.state === 'sent') ?? null
