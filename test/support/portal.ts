import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core'
import type { Test } from 'tap'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { createFirstVersion } from '../../src/orders/change-order.js'
import { ORDER_STATUSES } from '../../src/orders/order-status.js'
import type { Order } from '../../src/orders/order.js'
import { startApp, temporaryFolder, type TestApp } from './app.js'
import { fillStore, newOrder } from './order-store.js'
import { copyOrders } from './run-command.js'
import { ADMIN, ADMIN_ACCOUNTS } from './sign-in.js'

const HOUR = 60 * 60 * 1000

/** Creates orders of all statuses and three currencies, the oldest first. */
export const manyOrders = (count: number): Order[] =>
  Array.from({ length: count }, (_, index) => {
    const placedAt = new Date(Date.now() - (count - index) * 6 * HOUR).toISOString()
    const status = ORDER_STATUSES[index % ORDER_STATUSES.length] ?? 'pending'
    const order = newOrder({
      customerName: `${['Ann', 'Ben', 'Zoë'][index % 3] ?? ''} Number ${index + 1}`,
      customerEmail: `customer${index + 1}@example.com`,
      vesselName: index % 4 === 0 ? null : `Vessel ${(index * 7) % 11}`,
      co2eKg: ((index * 37) % 101) * 10,
      amountMinor: ((index * 53) % 97) * 100,
      currency: ['EUR', 'USD', 'JPY'][index % 3] ?? 'EUR',
      placedAt,
    })
    return {
      ...createFirstVersion(order, placedAt),
      status,
      cancelledAt: status === 'cancelled' ? placedAt : null,
      id: String(index + 1),
      orderNumber: `CW-${String(index + 1).padStart(6, '0')}`,
    }
  })

/** Starts the service with orders, in SQLite or in an empty DATABASE_URL. */
export async function startPortal(t: Test, orders: Order[], environment: NodeJS.ProcessEnv = {}) {
  const DATA_DIR = temporaryFolder(t)
  const path = getDatabasePath(DATA_DIR)
  await fillStore(path, 'Europe/Lisbon', orders)
  const { DATABASE_URL } = environment
  if (DATABASE_URL !== undefined) await copyOrders({ DATA_DIR, DATABASE_URL })
  return startApp(t, { ADMIN_ACCOUNTS, DATA_DIR, TIME_ZONE: 'Europe/Lisbon', ...environment })
}

/** Creates a browser context of a signed-in administrator; closed when the test ends. */
export async function adminContext(
  t: Test,
  browser: Browser,
  { url }: Pick<TestApp, 'url'>,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext(options)
  t.teardown(() => context.close())
  const response = await context.request.post(`${url}/api/admin/login`, { data: ADMIN })
  if (!response.ok()) throw new Error(`Sign-in failed with status ${response.status()}`)
  return context
}
