import t from 'tap'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { temporaryFolder } from '../support/app.js'
import { newOrder } from '../support/order-store.js'
import { openTestStore } from '../support/stores.js'

for (const [one, other] of [
  ['Europe/Berlin', 'europe/berlin'],
  ['Asia/Kolkata', 'Asia/Calcutta'],
  ['UTC', 'Etc/UTC'],
] as const) {
  t.test(`processes with the time zones ${one} and ${other} share a database`, async (t) => {
    const path = getDatabasePath(temporaryFolder(t))
    const first = await openTestStore(t, { path, timeZone: one })
    const second = await openTestStore(t, { path, timeZone: other })
    for (const store of [first, second, first]) {
      t.match(await store.create(newOrder(), 'ann'), { outcome: 'created' })
    }
    for (const store of [first, second]) {
      const { total } = await store.list({ q: 'ann' }, { sort: 'placedAt', offset: 0, limit: 9 })
      t.equal(total, 3)
    }
    t.equal(first.calendar.timeZone, one, 'each reports its configured name')
    t.equal(second.calendar.timeZone, other)
  })
}

t.test('rejects a different time zone with the same UTC offset', async (t) => {
  const path = getDatabasePath(temporaryFolder(t))
  const berlin = await openTestStore(t, { path, timeZone: 'Europe/Berlin' })
  await openTestStore(t, { path, timeZone: 'Europe/Madrid' })
  await t.rejects(berlin.create(newOrder(), 'ann'), {
    statusCode: 503,
    message: /TIME_ZONE Europe\/Madrid, this one with Europe\/Berlin/,
  })
})
