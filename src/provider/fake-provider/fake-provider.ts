import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify, { type FastifyInstance } from 'fastify'
import { checker } from '../../validation/validator.js'
import { timingSafeEqualText } from '../../http/timing-safe-equal.js'
import { OffsetOrderRequest } from '../schemas.js'
import { createLedger, calculateOrderPrice, type Ledger } from './ledger.js'
import { PORTFOLIOS } from './portfolios.js'

/** What goes wrong at a stand-in: an error of this status, no answer, or a broken connection. */
export type FakeProviderError =
  | 403
  | 500
  | 503
  | 'silence'
  | 'reset'
  | 'reset after the order'
  | 'silence after the order'
  | 'silence instead of the order'

export interface FakeProvider {
  /** What ORDERSOURCE_BASE_URL is set to */
  url: string
  token: string
  ledger: Ledger
  /** Before each answer */
  latencyMs: number
  /** From now on, until it is `null` again */
  fault: FakeProviderError | null
  close(): Promise<void>
}

interface Options {
  token: string
  /** 0 takes any free one */
  port?: number
  /** Minor units, from which orders are paid */
  credit?: number
}

const BASE_PATH = '/api'
const PLENTY = 1_000_000_000
/** Wren takes no charge below a dollar. */
const LEAST_CHARGE = 100

const check = checker(OffsetOrderRequest)

/** An error as Wren words it. */
class Refusal extends Error {
  readonly statusCode: number
  constructor(statusCode: number, message: string) {
    super(message)
    this.statusCode = statusCode
  }
}

const [DEFAULT_PORTFOLIO] = PORTFOLIOS

function portfolioOf(id: number | undefined) {
  const portfolio =
    id === undefined ? DEFAULT_PORTFOLIO : PORTFOLIOS.find((portfolio) => portfolio.id === id)
  if (portfolio === undefined) throw new Refusal(400, `There is no portfolio ${id ?? ''}.`)
  return portfolio
}

function addRoutes(app: FastifyInstance, standIn: FakeProvider): void {
  const { ledger } = standIn

  app.get('/portfolios', async () => ({
    portfolios: PORTFOLIOS.map((portfolio) => ({
      ...portfolio,
      cost_per_ton: portfolio.pricePerTonMinor / 100,
    })),
  }))

  app.get('/offset-orders', async () => ({
    offsetOrders: ledger.orders.toReversed(),
    stats: { totalTons: ledger.orders.reduce((sum, { tons }) => sum + tons, 0) },
  }))

  app.get<{ Params: { id: string } }>('/offset-orders/:id', async ({ params }) => {
    const order = ledger.orders.find(({ id }) => id === params.id)
    if (order === undefined) throw new Refusal(404, 'There is no such offset order.')
    return order
  })

  // It knows no idempotency keys, as the service that it stands for promises none.
  app.post('/offset-orders', async ({ body, raw }, reply) => {
    const checked = check(body)
    if (!checked.ok) {
      const faults = checked.errors.map(({ path, message }) => `${path} ${message}`.trim())
      throw new Refusal(400, faults.join('; '))
    }
    const { tons, portfolioId, note = null, dryRun = false } = checked.value
    const portfolio = portfolioOf(portfolioId)
    const amountCharged = calculateOrderPrice(tons, portfolio)
    if (amountCharged < LEAST_CHARGE) {
      throw new Refusal(400, 'The total charge must be at least $1.00.')
    }
    const priced = { amountCharged, currency: portfolio.currency, tons, portfolio, note }
    if (dryRun) return { ...priced, id: null }

    if (standIn.fault === 'silence instead of the order') {
      reply.hijack()
      return
    }
    const order = ledger.add({ tons, note }, portfolio)
    if (order === null) throw new Refusal(402, 'Insufficient credits: top up your balance.')
    if (standIn.fault === 'reset after the order') {
      reply.hijack()
      raw.socket.resetAndDestroy()
      return
    }
    if (standIn.fault === 'silence after the order') {
      reply.hijack()
      return
    }
    return { ...priced, id: order.id, createdAt: order.createdAt }
  })
}

/** Lets happen what the stand-in is told to, before anything else does. */
function addFaults(app: FastifyInstance, standIn: FakeProvider): void {
  app.addHook('onRequest', async (request, reply) => {
    const { latencyMs, fault } = standIn
    if (latencyMs > 0) await sleep(latencyMs)
    if (typeof fault === 'number') throw new Refusal(fault, 'Something is wrong with the account.')
    if (fault === 'silence') reply.hijack()
    if (fault === 'reset') {
      reply.hijack()
      request.raw.socket.resetAndDestroy()
    }
  })
}

/**
 * A carbon-offset service of the kind that Wren's is, for demonstrations and tests: a server of its
 * own on the loopback address, which keeps its orders until it is closed.
 */
export async function startFakeProvider({
  token,
  port = 0,
  credit = PLENTY,
}: Options): Promise<FakeProvider> {
  const app = Fastify({ forceCloseConnections: true })
  const standIn: FakeProvider = {
    url: '',
    token,
    ledger: createLedger(credit),
    latencyMs: 0,
    fault: null,
    close: () => app.close(),
  }
  app.setErrorHandler<Partial<Refusal>>((error, _request, reply) => {
    const { statusCode = 500, message } = error
    return reply.code(statusCode).send({ message })
  })
  app.setNotFoundHandler(() => {
    throw new Refusal(404, 'Not found.')
  })
  addFaults(app, standIn)
  app.addHook('onRequest', async ({ headers }) => {
    const [, given = ''] = /^Bearer (\S+)$/i.exec(headers.authorization ?? '') ?? []
    if (!timingSafeEqualText(given, token)) throw new Refusal(401, 'The token was not recognized.')
  })
  await app.register(async (scope) => addRoutes(scope, standIn), { prefix: BASE_PATH })
  await app.listen({ host: '127.0.0.1', port })
  const { port: taken } = app.server.address() as AddressInfo
  standIn.url = `http://127.0.0.1:${taken}${BASE_PATH}`
  return standIn
}
