import type { ChildProcess } from 'node:child_process'
import { signIn } from '../support/sign-in.js'
import { startClearwake } from './servers.js'

export const ORDERS_PATH = '/api/admin/orders'

/** The order database of a data folder. */
export interface OrderDatabase {
  orders: number
  dataDir: string
}

export interface OrderService extends OrderDatabase {
  url: string
  child: ChildProcess
  headers: Record<string, string>
}

/** A GET of a path, or a POST of a range to the statistics. */
export type OrderRequest = string | { range: string }

export async function startOrderService(
  database: OrderDatabase,
  port: number,
  environment: NodeJS.ProcessEnv = {},
): Promise<OrderService> {
  const child = await startClearwake(port, database.dataDir, '/healthz', environment)
  const url = `http://127.0.0.1:${port}`
  const authorization = `Bearer ${await signIn(url)}`
  // Uncompressed, because decompressing an export here would delay the requests being measured.
  return { ...database, url, child, headers: { authorization, 'accept-encoding': 'identity' } }
}

const sendRequest = ({ url, headers }: OrderService, request: OrderRequest): Promise<Response> =>
  typeof request === 'string'
    ? fetch(url + request, { headers })
    : fetch(`${url}/api/admin/stats`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(request),
      })

/** Milliseconds until the whole response has been read. */
export async function measureLatency(
  service: OrderService,
  request: OrderRequest,
): Promise<number> {
  const started = performance.now()
  const response = await sendRequest(service, request)
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`${JSON.stringify(request)}: status ${response.status}`)
  return performance.now() - started
}
