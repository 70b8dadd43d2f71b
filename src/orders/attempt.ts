import { calculatePrice, type Amount, type Charge } from './amount.js'
import { createNextVersion, type ChangeOutcome } from './change-order.js'
import type { OrderStatus } from './order-status.js'
import type { FieldChange, HistoryEntry, Order, OrderChanges } from './order.js'

const TONS_TOLERANCE = 1e-6

/** Tonnes of CO2e and their price. */
export interface Purchase extends Amount {
  tons: number
  /** Missing if it is not known */
  portfolioId?: number
}

/** A property of a purchase that differs. Pages show these names. */
export type Difference = 'CO₂e' | 'currency' | 'amount' | 'portfolio'

export const isSameTons = (a: number, b: number): boolean => Math.abs(a - b) <= TONS_TOLERANCE

/** Adds the currency to a charge if the provider leaves it out. */
export const toAmount = ({ amountMinor, currency }: Charge, defaultCurrency: string): Amount => ({
  amountMinor,
  currency: currency ?? defaultCurrency,
})

/**
 * Finds the differences between the provider's response and the request.
 *
 * @param expected leave out `amountMinor` to accept any price
 */
export function findDifferences(
  expected: Pick<Purchase, 'tons' | 'currency'> & Partial<Purchase>,
  actual: Purchase,
): Difference[] {
  const { amountMinor = actual.amountMinor, portfolioId = actual.portfolioId } = expected
  const differences: Record<Difference, boolean> = {
    'CO₂e': !isSameTons(expected.tons, actual.tons),
    currency: expected.currency !== actual.currency,
    amount: amountMinor !== actual.amountMinor,
    portfolio: (actual.portfolioId ?? portfolioId) !== portfolioId,
  }
  return (Object.keys(differences) as Difference[]).filter((name) => differences[name])
}

/** Maximum rounding error of a price per tonne, in minor units. */
const MAX_ROUNDING_ERROR = 0.5

/** Whether a price is the price per tonne times the tonnes, within the rounding error. */
export function isProportionate(
  { tons, amountMinor, currency }: Purchase,
  perTon: Amount,
): boolean {
  const expected = calculatePrice(tons, perTon)
  return (
    expected.currency === currency &&
    Math.abs(expected.amountMinor - amountMinor) <= 1 + tons * MAX_ROUNDING_ERROR
  )
}

/**
 * Progress of an attempt to place an order with the provider:
 * - `sent`: recorded before the request was sent; the outcome is not yet known
 * - `unanswered`: sent, but no response was received
 * - `placed`: accepted by the provider
 * - `refused`: not ordered, for a known reason
 * - `released`: an administrator allowed another attempt
 *
 * Stored data: never rename a state.
 */
type AttemptState = 'sent' | 'unanswered' | 'placed' | 'refused' | 'released'

/** An attempt to place an order with the provider, as recorded in the order's history. */
export interface FulfilmentAttempt {
  state: AttemptState
  /** Random; part of the provider's note, which identifies the order there */
  reference: string
  /** User who started it */
  by: string
  /** Start, ISO 8601 */
  sentAt: string
  portfolioId: number
  portfolioName: string
  /** Requested tonnes of CO2e; once placed, the tonnes that the provider confirmed */
  tons: number
  /** Confirmed price; once placed, the price charged */
  amountMinor: number
  currency: string
  /** The provider order ID, once placed */
  orderSourceId?: string
  /** Why it was not ordered, or why another attempt was allowed */
  reason?: string
  /** HTTP status of the refusal */
  status?: number
}

type History = readonly { changes: readonly FieldChange[] }[]

/** The field name of attempts in the history; orders have no such field. Stored data. */
export const ATTEMPT_FIELD = 'placement'

const isAttempt = (value: unknown): value is FulfilmentAttempt =>
  typeof value === 'object' && value !== null && 'state' in value && 'reference' in value

/** Returns all recorded steps of attempts, newest first. */
export const listAttempts = (history: History): FulfilmentAttempt[] =>
  history.flatMap(({ changes }) => {
    const value = changes.find(({ field }) => field === ATTEMPT_FIELD)?.to
    return isAttempt(value) ? [value] : []
  })

/** The fields of the latest attempt that order lists need. Stored data. */
export interface AttemptSummary {
  state: AttemptState
  orderSourceId: string | null
  tons: number
  /** Whether what the provider placed differs from what was confirmed: 1 or 0 */
  differs: 0 | 1
}

/** Summarises the attempt that a change recorded; `null` if it recorded none. */
export function summarizeAttempt(changes: readonly FieldChange[]): AttemptSummary | null {
  const change = changes.find(({ field }) => field === ATTEMPT_FIELD)
  const attempt = change?.to
  if (!isAttempt(attempt)) return null
  const { state, orderSourceId = null, tons } = attempt
  const differs =
    state === 'placed' &&
    isAttempt(change?.from) &&
    findDifferences(change.from, attempt).length > 0
  return { state, orderSourceId, tons, differs: differs ? 1 : 0 }
}

/**
 * Returns the latest attempt; `null` if there was none.
 *
 * @param history newest first
 */
export const findLatestAttempt = (history: History): FulfilmentAttempt | null =>
  listAttempts(history)[0] ?? null

/**
 * Returns the attempts that were refused, each as it was refused.
 *
 * @param history newest first
 */
export const listRefusedAttempts = (history: History): FulfilmentAttempt[] =>
  listAttempts(history).filter(({ state }) => state === 'refused')

/** Returns an attempt as it was confirmed; `null` if it is not in the history. */
export const findConfirmedAttempt = (
  history: History,
  reference: string,
): FulfilmentAttempt | null =>
  listAttempts(history).find(
    (attempt) => attempt.reference === reference && attempt.state === 'sent',
  ) ?? null

/** Whether Clearwake placed an order with the provider, under its current ID there. */
export const isPlaced = (
  { orderSourceId }: Pick<Order, 'orderSourceId'>,
  attempt: FulfilmentAttempt | null,
): boolean =>
  attempt?.state === 'placed' && orderSourceId !== null && attempt.orderSourceId === orderSourceId

/** Whether an order was placed under an ID, and another attempt has been allowed since. */
export function isReset(history: History, orderSourceId: string): boolean {
  const attempts = listAttempts(history)
  const placed = attempts.find((attempt) => attempt.orderSourceId === orderSourceId)
  return attempts.some(
    ({ state, reference }) => state === 'released' && reference === placed?.reference,
  )
}

const MAY_BE_PLACED: readonly AttemptState[] = ['sent', 'unanswered', 'placed']

/**
 * Whether an order has, or may have, been placed although it has no provider order ID. The order is
 * not sent again until the attempt is resolved.
 */
export const isUnresolved = (
  order: Order,
  attempt: FulfilmentAttempt | null,
): attempt is FulfilmentAttempt =>
  order.orderSourceId === null && attempt !== null && MAY_BE_PLACED.includes(attempt.state)

/** Returns the provider order ID that an order has lost; `null` if it has lost none. */
export const getLostProviderId = (
  order: Order,
  attempt: FulfilmentAttempt | null,
): string | null =>
  isUnresolved(order, attempt) && attempt.state === 'placed'
    ? (attempt.orderSourceId ?? attempt.reference)
    : null

const FULFILLABLE: readonly OrderStatus[] = ['pending', 'paid', 'processing']

/** Whether an order can be sent to the provider. */
export const canBeFulfilled = (order: Order, attempt: FulfilmentAttempt | null): boolean =>
  order.orderSourceId === null &&
  order.co2eKg > 0 &&
  FULFILLABLE.includes(order.status) &&
  !isUnresolved(order, attempt)

/**
 * Whether an attempt is a valid next step. `placed` is always valid, but it is not recorded again
 * while the order has a provider order ID.
 */
function isNextStep(
  order: Order,
  previous: FulfilmentAttempt | null,
  { state, reference }: FulfilmentAttempt,
): boolean {
  if (state === 'sent') return canBeFulfilled(order, previous)
  const isSame = previous?.reference === reference
  if (state === 'placed') {
    return !(isSame && previous.state === 'placed') || order.orderSourceId === null
  }
  return isSame && isUnresolved(order, previous) && previous.state !== state
}

/**
 * Records the next step of an attempt in an order's history. If the attempt was placed and the
 * order has no provider order ID, stores the ID and moves a paid order to processing. An invalid
 * step changes nothing. Pure.
 *
 * @param history newest first
 * @param now ISO 8601
 */
export function applyAttempt(
  order: Order,
  history: History,
  attempt: FulfilmentAttempt,
  now: string,
): ChangeOutcome {
  const previous = findLatestAttempt(history)
  if (!isNextStep(order, previous, attempt)) return { outcome: 'unchanged', order }
  const orderSourceId = attempt.state === 'placed' ? (attempt.orderSourceId ?? null) : null
  const changes: OrderChanges =
    order.orderSourceId === null && orderSourceId !== null
      ? { orderSourceId, ...(order.status === 'paid' ? { status: 'processing' } : {}) }
      : {}
  return createNextVersion(order, changes, now, {
    extraChanges: [{ field: ATTEMPT_FIELD, from: previous, to: attempt }],
  })
}

/** Whether a guest may cancel an order: it is unpaid, and its credits are not bought, as far as known. */
export const canGuestCancel = (order: Order, history: readonly HistoryEntry[]): boolean =>
  order.status === 'pending' &&
  order.orderSourceId === null &&
  !isUnresolved(order, findLatestAttempt(history))
