import t from 'tap'
import { bookPath } from '../../src/orders/book/order-book.js'
import { ordersContract } from '../contract/orders-contract.js'
import { temporaryFolder } from '../support/app.js'
import { checkBook } from '../support/book-check.js'
import { startOrderApi } from '../support/order-api.js'
import { newOrder } from '../support/order-book.js'

const ORDERS = '/api/admin/orders'

ordersContract(t, {
  empty: async (t) => ({ DATA_DIR: temporaryFolder(t) }),
  check: ({ DATA_DIR = '' }) => checkBook(bookPath(DATA_DIR)),
})

t.test('while the book cannot be written to, a change is 503 and reading goes on', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const { call } = await startOrderApi(t, { DATA_DIR })
  await call('POST', ORDERS, newOrder())
  const { default: Database } = await import('better-sqlite3')
  const other = new Database(bookPath(DATA_DIR))
  other.exec('BEGIN IMMEDIATE')
  const refused = await call('PATCH', `${ORDERS}/1`, { notes: 'x' })
  t.equal(refused.status, 503)
  t.ok(Number(refused.headers.get('retry-after')) > 0)
  t.equal((await call('GET', `${ORDERS}/1`)).body.notes, '')
  other.close()
  t.equal((await call('PATCH', `${ORDERS}/1`, { notes: 'x' })).status, 200)
})

t.test('readiness tells of the order book', async (t) => {
  const { call } = await startOrderApi(t)
  t.match((await call('GET', '/readyz')).body, { checks: { orders: { ready: true } } })
})
