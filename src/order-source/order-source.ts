import { TypeCompiler } from '@sinclair/typebox/compiler'
import { messageOf, orderOf, placedOf, portfoliosOf } from './answer-reading.js'
import { OrderSourceFailure } from './failure.js'
import { jsonCalls, type JsonAnswer, type JsonCall } from './json-calls.js'
import type { NewOffsetOrder, OffsetOrder, PlacedOffsetOrder, Portfolio } from './offset-order.js'
import {
  KnownOffsetOrder,
  OffsetOrderList,
  PlacedAnswer,
  PortfolioList,
} from './order-source-schemas.js'
import type { Upstream } from './upstream.js'

export type OrderSourceAnswer<T> =
  | { outcome: 'answered'; value: T }
  /** Nothing was done; `message` is what the order source says, one line, maybe empty. */
  | { outcome: 'refused'; status: number; message: string }
  /** Nothing was done: it cannot be reached, or gives no answer that can be used. */
  | { outcome: 'unreachable' }
  /** It was told, and nobody knows what it did: look before telling it again. */
  | { outcome: 'unknown' }

/** The order source, as the rest of the service uses it. What goes wrong there never throws. */
export interface OffsetOrderSource {
  /** Within this time each call has ended, ms */
  readonly longestCallMs: number
  portfolios(): Promise<OrderSourceAnswer<Portfolio[]>>
  offsetOrders(): Promise<OrderSourceAnswer<OffsetOrder[]>>
  /** The value is `null` where there is no such order. */
  offsetOrder(id: string): Promise<OrderSourceAnswer<OffsetOrder | null>>
  /**
   * Spends money, unless it is a dry run, and is sent once. The key goes along for order sources
   * that know such keys; do not count on it.
   */
  placeOffsetOrder(
    order: NewOffsetOrder,
    idempotencyKey: string,
  ): Promise<OrderSourceAnswer<PlacedOffsetOrder>>
}

/** Reads the body of an answer; `null` where it is not what was asked for. */
type Reader<T> = (body: unknown) => T | null

const portfolioList = TypeCompiler.Compile(PortfolioList)
const readPortfolios: Reader<Portfolio[]> = (body) =>
  portfolioList.Check(body) ? portfoliosOf(body) : null

const offsetOrderList = TypeCompiler.Compile(OffsetOrderList)
const readOrders: Reader<OffsetOrder[]> = (body) =>
  offsetOrderList.Check(body) ? body.offsetOrders.map(orderOf) : null

const knownOffsetOrder = TypeCompiler.Compile(KnownOffsetOrder)
const readOrder: Reader<OffsetOrder> = (body) =>
  knownOffsetOrder.Check(body) ? orderOf(body) : null

const placedAnswer = TypeCompiler.Compile(PlacedAnswer)
const readPlaced =
  (dryRun: boolean): Reader<PlacedOffsetOrder> =>
  (body) =>
    placedAnswer.Check(body) && (dryRun || body.id !== null) ? placedOf(body) : null

/** What an id looks like that can stand in an address as it is. */
const PLAIN_ID = /^(?!\.+$)[\w.~-]{1,120}$/

/**
 * Statuses that leave open whether something was done: time-outs between there and here, and what
 * clashes with a call that is under way.
 */
const UNCLEAR = [408, 409, 425, 499]

/** The order source behind an upstream, asked through the same connections as everything else. */
export function offsetOrderSource(upstream: Upstream): OffsetOrderSource {
  const call = jsonCalls(upstream)

  function outcomeOf<T>(
    { status, body }: JsonAnswer,
    read: Reader<T>,
    spends: boolean,
  ): OrderSourceAnswer<T> | null {
    if (status >= 400 && status < 500 && !(spends && UNCLEAR.includes(status))) {
      return { outcome: 'refused', status, message: messageOf(body, upstream.token) }
    }
    const value = status >= 200 && status < 300 ? read(body) : null
    return value === null ? null : { outcome: 'answered', value }
  }

  /** @param spends whether it does something, so that it matters what became of it */
  async function ask<T>(
    request: JsonCall,
    read: Reader<T>,
    spends = false,
  ): Promise<OrderSourceAnswer<T>> {
    try {
      const outcome = outcomeOf(await call(request), read, spends)
      return outcome ?? { outcome: spends ? 'unknown' : 'unreachable' }
    } catch (error) {
      if (!(error instanceof OrderSourceFailure)) throw error
      if (error.kind === 'token refused') {
        return { outcome: 'refused', status: 401, message: error.message }
      }
      return { outcome: spends && error.wasSent ? 'unknown' : 'unreachable' }
    }
  }

  const offsetOrders = () => ask({ method: 'GET', path: '/offset-orders' }, readOrders)

  return {
    longestCallMs: upstream.longestCallMs,
    portfolios: () => ask({ method: 'GET', path: '/portfolios' }, readPortfolios),
    offsetOrders,
    async offsetOrder(id) {
      if (PLAIN_ID.test(id)) {
        const one = await ask({ method: 'GET', path: `/offset-orders/${id}` }, readOrder)
        if (one.outcome !== 'refused' || one.status !== 404) return one
      }
      // Not every order source has an address for each order.
      const all = await offsetOrders()
      return all.outcome === 'answered'
        ? { ...all, value: all.value.find((order) => order.id === id) ?? null }
        : all
    },
    placeOffsetOrder: (order, idempotencyKey) =>
      ask(
        {
          method: 'POST',
          path: '/offset-orders',
          body: order,
          headers: { 'idempotency-key': idempotencyKey },
        },
        readPlaced(order.dryRun),
        !order.dryRun,
      ),
  }
}
