import { randomBytes } from 'node:crypto'

/** An error in the format of Stripe's API. */
export class StripeApiError extends Error {
  constructor(
    readonly statusCode: number,
    message: string,
    readonly code: string | null = null,
    readonly type = 'invalid_request_error',
  ) {
    super(message)
  }
}

/** What a request for a session sets. */
interface SessionValues {
  amount_total: number
  currency: string
  client_reference_id: string | null
  customer_email: string | null
  metadata: Record<string, string>
  success_url: string
  cancel_url: string
}

export interface FakeSession extends SessionValues {
  id: string
  object: 'checkout.session'
  status: 'open' | 'complete' | 'expired'
  payment_status: 'unpaid' | 'paid'
  mode: 'payment'
  livemode: false
  created: number
  expires_at: number
  url: string | null
  payment_intent: string | null
}

interface FakeIntent {
  id: string
  object: 'payment_intent'
  status: 'processing' | 'requires_payment_method' | 'succeeded'
  amount: number
  amount_received: number
  currency: string
  metadata: Record<string, string>
  latest_charge: string | null
}

interface FakeCharge {
  id: string
  object: 'charge'
  amount: number
  amount_refunded: number
  refunded: boolean
  currency: string
  disputed: boolean
  payment_intent: string
  status: 'pending' | 'succeeded' | 'failed'
}

/** A refund, or a dispute. */
interface FakeClaim {
  id: string
  object: 'refund' | 'dispute'
  amount: number
  currency: string
  charge: string
  payment_intent: string
  status: string
}

/** How a payment is made; tests change the amount received. */
interface PayOptions {
  amount?: number
  currency?: string
  /** A method that takes days: `settle` sets its outcome */
  isAsync?: boolean
}

const DAY_SECONDS = 24 * 60 * 60
const createId = (prefix: string): string => `${prefix}_${randomBytes(12).toString('hex')}`
const getSeconds = (): number => Math.floor(Date.now() / 1000)

function find<T extends { id: string }>(items: readonly T[], id: string | null): T {
  const item = items.find((one) => one.id === id)
  if (item === undefined)
    throw new StripeApiError(404, `No such object: '${id}'`, 'resource_missing')
  return item
}

/**
 * The sessions, payments, refunds and disputes of a fake account, in memory.
 *
 * @param emit called with each event and its object
 */
export function createLedger(emit: (type: string, object: object) => void) {
  const sessions: FakeSession[] = []
  const intents: FakeIntent[] = []
  const charges: FakeCharge[] = []
  const refunds: FakeClaim[] = []
  const disputes: FakeClaim[] = []

  const getSession = (id: string): FakeSession => find(sessions, id)
  const getIntent = (id: string | null): FakeIntent => find(intents, id)
  const getCharge = (intentId: string): FakeCharge =>
    find(charges, getIntent(intentId).latest_charge)

  function succeed(session: FakeSession, intent: FakeIntent): void {
    const charge = getCharge(intent.id)
    session.payment_status = 'paid'
    intent.status = 'succeeded'
    intent.amount_received = intent.amount
    charge.status = 'succeeded'
  }

  return {
    sessions,
    intents,
    charges,
    refunds,
    disputes,
    getSession,
    getIntent,
    getCharge,

    createSession(values: SessionValues, getUrl: (id: string) => string): FakeSession {
      const id = createId('cs_test')
      const session: FakeSession = {
        ...values,
        id,
        object: 'checkout.session',
        status: 'open',
        payment_status: 'unpaid',
        mode: 'payment',
        livemode: false,
        created: getSeconds(),
        expires_at: getSeconds() + DAY_SECONDS,
        url: getUrl(id),
        payment_intent: null,
      }
      sessions.push(session)
      return session
    },

    /** Pays a session, as a guest does on its page. */
    pay(sessionId: string, { amount, currency, isAsync = false }: PayOptions = {}): FakeSession {
      const session = getSession(sessionId)
      if (session.status !== 'open') throw new StripeApiError(400, 'This session is not open.')
      session.amount_total = amount ?? session.amount_total
      session.currency = currency ?? session.currency
      const intent: FakeIntent = {
        id: createId('pi'),
        object: 'payment_intent',
        status: 'processing',
        amount: session.amount_total,
        amount_received: 0,
        currency: session.currency,
        metadata: session.metadata,
        latest_charge: createId('ch'),
      }
      intents.push(intent)
      charges.push({
        id: intent.latest_charge ?? '',
        object: 'charge',
        amount: intent.amount,
        amount_refunded: 0,
        refunded: false,
        currency: intent.currency,
        disputed: false,
        payment_intent: intent.id,
        status: 'pending',
      })
      Object.assign(session, { status: 'complete', url: null, payment_intent: intent.id })
      if (!isAsync) succeed(session, intent)
      emit('checkout.session.completed', session)
      return session
    },

    /** Settles a payment by a method that takes days. */
    settle(sessionId: string, isPaid: boolean): void {
      const session = getSession(sessionId)
      const intent = getIntent(session.payment_intent)
      if (isPaid) succeed(session, intent)
      else {
        intent.status = 'requires_payment_method'
        getCharge(intent.id).status = 'failed'
      }
      emit(`checkout.session.async_payment_${isPaid ? 'succeeded' : 'failed'}`, session)
    },

    expire(sessionId: string): FakeSession {
      const session = getSession(sessionId)
      if (session.status !== 'open') {
        throw new StripeApiError(
          400,
          `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${session.status}.`,
        )
      }
      Object.assign(session, { status: 'expired', url: null })
      emit('checkout.session.expired', session)
      return session
    },

    /** @param amount `null` refunds the remaining amount */
    refund(intentId: string, amount: number | null): FakeClaim {
      const intent = getIntent(intentId)
      const charge = getCharge(intentId)
      const left = charge.amount - charge.amount_refunded
      const refunded = amount ?? left
      if (charge.status !== 'succeeded') {
        throw new StripeApiError(400, 'This PaymentIntent does not have a successful charge.')
      }
      if (left === 0) {
        throw new StripeApiError(400, 'The charge has been refunded.', 'charge_already_refunded')
      }
      if (refunded > left || refunded <= 0) {
        throw new StripeApiError(400, `Refund amount (${refunded}) is greater than ${left}.`)
      }
      charge.amount_refunded += refunded
      charge.refunded = charge.amount_refunded === charge.amount
      const refund: FakeClaim = {
        id: createId('re'),
        object: 'refund',
        amount: refunded,
        currency: intent.currency,
        charge: charge.id,
        payment_intent: intent.id,
        status: 'succeeded',
      }
      refunds.push(refund)
      emit('charge.refunded', charge)
      return refund
    },

    /** Opens a dispute about a payment, or changes its status: `won` and `lost` close it. */
    dispute(intentId: string, status = 'needs_response'): void {
      const charge = getCharge(intentId)
      const known = disputes.find(({ charge: id }) => id === charge.id)
      const dispute: FakeClaim = known ?? {
        id: createId('dp'),
        object: 'dispute',
        amount: charge.amount,
        currency: charge.currency,
        charge: charge.id,
        payment_intent: intentId,
        status,
      }
      dispute.status = status
      charge.disputed = true
      if (known === undefined) disputes.push(dispute)
      const isClosed = status === 'won' || status === 'lost'
      emit(`charge.dispute.${isClosed ? 'closed' : 'created'}`, dispute)
    },
  }
}

export type StripeLedger = ReturnType<typeof createLedger>
