import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { lazy } from '../lazy.js'
import {
  isCompleteList,
  getErrorMessage,
  parseOffsetOrder,
  parsePlacedOrder,
  parsePortfolio,
} from './parse-response.js'
import { UpstreamFailure, type FailureKind } from './upstream-failure.js'
import { createJsonClient, type JsonResponse, type JsonRequest } from './json-client.js'
import type {
  NewOffsetOrder,
  OffsetOrder,
  OffsetOrders,
  PlacedOffsetOrder,
  Portfolio,
} from './offset-order.js'
import {
  KnownOffsetOrder,
  OffsetOrderList,
  PlacedOrderResponse,
  Portfolio as WirePortfolio,
  Project,
} from './schemas.js'
import type { Upstream } from './upstream.js'

export type OrderSourceResult<T> =
  | { outcome: 'answered'; value: T }
  /** Nothing was done; `message` is what the order source says, one line, maybe empty. */
  | { outcome: 'refused'; status: number; message: string }
  /** Nothing was done: it cannot be reached, or fails. */
  | { outcome: 'unreachable' }
  /** Nothing was done: it gave an answer that cannot be used. */
  | { outcome: 'unusable' }
  /** It was told, and nobody knows what it did: look before telling it again. */
  | { outcome: 'unknown' }

/** The order source, as the rest of the service uses it. What goes wrong there never throws. */
export interface OffsetOrderSource {
  /** Within this time each call has ended, ms */
  readonly longestCallMs: number
  portfolios(): Promise<OrderSourceResult<Portfolio[]>>
  offsetOrders(): Promise<OrderSourceResult<OffsetOrders>>
  /** The value is `null` where there is no such order. */
  offsetOrder(id: string): Promise<OrderSourceResult<OffsetOrder | null>>
  /**
   * Spends money, unless it is a dry run, and is sent once. The key goes along for order sources
   * that know such keys; do not count on it.
   */
  placeOffsetOrder(
    order: NewOffsetOrder,
    idempotencyKey: string,
  ): Promise<OrderSourceResult<PlacedOffsetOrder>>
}

/** Reads the body of an answer; `null` where it is not what was asked for. */
type Reader<T> = (body: unknown, link: string) => T | null

const MOST_ITEMS = 1_000

function guard<S extends TSchema>(schema: S) {
  const compiled = lazy(() => TypeCompiler.Compile(schema))
  return (value: unknown): value is Static<S> => compiled().Check(value)
}

const isAnyList = guard(Type.Array(Type.Unknown(), { maxItems: MOST_ITEMS }))
const isPortfolioList = guard(Type.Object({ portfolios: Type.Array(Type.Unknown()) }))
const isPortfolio = guard(Type.Omit(WirePortfolio, ['projects']))
const isProject = guard(Project)

/** A list of portfolios without what in it makes no sense; `null` where nothing of it does. */
const readPortfolios: Reader<Portfolio[]> = (body) => {
  if (!isPortfolioList(body) || !isAnyList(body.portfolios)) return null
  const usable = body.portfolios.filter(isPortfolio).map((given) => {
    const projects: unknown = 'projects' in given ? given.projects : []
    const known = isAnyList(projects) ? projects : []
    return parsePortfolio(given, known.filter(isProject))
  })
  return usable.length === 0 && body.portfolios.length > 0 ? null : usable
}

const isOffsetOrderList = guard(OffsetOrderList)
const readOrders: Reader<OffsetOrders> = (body, link) =>
  isOffsetOrderList(body)
    ? { orders: body.offsetOrders.map(parseOffsetOrder), isWhole: isCompleteList(body, link) }
    : null

const isKnownOffsetOrder = guard(KnownOffsetOrder)
const readOrder: Reader<OffsetOrder> = (body) =>
  isKnownOffsetOrder(body) ? parseOffsetOrder(body) : null

const isPlacedAnswer = guard(PlacedOrderResponse)
const readPlaced =
  (dryRun: boolean): Reader<PlacedOffsetOrder> =>
  (body) =>
    isPlacedAnswer(body) && (dryRun || body.id !== null) ? parsePlacedOrder(body) : null

/** What an id looks like that can stand in an address as it is. */
const PLAIN_ID = /^(?!\.+$)[\w.~-]{1,120}$/

/**
 * Statuses that say that nothing was ordered. Others of 400 and above leave it open: something
 * between there and here may have made them up after the order source was told.
 */
const REFUSALS = [400, 401, 402, 403, 422]

/** Failures of calls that were answered. */
const UNUSABLE: readonly FailureKind[] = ['unusable', 'too large']

/** The order source behind an upstream, asked through the same connections as everything else. */
export function createOffsetOrderSource(upstream: Upstream): OffsetOrderSource {
  const call = createJsonClient(upstream)

  function outcomeOf<T>(
    { status, body, link }: JsonResponse,
    read: Reader<T>,
    spends: boolean,
  ): OrderSourceResult<T> | null {
    if (status >= 400 && status < 500 && (!spends || REFUSALS.includes(status))) {
      return { outcome: 'refused', status, message: getErrorMessage(body) }
    }
    if (status >= 500) return { outcome: spends ? 'unknown' : 'unreachable' }
    const value = status >= 200 && status < 300 ? read(body, link) : null
    return value === null ? null : { outcome: 'answered', value }
  }

  /** @param spends whether it does something, so that it matters what became of it */
  async function ask<T>(
    request: JsonRequest,
    read: Reader<T>,
    spends = false,
  ): Promise<OrderSourceResult<T>> {
    try {
      const outcome = outcomeOf(await call(request), read, spends)
      return outcome ?? { outcome: spends ? 'unknown' : 'unusable' }
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      if (error.kind === 'token refused') {
        return { outcome: 'refused', status: 401, message: error.message }
      }
      if (spends && error.wasSent) return { outcome: 'unknown' }
      return { outcome: UNUSABLE.includes(error.kind) ? 'unusable' : 'unreachable' }
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
      if (all.outcome !== 'answered') return all
      const found = all.value.orders.find((order) => order.id === id) ?? null
      return found === null && !all.value.isWhole
        ? { outcome: 'unusable' }
        : { ...all, value: found }
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
