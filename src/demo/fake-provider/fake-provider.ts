import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify, { type FastifyInstance } from 'fastify'
import { timingSafeEqualText } from '../../core/config/secrets.js'
import { checker } from '../../core/validation/field-errors.js'
import { calculatePrice } from '../../orders/amount.js'
import { OffsetOrderRequest } from '../../provider/provider-schemas.js'
import { PORTFOLIOS, type FakePortfolio } from './portfolios.js'

export interface LedgerEntry {
  id: string
  createdAt: string
  tons: number
  portfolioId: number
  amountCharged: number
  currency: string
  note: string | null
  onBehalfOfName?: string
  source: 'API'
}

/** Price of an order, minor units. */
const calculateOrderPrice = (
  tons: number,
  { pricePerTonMinor: amountMinor, currency }: FakePortfolio,
): number => calculatePrice(tons, { amountMinor, currency }).amountMinor

/** The orders of the fake provider and the credit that pays for them. */
interface Ledger {
  readonly orders: readonly LedgerEntry[]
  /** Remaining credit, minor units */
  credit: number
  /** Adds an order; `null` if the credit is insufficient. */
  add(
    order: Pick<LedgerEntry, 'tons' | 'note' | 'onBehalfOfName'>,
    portfolio: FakePortfolio,
  ): LedgerEntry | null
  /** Adds existing orders, such as demo data. */
  load(entries: LedgerEntry[]): void
}

/** @param firstId the ID of the first order, unless an earlier order has a higher one */
function createLedger(credit: number, firstId = 1): Ledger {
  const orders: LedgerEntry[] = []
  return {
    orders,
    credit,
    add({ tons, note, onBehalfOfName }, portfolio) {
      const amountCharged = calculateOrderPrice(tons, portfolio)
      if (amountCharged > this.credit) return null
      this.credit -= amountCharged
      const entry: LedgerEntry = {
        id: String(Math.max(firstId - 1, ...orders.map(({ id }) => Number(id) || 0)) + 1),
        createdAt: new Date().toISOString(),
        tons,
        portfolioId: portfolio.id,
        amountCharged,
        currency: portfolio.currency,
        note,
        ...(onBehalfOfName === undefined ? {} : { onBehalfOfName }),
        source: 'API',
      }
      orders.push(entry)
      return entry
    },
    load: (entries) => void orders.push(...entries),
  }
}

/**
 * Simulated failure: an error status for every request, no response, a closed connection, or a list
 * of orders with further pages.
 */
type FakeProviderFault =
  | 403
  | 500
  | 503
  | 'no_response'
  | 'connection_reset'
  | 'connection_reset_after_order'
  | 'no_response_after_order'
  | 'no_response_instead_of_order'
  | 'refused_after_order'
  | 'incomplete_list'

export interface FakeProvider {
  /** The value for ORDERSOURCE_BASE_URL */
  url: string
  token: string
  ledger: Ledger
  /** What it offers, the default first; can be changed */
  portfolios: FakePortfolio[]
  /** Delay of every response, ms */
  latencyMs: number
  fault: FakeProviderFault | null
  /** Whether the list of portfolios has no prices */
  hidesPrices: boolean
  close(): Promise<void>
}

interface Options {
  token: string
  /** 0 for any free port */
  port?: number
  /** Minor units */
  credit?: number
  /** ID of the first order; 1 by default */
  firstId?: number
}

const BASE_PATH = '/api'
const DEFAULT_CREDIT = 1_000_000_000
/** Wren's minimum charge: one dollar. */
const MIN_CHARGE = 100

const check = checker(OffsetOrderRequest)

/** An error in the format of Wren's API. */
class ProviderError extends Error {
  constructor(
    readonly statusCode: number,
    message: string,
  ) {
    super(message)
  }
}

function findPortfolio([first, ...others]: FakePortfolio[], id: number | undefined) {
  const portfolio =
    id === undefined ? first : [first, ...others].find((portfolio) => portfolio?.id === id)
  if (portfolio === undefined) throw new ProviderError(400, `There is no portfolio ${id ?? ''}.`)
  return portfolio
}

/** An order with its proof: its page in the registry, and serial numbers for each project. */
function addProof(entry: LedgerEntry, { url, portfolios }: FakeProvider) {
  const portfolio = portfolios.find(({ id }) => id === entry.portfolioId)
  return {
    ...entry,
    registryUrl: `${url.slice(0, -BASE_PATH.length)}/retirements/${entry.id}`,
    serialNumbers: portfolio?.projects.map(
      ({ id, vintage }) => `EXR-${id}-${vintage.slice(0, 4)}-${entry.id}`,
    ),
  }
}

function addRoutes(app: FastifyInstance, provider: FakeProvider): void {
  const { ledger } = provider

  app.get('/portfolios', async () => ({
    portfolios: provider.portfolios.map(({ pricePerTonMinor, ...portfolio }) => ({
      ...portfolio,
      ...(provider.hidesPrices ? {} : { pricePerTonMinor, cost_per_ton: pricePerTonMinor / 100 }),
    })),
  }))

  app.get('/offset-orders', async (_request, reply) => {
    if (provider.fault === 'incomplete_list') {
      reply.header('link', '</offset-orders?page=2>; rel="next"')
    }
    const totalTons = ledger.orders.reduce((sum, { tons }) => sum + tons, 0)
    return { offsetOrders: ledger.orders.toReversed(), stats: { totalTons } }
  })

  app.get<{ Params: { id: string } }>('/offset-orders/:id', async ({ params }) => {
    const order = ledger.orders.find(({ id }) => id === params.id)
    if (order === undefined) throw new ProviderError(404, 'There is no such offset order.')
    return addProof(order, provider)
  })

  app.get('/purchases', async () => ({
    purchases: ledger.orders.toReversed().map(({ id, createdAt, tons }) => ({
      stripeChargeId: id,
      createdAt,
      totalTons: tons,
      certificateUrl: `${provider.url.slice(0, -BASE_PATH.length)}/certificates/${id}`,
    })),
  }))

  // Ignores idempotency keys, because Wren does not document any.
  app.post('/offset-orders', async ({ body, raw }, reply) => {
    const checked = check(body)
    if (!checked.ok) {
      const messages = checked.errors.map(({ path, message }) => `${path} ${message}`.trim())
      throw new ProviderError(400, messages.join('; '))
    }
    const { tons, portfolioId, note = null, dryRun = false, onBehalfOfName } = checked.value
    const portfolio = findPortfolio(provider.portfolios, portfolioId)
    const amountCharged = calculateOrderPrice(tons, portfolio)
    if (amountCharged < MIN_CHARGE) {
      throw new ProviderError(400, 'The total charge must be at least $1.00.')
    }
    const quote = { amountCharged, currency: portfolio.currency, tons, portfolio, note }
    if (dryRun) return { ...quote, id: null }

    const { fault } = provider
    if (fault === 'no_response_instead_of_order') return reply.hijack()
    const customer = onBehalfOfName === undefined ? {} : { onBehalfOfName }
    const order = ledger.add({ tons, note, ...customer }, portfolio)
    if (order === null) throw new ProviderError(402, 'Insufficient credits: top up your balance.')
    if (fault === 'connection_reset_after_order') raw.socket.resetAndDestroy()
    if (fault === 'no_response_after_order') return reply.hijack()
    if (fault === 'refused_after_order') throw new ProviderError(402, 'Refused by a gateway.')
    return { ...quote, id: order.id, createdAt: order.createdAt }
  })
}

/** Adds latency and the simulated failure to every request. */
function addFaults(app: FastifyInstance, provider: FakeProvider): void {
  app.addHook('onRequest', async (request, reply) => {
    const { latencyMs, fault } = provider
    if (latencyMs > 0) await sleep(latencyMs)
    if (typeof fault === 'number') {
      throw new ProviderError(fault, 'Something is wrong with the account.')
    }
    if (fault === 'no_response' || fault === 'connection_reset') reply.hijack()
    if (fault === 'connection_reset') request.raw.socket.resetAndDestroy()
  })
}

/**
 * Starts a fake carbon-offset provider on the loopback address, for the demo and for tests. It keeps
 * its orders in memory.
 */
export async function startFakeProvider({
  token,
  port = 0,
  credit = DEFAULT_CREDIT,
  firstId,
}: Options): Promise<FakeProvider> {
  const app = Fastify({ forceCloseConnections: true })
  const provider: FakeProvider = {
    url: '',
    token,
    ledger: createLedger(credit, firstId),
    portfolios: [...PORTFOLIOS],
    latencyMs: 0,
    fault: null,
    hidesPrices: false,
    close: () => app.close(),
  }
  app.setErrorHandler<Partial<ProviderError>>((error, _request, reply) => {
    const { statusCode = 500, message } = error
    return reply.code(statusCode).send({ message })
  })
  app.setNotFoundHandler(() => {
    throw new ProviderError(404, 'Not found.')
  })
  // The provider's own certificates are public.
  app.get<{ Params: { id: string } }>('/certificates/:id', async ({ params }) => {
    const order = provider.ledger.orders.find(({ id }) => id === params.id)
    if (order === undefined) throw new ProviderError(404, 'There is no such certificate.')
    const { id, createdAt, tons, onBehalfOfName = null } = order
    return { certificate: id, purchaser: onBehalfOfName, tons, createdAt }
  })
  // A registry is public, too.
  app.get<{ Params: { id: string } }>('/retirements/:id', async ({ params }) => {
    const order = provider.ledger.orders.find(({ id }) => id === params.id)
    if (order === undefined) throw new ProviderError(404, 'There is no such retirement.')
    const { serialNumbers } = addProof(order, provider)
    return { registry: 'Example Registry', tons: order.tons, serialNumbers }
  })
  addFaults(app, provider)
  app.addHook('onRequest', async ({ headers, url }) => {
    if (/^\/(?:certificates|retirements)\//.test(url)) return
    const [, bearer = ''] = /^Bearer (\S+)$/i.exec(headers.authorization ?? '') ?? []
    if (!timingSafeEqualText(bearer, token)) {
      throw new ProviderError(401, 'The token was not recognized.')
    }
  })
  await app.register(async (scope) => addRoutes(scope, provider), { prefix: BASE_PATH })
  await app.listen({ host: '127.0.0.1', port })
  const address = app.server.address() as AddressInfo
  provider.url = `http://127.0.0.1:${address.port}${BASE_PATH}`
  return provider
}
