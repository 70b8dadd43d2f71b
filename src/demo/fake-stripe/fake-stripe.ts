import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { timingSafeEqualText } from '../../core/config/secrets.js'
import { formatMoney } from '../../core/formatting/number-formatter.js'
import { fromStripeAmount } from '../../payments/stripe-amount.js'
import { createEventSender, type EventSender } from './event-sender.js'
import {
  createLedger,
  StripeApiError,
  type FakeSession,
  type StripeLedger,
} from './stripe-ledger.js'

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 26rem; margin: 0 auto; padding: 1.25rem; }
  h1 { font-size: 1.5rem; margin: 0.25rem 0 1.25rem; }
  p.note { border: 1px solid; border-radius: 6px; padding: 0.5rem 0.75rem; opacity: 0.8; }
  form { display: grid; gap: 0.75rem; }
  button, a.button { font: inherit; padding: 0.75rem; border-radius: 6px; text-align: center;
    border: 1px solid currentColor; background: none; color: inherit; text-decoration: none; }
  button:first-child { background: #2f4ecb; border-color: #2f4ecb; color: #fff; font-weight: 600; }
`

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const render = (title: string, content: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><title>${title}</title><style>${STYLE}</style></head><body><main>${content}</main></body></html>`

/** Renders the page where a guest pays. */
function renderCheckoutPage(session: FakeSession): string {
  if (session.status !== 'open') {
    return render(
      'Checkout',
      `<h1>This page has expired</h1><p>It can no longer be used to pay.</p><p><a href="${escapeHtml(session.success_url)}">Back to the shop</a></p>`,
    )
  }
  const { amountMinor, currency } = fromStripeAmount(session.amount_total, session.currency)
  const amount = formatMoney(amountMinor, currency)
  return render(
    'Checkout',
    `<p class="note">Fake Stripe: no money moves, and no card is needed.</p>
    <p>${escapeHtml(session.client_reference_id ?? '')}</p>
    <h1>${escapeHtml(amount)}</h1>
    <form method="post">
      <button name="action" value="pay">Pay ${escapeHtml(amount)}</button>
      <button name="action" value="transfer">Pay by bank transfer, which arrives after 10 seconds</button>
      <button name="action" value="refused">Pay by bank transfer, which the bank refuses</button>
      <a class="button" href="${escapeHtml(session.cancel_url)}">Cancel</a>
    </form>`,
  )
}

interface Parameters {
  [name: string]: string | Parameters | undefined
}

/** Parses a form with nested names, such as `line_items[0][quantity]=1`. */
function parseParameters(body: string): Parameters {
  const root: Parameters = Object.create(null) as Parameters
  for (const [name, value] of new URLSearchParams(body)) {
    const path = name.split('[').map((part) => part.replace(/\]$/, ''))
    const last = path.pop() ?? ''
    let parent = root
    for (const part of path) {
      const child = parent[part]
      const next = typeof child === 'object' ? child : (Object.create(null) as Parameters)
      parent[part] = next
      parent = next
    }
    parent[last] = value
  }
  return root
}

const getText = (parameters: Parameters | undefined, name: string): string | null => {
  const value = parameters?.[name]
  return typeof value === 'string' ? value : null
}

const getGroup = (parameters: Parameters | undefined, name: string): Parameters => {
  const value = parameters?.[name]
  return typeof value === 'object' ? value : {}
}

/** The values of a flat group, such as metadata. */
const toTexts = (group: Parameters): Record<string, string> =>
  Object.fromEntries(
    Object.entries(group).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  )

/**
 * Simulated failure of the API: an error status, no response, a closed connection, too little money
 * for a refund, or a session that stays open.
 */
type FakeStripeFault =
  | 400
  | 401
  | 429
  | 500
  | 'no_response'
  | 'connection_reset'
  | 'connection_reset_after'
  | 'no_funds'
  | 'no_expiry'

export interface FakeStripe {
  /** For STRIPE_API_URL and STRIPE_CHECKOUT_URL */
  url: string
  secretKey: string
  webhookSecret: string
  ledger: StripeLedger
  sender: EventSender
  /** Method and path of each API request, such as `POST /v1/checkout/sessions` */
  requests: string[]
  fault: FakeStripeFault | null
  /** Delay of every response of the API, ms */
  latencyMs: number
  close(): Promise<void>
}

interface Options {
  secretKey: string
  webhookSecret: string
  /** A free port if 0 */
  port?: number
  /** How long a bank transfer takes, ms */
  transferMs?: number
}

const THREE_DECIMALS = ['bhd', 'jod', 'kwd', 'omr', 'tnd']
const WHOLE_UNITS = ['isk', 'ugx']
const ZERO_DECIMALS = 'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' ')
const MAX_AMOUNT = 99_999_999

const refuse = (message: string, code: string) => new StripeApiError(400, message, code)

/** Checks an amount as Stripe does: https://docs.stripe.com/currencies. */
function checkAmount(amount: number, currency: string): void {
  const step = THREE_DECIMALS.includes(currency) ? 10 : WHOLE_UNITS.includes(currency) ? 100 : 1
  if (!Number.isSafeInteger(amount) || amount % step !== 0) {
    throw refuse(`Invalid amount: ${amount} ${currency}`, 'parameter_invalid_integer')
  }
  if (amount > MAX_AMOUNT) throw refuse('Amount too large', 'amount_too_large')
  // Approximates Stripe's minimum of about half a US dollar.
  if (amount < (ZERO_DECIMALS.includes(currency) ? 1 : 50)) {
    throw refuse('The amount must convert to at least 50 cents', 'amount_too_small')
  }
}

function createSession(parameters: Parameters, ledger: StripeLedger, url: string): FakeSession {
  const lines = Object.values(getGroup(parameters, 'line_items')).map((line) => {
    const price = getGroup(typeof line === 'object' ? line : undefined, 'price_data')
    const amount = Number(getText(price, 'unit_amount'))
    const currency = getText(price, 'currency') ?? ''
    if ((getText(getGroup(price, 'product_data'), 'name') ?? '') === '') {
      throw refuse('Missing required param: product_data[name]', 'parameter_missing')
    }
    return { amount, currency }
  })
  const currency = lines[0]?.currency ?? ''
  const [success, cancel] = [getText(parameters, 'success_url'), getText(parameters, 'cancel_url')]
  const isValid =
    getText(parameters, 'mode') === 'payment' &&
    /^[a-z]{3}$/.test(currency) &&
    lines.every((line) => line.currency === currency && line.amount > 0) &&
    success !== null &&
    cancel !== null
  if (!isValid) throw refuse('Invalid session', 'parameter_invalid')
  const total = lines.reduce((sum, { amount }) => sum + amount, 0)
  for (const { amount } of lines) if (lines.length > 1) checkAmount(Math.max(amount, 50), currency)
  checkAmount(total, currency)
  return ledger.createSession(
    {
      amount_total: total,
      currency,
      client_reference_id: getText(parameters, 'client_reference_id'),
      customer_email: getText(parameters, 'customer_email'),
      metadata: toTexts(getGroup(parameters, 'metadata')),
      success_url: success,
      cancel_url: cancel,
    },
    (id) => `${url}/c/pay/${id}`,
  )
}

/** A session as the API returns it; `isExpanded` includes the payment. */
function presentSession(session: FakeSession, ledger: StripeLedger, isExpanded: boolean): object {
  if (!isExpanded || session.payment_intent === null) return session
  const intent = ledger.getIntent(session.payment_intent)
  return { ...session, payment_intent: { ...intent, latest_charge: ledger.getCharge(intent.id) } }
}

const toList = (data: object[]) => ({ object: 'list', data, has_more: false })

function addApi(app: FastifyInstance, stripe: FakeStripe): void {
  const { ledger, requests } = stripe
  const responses = new Map<string, { request: string; respond: () => object }>()

  app.addHook('onRequest', async ({ headers, method, url, raw }, reply) => {
    requests.push(`${method} ${url.split('?')[0] ?? ''}`)
    if (stripe.latencyMs > 0) await sleep(stripe.latencyMs)
    const { fault } = stripe
    if (typeof fault === 'number') {
      const type = fault === 500 ? 'api_error' : 'invalid_request_error'
      throw new StripeApiError(fault, 'Something is wrong with the account.', null, type)
    }
    if (fault === 'no_response' || fault === 'connection_reset') reply.hijack()
    if (fault === 'connection_reset') raw.socket.resetAndDestroy()
    const [, bearer = ''] = /^Bearer (\S+)$/.exec(headers.authorization ?? '') ?? []
    if (!timingSafeEqualText(bearer, stripe.secretKey)) {
      throw new StripeApiError(401, `Invalid API Key provided: ${bearer.slice(0, 8)}****`)
    }
  })

  /** Returns the first response again if a request with the same idempotency key is repeated. */
  function once(
    { headers, body: request }: { headers: IncomingHttpHeaders; body: string },
    reply: FastifyReply,
    respond: () => object,
  ): object {
    const key = headers['idempotency-key']
    if (typeof key !== 'string') return respond()
    const hash = createHash('sha256').update(request).digest('hex')
    const known = responses.get(key)
    if (known !== undefined && known.request !== hash) {
      throw new StripeApiError(
        400,
        'Keys for idempotent requests can only be used with the same parameters they were first used with.',
        null,
        'idempotency_error',
      )
    }
    if (known !== undefined) {
      reply.header('idempotent-replayed', 'true')
      return known.respond()
    }
    // Errors are saved too.
    let answer: () => object
    try {
      const body = structuredClone(respond())
      answer = () => body
    } catch (error) {
      answer = () => {
        throw error
      }
    }
    responses.set(key, { request: hash, respond: answer })
    return answer()
  }

  app.post<{ Body: string }>('/checkout/sessions', async ({ body, headers, raw }, reply) => {
    const session = once({ headers, body }, reply, () =>
      createSession(parseParameters(body), ledger, stripe.url),
    )
    if (stripe.fault === 'connection_reset_after') {
      raw.socket.resetAndDestroy()
      return reply.hijack()
    }
    return session
  })

  app.get<{ Querystring: Record<string, unknown> }>('/checkout/sessions', async ({ query }) =>
    toList(ledger.sessions.filter(({ payment_intent }) => payment_intent === query.payment_intent)),
  )

  app.get<{ Params: { id: string }; Querystring: Record<string, unknown> }>(
    '/checkout/sessions/:id',
    async ({ params, query }) =>
      presentSession(ledger.getSession(params.id), ledger, 'expand[0]' in query),
  )

  app.post<{ Params: { id: string } }>('/checkout/sessions/:id/expire', async ({ params }) => {
    if (stripe.fault === 'no_expiry') throw new StripeApiError(400, 'This session stays open.')
    return ledger.expire(params.id)
  })

  app.get<{ Params: { id: string } }>('/payment_intents/:id', async ({ params }) =>
    ledger.getIntent(params.id),
  )

  app.post<{ Body: string }>('/refunds', async ({ body, headers, raw }, reply) => {
    const parameters = parseParameters(body)
    const amount = getText(parameters, 'amount')
    const refund = once({ headers, body }, reply, () => {
      if (stripe.fault === 'no_funds') {
        const message = 'Insufficient funds in your Stripe balance to refund this amount.'
        throw refuse(message, 'balance_insufficient')
      }
      return ledger.refund(
        getText(parameters, 'payment_intent') ?? '',
        amount === null ? null : Number(amount),
      )
    })
    if (stripe.fault === 'connection_reset_after') {
      raw.socket.resetAndDestroy()
      return reply.hijack()
    }
    return refund
  })

  app.get<{ Querystring: Record<string, unknown> }>('/disputes', async ({ query }) =>
    toList(ledger.disputes.filter(({ payment_intent }) => payment_intent === query.payment_intent)),
  )
}

function addCheckoutPages(app: FastifyInstance, { ledger }: FakeStripe, transferMs: number): void {
  app.get<{ Params: { id: string } }>('/c/pay/:id', async ({ params }, reply) =>
    reply.type('text/html').send(renderCheckoutPage(ledger.getSession(params.id))),
  )

  app.post<{ Params: { id: string }; Body: string }>(
    '/c/pay/:id',
    async ({ params, body }, reply) => {
      const session = ledger.getSession(params.id)
      if (session.status === 'open') {
        const action = getText(parseParameters(body), 'action')
        ledger.pay(session.id, { isAsync: action !== 'pay' })
        if (action !== 'pay') {
          setTimeout(() => ledger.settle(session.id, action === 'transfer'), transferMs).unref()
        }
      }
      return reply.redirect(session.success_url, 303)
    },
  )
}

/**
 * Starts a fake Stripe on the loopback address, for the demo and for tests: Checkout with its page,
 * refunds, disputes and signed webhooks. It keeps everything in memory.
 */
export async function startFakeStripe({
  secretKey,
  webhookSecret,
  port = 0,
  transferMs = 10_000,
}: Options): Promise<FakeStripe> {
  const app = Fastify({ forceCloseConnections: true })
  const sender = createEventSender(webhookSecret)
  const stripe: FakeStripe = {
    url: '',
    secretKey,
    webhookSecret,
    ledger: createLedger((type, object) => sender.emit(type, object)),
    sender,
    requests: [],
    fault: null,
    latencyMs: 0,
    async close() {
      sender.close()
      await app.close()
    },
  }
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => done(null, body),
  )
  app.setErrorHandler<Partial<StripeApiError>>((error, _request, reply) => {
    const { statusCode = 500, message, code = null, type = 'api_error' } = error
    return reply.code(statusCode).send({ error: { type, code, message } })
  })
  app.setNotFoundHandler(() => {
    throw new StripeApiError(404, 'Unrecognized request URL')
  })
  await app.register(async (scope) => addApi(scope, stripe), { prefix: '/v1' })
  addCheckoutPages(app, stripe, transferMs)
  await app.listen({ host: '127.0.0.1', port })
  const address = app.server.address() as AddressInfo
  stripe.url = `http://127.0.0.1:${address.port}`
  return stripe
}
