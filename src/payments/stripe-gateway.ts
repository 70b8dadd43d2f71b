import { randomUUID } from 'node:crypto'
import type { Stripe } from 'stripe'
import { isErased } from '../orders/erase-order.js'
import type { Order } from '../orders/order.js'
import { isDisputed, type Payment, type PaymentState } from './payment.js'
import { fromStripeAmount, toStripeAmount } from './stripe-amount.js'

/** Keys and webhook secrets, even if Stripe masks them with asterisks. */
const SECRETS = /\b(?:sk|rk|pk|whsec)_[\w*]+/g

/**
 * Stripe did not respond or failed, or it rejected the request for a reason that can pass, such as
 * a rate limit or a wrong key. The request may have had an effect.
 */
export class StripeUnavailableError extends Error {
  override readonly name = 'StripeUnavailableError'

  constructor(
    message: string,
    /** Stripe failed (5xx) and repeats its response to requests with the same idempotency key */
    readonly isRepeated = false,
  ) {
    super(message)
  }
}

/** Stripe rejected a request permanently. */
export class StripeRefusedError extends Error {
  override readonly name = 'StripeRefusedError'
}

interface Properties {
  type?: unknown
  code?: unknown
  statusCode?: unknown
  requestId?: unknown
  headers?: Partial<Record<string, string>>
}

/** Whether an error is Stripe's saved response to an earlier request with the same key. */
const isReplay = (error: unknown): boolean =>
  (error as Properties).headers?.['idempotent-replayed'] === 'true'

/** Not final, because a retry can succeed: authentication, permission, conflict, rate limit. */
const PASSING_STATUSES = [401, 403, 409, 429]

/**
 * Converts an error from the Stripe library. The new message contains Stripe's error type and code,
 * but no secrets.
 */
function toStripeError(error: unknown): StripeUnavailableError | StripeRefusedError {
  const { type, code, statusCode, requestId } = error as Properties
  const text = error instanceof Error ? error.message : 'unknown error'
  const details = [type, code, statusCode, requestId].filter(
    (detail) => typeof detail === 'string' || typeof detail === 'number',
  )
  const message = `${text.replace(SECRETS, '[secret]')} (${details.join(', ')})`
  const status = typeof statusCode === 'number' ? statusCode : 0
  return status >= 400 && status < 500 && !PASSING_STATUSES.includes(status)
    ? new StripeRefusedError(message)
    : new StripeUnavailableError(message, status >= 500)
}

export type SessionParams = Stripe.Checkout.SessionCreateParams

/** A Checkout session and what was paid through it, as Stripe reports it now. */
export interface StripeSession {
  id: string
  /** Where the guest pays, while the session is open */
  url: string | null
  state: Exclude<PaymentState, 'creating'>
  /** The amount received; before that, the amount requested; in minor units (ISO 4217) */
  amountMinor: number
  currency: string
  intentId: string | null
  refundedMinor: number
  /** Stripe's status of a dispute that is not won, or of the latest one */
  dispute: string | null
}

/** The subject of a Stripe event. */
export interface StripeEvent {
  id: string
  type: string
  sessionId: string | null
  intentId: string | null
  /** ID of our payment, in the metadata of a session */
  paymentId: string | null
}

interface StripeSettings {
  secretKey: string
  webhookSecret: string
  /** Origin of the API */
  apiUrl: string
}

/** The name of our payment's ID in Stripe's metadata. */
export const PAYMENT_METADATA = 'clearwake_payment'

/** A guest may wait for two attempts. */
const TIMEOUT_MS = 5_000
const MAX_RETRIES = 1
/** Maximum difference between the clock and the time in a signature. */
const TOLERANCE_SECONDS = 300

function getState(
  { status, payment_status }: Stripe.Checkout.Session,
  intent: Stripe.PaymentIntent | null,
): StripeSession['state'] {
  if (status === 'open') return 'open'
  if (status === 'expired') return 'expired'
  if (payment_status !== 'unpaid') return 'paid'
  // The payment method takes days. If the bank refuses, Stripe asks for another method.
  const hasFailed = intent?.status === 'requires_payment_method' || intent?.status === 'canceled'
  return hasFailed ? 'failed' : 'processing'
}

/**
 * Whether the times of a signature are numbers, and none is in the future. Stripe's library checks
 * neither.
 */
const isTimely = (signature: string): boolean =>
  signature
    .split(',')
    .map((part) => part.split('='))
    .every(
      ([name, value = '']) =>
        name !== 't' || Number.parseInt(value, 10) <= Date.now() / 1000 + TOLERANCE_SECONDS,
    )

const getIntentId = (intent: string | { id: string } | null | undefined): string | null =>
  typeof intent === 'string' ? intent : (intent?.id ?? null)

/** Reads the IDs in an event. Their place depends on the event type and on Stripe's API version. */
function getEventReferences(event: Stripe.Event): Omit<StripeEvent, 'id' | 'type'> {
  const subject = event.data.object as {
    id?: string
    object?: string
    payment_intent?: string | { id: string } | null
    metadata?: Record<string, string> | null
  }
  const isSession = subject.object === 'checkout.session'
  return {
    sessionId: isSession ? (subject.id ?? null) : null,
    intentId: getIntentId(subject.payment_intent),
    paymentId: isSession ? (subject.metadata?.[PAYMENT_METADATA] ?? null) : null,
  }
}

/**
 * Calls Stripe. Methods that send requests throw StripeUnavailableError or StripeRefusedError. The
 * library is loaded only when it is needed.
 */
export async function createStripeGateway({ secretKey, webhookSecret, apiUrl }: StripeSettings) {
  const { default: Stripe } = await import('stripe')
  const { protocol, hostname, port } = new URL(apiUrl)
  const isHttps = protocol === 'https:'
  const stripe = new Stripe(secretKey, {
    host: hostname,
    port: port === '' ? (isHttps ? 443 : 80) : Number(port),
    protocol: isHttps ? 'https' : 'http',
    timeout: TIMEOUT_MS,
    maxNetworkRetries: MAX_RETRIES,
    telemetry: false,
  })

  async function call<T>(request: () => Promise<T>): Promise<T> {
    try {
      return await request()
    } catch (error) {
      throw toStripeError(error)
    }
  }

  async function toSession(
    session: Stripe.Checkout.Session,
    options: Stripe.RequestOptions = {},
  ): Promise<StripeSession> {
    const { payment_intent } = session
    const intent = typeof payment_intent === 'string' ? null : payment_intent
    const charge =
      typeof intent?.latest_charge === 'string' ? null : (intent?.latest_charge ?? null)
    const state = getState(session, intent)
    const received =
      state === 'paid' && intent !== null
        ? fromStripeAmount(intent.amount_received, intent.currency)
        : fromStripeAmount(session.amount_total ?? 0, session.currency ?? '')
    const refunded =
      charge === null ? 0 : fromStripeAmount(charge.amount_refunded, charge.currency).amountMinor
    const disputes =
      charge?.disputed && intent !== null
        ? (await stripe.disputes.list({ payment_intent: intent.id }, options)).data
        : []
    const dispute = disputes.find(({ status }) => isDisputed({ dispute: status })) ?? disputes[0]
    return {
      id: session.id,
      url: session.url,
      state,
      ...received,
      intentId: getIntentId(payment_intent),
      refundedMinor: refunded,
      dispute: dispute?.status ?? null,
    }
  }

  return {
    /** Creates a session; a repeated request with the same key returns the same session. */
    createSession: (params: SessionParams, idempotencyKey: string): Promise<StripeSession> =>
      call(async () =>
        toSession(await stripe.checkout.sessions.create(params, { idempotencyKey })),
      ),

    /** @param isQuick whether to try only once, with a short timeout */
    readSession: (id: string, isQuick = false): Promise<StripeSession> =>
      call(async () => {
        const expand = ['payment_intent.latest_charge']
        const options = isQuick ? { timeout: TIMEOUT_MS / 2, maxNetworkRetries: 0 } : {}
        const session = await stripe.checkout.sessions.retrieve(id, { expand }, options)
        return toSession(session, options)
      }),

    /** Throws StripeRefusedError if the session is not open. */
    expireSession: (id: string): Promise<void> =>
      call(async () => {
        await stripe.checkout.sessions.expire(id)
      }),

    /** Returns the ID of the session of a payment intent; `null` if it has none. */
    findSessionId: (intentId: string): Promise<string | null> =>
      call(async () => {
        const found = await stripe.checkout.sessions.list({ payment_intent: intentId, limit: 1 })
        return found.data[0]?.id ?? null
      }),

    /**
     * Refunds all that is left of a payment. Stripe never refunds more than that, so a failure that
     * Stripe only repeats, for a day, is tried again with another key.
     *
     * @param amount in Stripe's minor units
     */
    refund: (intentId: string, amount: number, idempotencyKey: string): Promise<void> =>
      call(async () => {
        const create = (key: string) =>
          stripe.refunds.create({ payment_intent: intentId, amount }, { idempotencyKey: key })
        await create(idempotencyKey).catch(async (error: unknown) => {
          if (!isReplay(error)) throw error
          await create(`${idempotencyKey}-${randomUUID()}`)
        })
      }),

    /**
     * Returns what a webhook is about; `null` if the signature is invalid, too old or from the
     * future.
     */
    readEvent(body: Buffer, signature: string): StripeEvent | null {
      if (!isTimely(signature)) return null
      try {
        const event = stripe.webhooks.constructEvent(
          body,
          signature,
          webhookSecret,
          TOLERANCE_SECONDS,
        )
        return { id: event.id, type: event.type, ...getEventReferences(event) }
      } catch {
        return null
      }
    },
  }
}

export type StripeGateway = Awaited<ReturnType<typeof createStripeGateway>>

/** Stripe refuses sessions with addresses that it does not support, such as `å@example.com`. */
const SUPPORTED_EMAIL = /^[\w.+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}$/i

interface Line {
  name: string
  amountMinor: number
}

/**
 * Returns the lines of the receipt: the carbon credits and the service fee. If they do not add up to
 * the amount, returns a single line. The lines name no mass, because it can change while the guest
 * pays.
 */
function getLines({ checkout, orderNumber }: Order, { amountMinor }: Payment): Line[] {
  if (checkout !== null) {
    const { offsetMinor, serviceFeeMinor } = checkout
    const offset = { name: `Carbon credits, order ${orderNumber}`, amountMinor: offsetMinor }
    if (offsetMinor === amountMinor) return [offset]
    if (offsetMinor + serviceFeeMinor === amountMinor) {
      return [offset, { name: 'Service fee', amountMinor: serviceFeeMinor }]
    }
  }
  return [{ name: `Order ${orderNumber}`, amountMinor }]
}

/**
 * Builds the Checkout session of a payment; `null` if Stripe cannot charge its amount exactly. The
 * email address is the only text in the session that the guest typed.
 *
 * @param orderUrl the guest's order page
 */
export function buildSessionParams(
  order: Order,
  payment: Payment,
  orderUrl: string,
): SessionParams | null {
  const { currency } = payment
  const total = toStripeAmount(payment.amountMinor, currency)
  if (total === null) return null
  const lines = getLines(order, payment).map(({ name, amountMinor }) => ({
    name,
    amount: toStripeAmount(amountMinor, currency),
  }))
  // The parts may be more precise than the amounts that Stripe charges.
  const isExact = lines.every(({ amount }) => amount !== null && amount > 0)
  const charged = isExact ? lines : [{ name: `Order ${order.orderNumber}`, amount: total }]
  const metadata = { [PAYMENT_METADATA]: payment.id }
  return {
    mode: 'payment',
    submit_type: 'pay',
    client_reference_id: order.orderNumber,
    ...(SUPPORTED_EMAIL.test(order.customerEmail) &&
      !isErased(order) && { customer_email: order.customerEmail }),
    line_items: charged.map(({ name, amount }) => ({
      quantity: 1,
      price_data: {
        currency: currency.toLowerCase(),
        unit_amount: amount ?? 0,
        product_data: { name },
      },
    })),
    // The guest pays the quoted amount in the quoted currency.
    adaptive_pricing: { enabled: false },
    metadata,
    payment_intent_data: { description: `Order ${order.orderNumber}`, metadata },
    success_url: `${orderUrl}?payment=done`,
    cancel_url: `${orderUrl}?payment=stopped`,
  }
}
