import type { Test } from 'tap'
import type { TestBase, TestNocoDb } from './nocodb.js'
import { startOrderApi, type OrderApi } from './order-api.js'
import { waitUntilReady } from './wait-for.js'

export const ORDERS = '/api/admin/orders'

/** Longer than the sync interval of the tests, 0.3 s, on a busy machine. */
export const SYNC_TIMEOUT_MS = 60_000

/** Cells of the smallest valid order. */
export const GOOD_ROW = {
  CustomerName: 'Good',
  CustomerEmail: 'good@example.com',
  Co2eKg: 1,
  AmountMinor: 1,
  Currency: 'EUR',
}

export const getRecordsPath = ({ tableId }: TestBase): string => `/api/v2/tables/${tableId}/records`

/** Starts Clearwake with the orders of a base, and waits for the first load. */
export async function startService(
  t: Test,
  base: TestBase,
  environment: NodeJS.ProcessEnv = {},
): Promise<OrderApi> {
  const service = await startOrderApi(t, { ...base.environment, ...environment })
  await waitUntilReady(service.url)
  return service
}

export const listOrders = async ({ call }: OrderApi) => (await call('GET', ORDERS)).body

/** Reads all rows of a table, by id. */
export async function readRows({ api }: TestNocoDb, base: TestBase): Promise<any[]> {
  const rows: any[] = []
  for (;;) {
    const query = `sort=Id&limit=1000&where=(Id,gt,${rows.at(-1)?.Id ?? 0})`
    const { body } = await api('GET', `${getRecordsPath(base)}?${query}`)
    rows.push(...body.list)
    if (body.pageInfo.isLastPage) return rows
  }
}
