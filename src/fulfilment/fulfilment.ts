import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  DEFAULT_CURRENCY,
  type Amount,
  type OffsetOrder,
  type OffsetOrders,
  type Portfolio,
} from '../provider/offset-order.js'
import type { OffsetOrderSource, OrderSourceResult } from '../provider/client.js'
import type { ProviderOrderRef } from '../order-store/sqlite/provider-order-ids.js'
import type { ChangeContext, OrderDatabase } from '../order-store/sqlite/sqlite-order-store.js'
import type { Order } from '../orders/order.js'
import { toAmount, findDifferences, type Purchase, type Difference } from './verify-response.js'
import {
  getPurchase,
  isOpen,
  canBePlaced,
  findLatestAttempt,
  type FulfilmentAttempt,
} from './attempt.js'

/** What an administrator has seen and agreed to. */
export interface ConfirmedQuote {
  /** Version of the order that was seen */
  version: number
  portfolioId: number
  price: Amount
  by: string
}

/** Why the order source was of no use, and nothing was done. */
export type NoResponse =
  | { outcome: 'refused'; status: number; message: string }
  | { outcome: 'unreachable' }
  | { outcome: 'invalid_response' }

/** What an order costs with a portfolio, or why nobody may agree to that. */
export type Quote =
  | NoResponse
  | { outcome: 'quoted'; portfolio: Portfolio; price: Amount }
  | { outcome: 'no such portfolio' }
  /** The price that was told is for something else. */
  | { outcome: 'not as asked'; differences: Difference[]; asked: Purchase; answered: Purchase }
  /** Only the price was asked for, and an id came back: it may have been bought. */
  | { outcome: 'bought unasked'; id: string }

export type PlaceResult =
  | Exclude<Quote, { outcome: 'quoted' }>
  /** As it was confirmed, and under the id that the order has, or not: its history tells. */
  | { outcome: 'placed'; order: Order; id: string }
  /** It was placed, but the order here could not be changed: it is found again by looking for it. */
  | { outcome: 'placed, not noted'; id: string }
  /** It was sent, and nobody knows what came of it. */
  | { outcome: 'unknown' }
  | { outcome: 'price changed'; price: Amount }
  /** It is placed already, is being placed, or is not to be placed. */
  | { outcome: 'not to be placed'; order: Order }
  | { outcome: 'stale'; order: Order }
  | { outcome: 'no such order' }

export type CheckResult =
  | NoResponse
  | { outcome: 'found'; order: Order }
  | { outcome: 'not there' }
  /** It is not in what was listed, nor are these; so that need not be all there is. */
  | { outcome: 'not listed'; lacks: Pick<ProviderOrderRef, 'orderNumber' | 'orderSourceId'>[] }
  /** There is nothing to look for any more. */
  | { outcome: 'settled'; order: Order }
  | { outcome: 'no such order' }

/** Whether the order source has answered, but what it says does not tell what is there. */
export const isInconclusive = ({ outcome }: { outcome: string }): boolean =>
  outcome === 'not listed' || outcome === 'invalid_response' || outcome === 'refused'

export type ResetResult =
  | CheckResult
  | { outcome: 'released'; order: Order }
  /** It may still be on its way there. */
  | { outcome: 'too early' }

/** Noting an attempt may take as long; what takes longer is not sent any more. */
const MOST_NOTING_MS = 15_000
const REFERENCE_BYTES = 8
/** How often it is tried to note what came of an attempt, and how long after one another. */
const NOTE_AFTER_MS = [0, 200, 1_000, 3_000]

/** Of what a list lacks, so many are looked for. */
const MOST_LACKING = 4

const ANY_VERSION = null

/** Tons of CO2e of an order. */
export const getTons = ({ co2eKg }: Order): number => Number((co2eKg / 1000).toPrecision(15))

/** An answer that is one; else why there is none, nothing having been done. */
const valueOf = <T>(answer: OrderSourceResult<T>): { value: T } | NoResponse => {
  if (answer.outcome === 'ok') return answer
  return answer.outcome === 'unknown' ? { outcome: 'unreachable' } : answer
}

const isSamePrice = (a: Amount, b: Amount): boolean =>
  a.amountMinor === b.amountMinor && a.currency === b.currency

/** What an administrator knows for certain who lets go of an attempt. */
export interface Certainty {
  /** The id that it was bought under */
  bought?: string | null
  /** The reference that was looked for at the order source by hand, and is not there */
  lookedFor?: string | null
}

/** Places orders at the order source: each once, whoever asks for it how often, and whatever breaks. */
export function createFulfilment(book: OrderDatabase, source: OffsetOrderSource) {
  /** When this process began what it sends, by reference, as `performance.now` tells it. */
  const begun = new Map<string, number>()
  /** Ids of what was placed and could not be noted, by the number of the order. */
  const notNoted = new Map<string, string>()

  const latest = (id: string) => {
    // In this order: should the order change in between, its version here is the older one.
    const order = book.get(id)
    return order && { order, placement: findLatestAttempt(book.history(id) ?? []) }
  }

  /** Notes what came of an attempt; `false` where that could not be written. */
  async function note(id: string, step: FulfilmentAttempt): Promise<boolean> {
    for (const milliseconds of NOTE_AFTER_MS) {
      await sleep(milliseconds)
      try {
        await book.notePlacement(id, step, { by: step.by, ifVersions: ANY_VERSION })
        return true
      } catch {
        // Whatever it is, all that helps is to try again.
      }
    }
    return false
  }

  const withdraw = (
    id: string,
    attempt: FulfilmentAttempt,
    why: Pick<FulfilmentAttempt, 'reason' | 'status'>,
  ) => note(id, { ...attempt, state: 'refused', ...why })

  const offsetOrderOf = ({ orderNumber }: Order, placement: FulfilmentAttempt) => ({
    tons: placement.tons,
    portfolioId: placement.portfolioId,
    note: `${orderNumber} ${placement.reference}`,
  })

  /** Sends what has been noted. */
  async function send(order: Order, attempt: FulfilmentAttempt): Promise<PlaceResult> {
    const { id } = order
    if (elapsedSince(attempt) > MOST_NOTING_MS) {
      await withdraw(id, attempt, {
        reason: 'it took too long to be noted here, and was not sent',
      })
      return { outcome: 'unreachable' }
    }
    const answer = await source.placeOrder(
      { ...offsetOrderOf(order, attempt), dryRun: false },
      attempt.reference,
    )
    switch (answer.outcome) {
      case 'ok': {
        const { id: orderSourceId, amount, tons } = answer.value
        if (orderSourceId === null) return { outcome: 'unknown' }
        const charged = toAmount(amount, attempt.currency)
        const placed: FulfilmentAttempt = {
          ...attempt,
          ...charged,
          tons,
          state: 'placed',
          orderSourceId,
        }
        const isNoted = await note(id, placed)
        if (!isNoted) notNoted.set(orderSourceId, order.orderNumber)
        const now = isNoted ? book.get(id) : null
        return now === null
          ? { outcome: 'placed, not noted', id: orderSourceId }
          : { outcome: 'placed', order: now, id: orderSourceId }
      }
      case 'refused': {
        const { status, message } = answer
        await withdraw(id, attempt, {
          reason: message || 'the order source gave no reason',
          status,
        })
        return answer
      }
      case 'unreachable':
      case 'invalid_response':
        await withdraw(id, attempt, { reason: 'the order source could not be reached' })
        return answer
      case 'unknown':
        await note(id, { ...attempt, state: 'unanswered' })
        return answer
    }
  }

  async function price(order: Order, portfolioId: number): Promise<Quote> {
    const offered = valueOf(await source.listPortfolios())
    if (!('value' in offered)) return offered
    const portfolio = offered.value.find(({ id }) => id === portfolioId)
    if (portfolio === undefined) return { outcome: 'no such portfolio' }
    const tons = getTons(order)
    const priced = valueOf(
      await source.placeOrder(
        { tons, portfolioId, note: order.orderNumber, dryRun: true },
        randomBytes(REFERENCE_BYTES).toString('hex'),
      ),
    )
    if (!('value' in priced)) return priced
    const { id, amount } = priced.value
    if (id !== null) return { outcome: 'bought unasked', id }
    const usual = portfolio.pricePerTon?.currency ?? amount.currency ?? DEFAULT_CURRENCY
    const answered = { ...toAmount(amount, usual), tons: priced.value.tons }
    const asked = { amountMinor: answered.amountMinor, currency: usual, tons }
    const differences = findDifferences(asked, answered)
    return differences.length > 0
      ? { outcome: 'not as asked', differences, asked, answered }
      : { outcome: 'quoted', portfolio, price: toAmount(amount, usual) }
  }

  /** What a list lacks of what is known to be there; `null` where nothing tells that it is not whole. */
  function lackedBy({ orders, isComplete }: OffsetOrders) {
    const ids = orders.map(({ id }) => id)
    // By hand, by another process or by a later look, it has been noted after all.
    for (const id of notNoted.keys()) if (book.withOrderSourceId(id).length > 0) notNoted.delete(id)
    const lacks = [
      ...[...notNoted]
        .filter(([orderSourceId]) => !ids.includes(orderSourceId))
        .map(([orderSourceId, orderNumber]) => ({ orderNumber, orderSourceId })),
      ...book.offsetOrdersBesides(ids, MOST_LACKING),
    ]
    return isComplete && lacks.length === 0 ? null : lacks
  }

  async function look(id: string, by: string): Promise<CheckResult> {
    const known = latest(id)
    if (known === null) return { outcome: 'no such order' }
    const { order, placement } = known
    if (!isOpen(order, placement)) return { outcome: 'settled', order }
    const read = valueOf(await source.listOrders())
    if (!('value' in read)) return read
    const found = read.value.orders.find((other) => other.note?.includes(placement.reference))
    if (found === undefined) {
      const lacks = lackedBy(read.value)
      return lacks === null ? { outcome: 'not there' } : { outcome: 'not listed', lacks }
    }
    const { tons } = found
    const charged = found.amount === null ? {} : toAmount(found.amount, placement.currency)
    await book.notePlacement(
      id,
      { ...placement, ...charged, tons, state: 'placed', orderSourceId: found.id },
      { by, ifVersions: ANY_VERSION },
    )
    return { outcome: 'found', order: book.get(id) ?? order }
  }

  /** Time since an attempt began, ms: of another process's, as far as the clock tells. */
  function elapsedSince({ reference, sentAt }: FulfilmentAttempt): number {
    const since = begun.get(reference)
    return since === undefined ? Date.now() - Date.parse(sentAt) : performance.now() - since
  }

  /** How long an attempt may still be on its way to the order source, ms; 0 where it cannot be. */
  const mayLastMs = (attempt: FulfilmentAttempt): number =>
    Math.max(0, MOST_NOTING_MS + source.maxRequestMs - elapsedSince(attempt))

  return {
    mayLastMs,
    /** What can be offset with. */
    portfolios: async (): Promise<{ value: Portfolio[] } | NoResponse> =>
      valueOf(await source.listPortfolios()),
    /** What an order costs with a portfolio: nothing is ordered. */
    price,
    /** An order of the order source; `null` where there is no such. */
    recordOf: async (orderSourceId: string): Promise<{ value: OffsetOrder | null } | NoResponse> =>
      valueOf(await source.getOrder(orderSourceId)),

    /**
     * Places an order as it was confirmed. The attempt is noted in the order first, by a change
     * that only one can make of a version, so of several at once one sends; and whatever happens
     * afterwards, it is known that it may have been sent.
     */
    async place(id: string, { version, portfolioId, price: confirmed, by }: ConfirmedQuote) {
      const known = latest(id)
      if (known === null) return { outcome: 'no such order' } satisfies PlaceResult
      const { order } = known
      if (!canBePlaced(order, known.placement)) {
        return { outcome: 'not to be placed', order } satisfies PlaceResult
      }
      if (order.version !== version) return { outcome: 'stale', order } satisfies PlaceResult
      const quote = await price(order, portfolioId)
      if (quote.outcome !== 'quoted') return quote
      if (!isSamePrice(quote.price, confirmed)) {
        return { outcome: 'price changed', price: quote.price } satisfies PlaceResult
      }
      const attempt: FulfilmentAttempt = {
        state: 'sent',
        reference: randomBytes(REFERENCE_BYTES).toString('hex'),
        by,
        sentAt: new Date().toISOString(),
        portfolioId,
        portfolioName: quote.portfolio.name,
        tons: getTons(order),
        ...quote.price,
      }
      begun.set(attempt.reference, performance.now())
      const context: ChangeContext = { by, ifVersions: [version] }
      const noted = await book.notePlacement(id, attempt, context)
      switch (noted.outcome) {
        case 'changed':
          return send(noted.order, attempt)
        case 'unchanged':
        case 'no such move':
          return { outcome: 'not to be placed', order: noted.order } satisfies PlaceResult
        default: {
          // Most likely somebody else is placing it.
          const now = latest(id)
          return now !== null && !canBePlaced(now.order, now.placement)
            ? ({ outcome: 'not to be placed', order: now.order } satisfies PlaceResult)
            : noted
        }
      }
    },

    /** Looks whether an order that may have been placed is there, and if so notes its id. */
    look,

    /**
     * Lets go of an attempt, so that the order can be placed again: of one that is not there even
     * now, of one that an administrator has looked for there, where the list tells nothing, or of
     * one that is known to have been bought under the id that is given.
     */
    async release(
      id: string,
      by: string,
      { bought = null, lookedFor = null }: Certainty = {},
    ): Promise<ResetResult> {
      const known = latest(id)
      const attempt = known?.placement
      const isGivenUp =
        bought !== null && known && getPurchase(known.order, known.placement) === bought
      let isVouchedFor = false
      if (!isGivenUp || attempt == null) {
        const looked = await look(id, by)
        if (attempt == null || attempt.state === 'placed') return looked
        isVouchedFor = isInconclusive(looked) && lookedFor === attempt.reference
        const mayArrive = mayLastMs(attempt) > 0
        if (looked.outcome !== 'not there' && (mayArrive || !isVouchedFor)) return looked
        if (mayArrive) return { outcome: 'too early' }
      }
      const released = await book.notePlacement(
        id,
        {
          ...attempt,
          state: 'released',
          ...(isVouchedFor ? { reason: 'it was looked for there by hand' } : {}),
        },
        { by, ifVersions: ANY_VERSION },
      )
      if (released.outcome === 'no such order') return released
      return released.outcome === 'changed'
        ? { outcome: 'released', order: released.order }
        : { outcome: 'settled', order: released.order }
    },
  }
}

export type Fulfilment = ReturnType<typeof createFulfilment>
