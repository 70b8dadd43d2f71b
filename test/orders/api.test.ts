import t from 'tap'
import { bookPath } from '../../src/orders/book/order-book.js'
import { ordersContract } from '../contract/orders-contract.js'
import { temporaryFolder } from '../support/app.js'
import { checkBook } from '../support/book-check.js'
import { startOrderApi } from '../support/order-api.js'
import { newOrder } from '../support/order-book.js'

const ORDERS = '/api/admin/orders'

ordersContract(t, async () => ({}))

t.test(
  'of 20 writers with the same version, through two services, one wins and nothing is lost',
  async (t) => {
    const DATA_DIR = temporaryFolder(t)
    const first = await startOrderApi(t, { DATA_DIR })
    const second = await startOrderApi(t, { DATA_DIR })
    const services = [first, second]
    const serviceOf = (writer: number) => (writer % 2 === 0 ? first : second)
    await first.call('POST', ORDERS, newOrder())
    for (let round = 1; round <= 5; round++) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, writer) =>
          serviceOf(writer).call(
            'PATCH',
            `${ORDERS}/1`,
            { notes: `writer ${writer}, round ${round}` },
            { 'if-match': `"${round}"` },
          ),
        ),
      )
      const statuses = answers.map(({ status }) => status).sort()
      t.strictSame(statuses, [200, ...Array<number>(19).fill(412)])
      const winner = answers.find(({ status }) => status === 200)
      for (const { call } of services) {
        t.strictSame(
          (await call('GET', `${ORDERS}/1`)).body,
          winner?.body,
          'both see what the winner wrote',
        )
      }
    }
    const unconditional = await Promise.all(
      Array.from({ length: 20 }, (_, writer) =>
        serviceOf(writer).call('PATCH', `${ORDERS}/1`, { notes: `in a row ${writer}` }),
      ),
    )
    t.ok(unconditional.every(({ status }) => status === 200))
    const { items } = (await first.call('GET', `${ORDERS}/1/history`)).body
    t.equal(items.length, 26, 'every change is in the history')
    items.forEach(({ changes }: any, index: number) => {
      const before = items[index + 1]?.changes[0]
      if (before) t.equal(changes[0].from, before.to, 'each begins where the last one ended')
    })
    checkBook(bookPath(DATA_DIR))
  },
)

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
