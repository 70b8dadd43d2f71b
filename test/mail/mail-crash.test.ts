import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openServiceDatabase } from '../../src/database/open-service-database.js'
import { temporaryFolder } from '../support/app.js'
import { createGuest, placeOrder } from '../support/guest.js'
import { mailEnvironment } from '../support/mail-service.js'
import { startPostgres } from '../support/postgres.js'
import { startService } from '../support/service.js'
import { startSmtpServer } from '../support/smtp-server.js'
import { waitFor } from '../support/wait-for.js'

/** More with ROUNDS=20 */
const ROUNDS = Number(process.env.ROUNDS ?? 2)
const ORDERS_PER_ROUND = 3

const server = await startPostgres(t)
for (const [engine, getEnvironment] of Object.entries({
  SQLite: async () => ({}),
  PostgreSQL: async () => ({ DATABASE_URL: await server.createDatabase() }),
})) {
  t.test(`${engine}: every order gets its email although the service is killed`, async (t) => {
    const smtp = await startSmtpServer(t, {
      // An email whose acceptance is not confirmed is sent again.
      onMailFrom: (_address, _session, done) => void setTimeout(done, 50),
    })
    const environment = {
      ...(await mailEnvironment(smtp)),
      DATA_DIR: temporaryFolder(t),
      LOG_LEVEL: 'warn',
      ORDER_LIMIT_PER_CLIENT: '10000',
      ...(await getEnvironment()),
    }
    let service = await startService(t, environment)
    const expected: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      for (let i = 0; i < ORDERS_PER_ROUND; i++) {
        const email = `guest${round}-${i}@example.com`
        await placeOrder(createGuest(service.url), { email })
        expected.push(email)
      }
      // Before the event is dispatched, while emails are sent, or after that.
      await sleep([0, 450, 220, 700][round % 4])
      service.process.kill('SIGKILL')
      await once(service.process, 'exit')
      service = await startService(t, environment)
    }
    const getRecipients = () => smtp.mails.flatMap(({ recipients }) => recipients)
    // What was being sent is claimed for 75 seconds, which are over.
    const { database } = await openServiceDatabase({ ...environment, DATABASE_POOL_SIZE: 1 })
    t.teardown(() => database.close())
    await database.query('UPDATE outbox SET claimed_until = 0')
    await waitFor(async () => expected.every((email) => getRecipients().includes(email)))
    t.same(new Set(getRecipients()), new Set(expected), 'none is invented')
    const ids = new Set(smtp.mails.map(({ headers }) => headers.get('message-id')))
    t.equal(ids.size, expected.length, 'a second copy has the same Message-ID')
    t.comment(`${smtp.mails.length} emails about ${expected.length} orders`)
  })
}
