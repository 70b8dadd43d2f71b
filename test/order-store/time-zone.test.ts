import t from 'tap'
import {
  getOrderStorePath,
  openSqliteOrderStore,
} from '../../src/order-store/sqlite/sqlite-order-store.js'
import { temporaryFolder } from '../support/app.js'
import { newOrder } from '../support/order-store.js'

for (const [one, other] of [
  ['Europe/Berlin', 'europe/berlin'],
  ['Asia/Kolkata', 'Asia/Calcutta'],
  ['UTC', 'Etc/UTC'],
] as const) {
  t.test(`processes for ${one} and ${other} share a book`, async (t) => {
    const path = getOrderStorePath(temporaryFolder(t))
    const first = openSqliteOrderStore({ path, timeZone: one })
    const second = openSqliteOrderStore({ path, timeZone: other })
    for (const book of [first, second, first]) {
      t.match(await book.create(newOrder(), 'ann'), { outcome: 'created' })
    }
    for (const book of [first, second]) {
      const { total } = await book.list({ q: 'ann' }, { sort: 'placedAt', offset: 0, limit: 9 })
      t.equal(total, 3)
    }
    t.equal(first.calendar.timeZone, one, 'each shows the name that it was given')
    t.equal(second.calendar.timeZone, other)
    await first.close()
    await second.close()
  })
}

t.test('zones that merely have the same time are two', async (t) => {
  const path = getOrderStorePath(temporaryFolder(t))
  const berlin = openSqliteOrderStore({ path, timeZone: 'Europe/Berlin' })
  const madrid = openSqliteOrderStore({ path, timeZone: 'Europe/Madrid' })
  await t.rejects(berlin.create(newOrder(), 'ann'), {
    statusCode: 503,
    message: /Europe\/Madrid now, .* Europe\/Berlin/,
  })
  await berlin.close()
  await madrid.close()
})
