import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openServiceDatabase } from '../../src/database/database-plugin.js'
import { temporaryFolder } from '../support/app.js'
import { createCertificate } from '../support/certificate.js'
import { createGuest, placeOrder } from '../support/guest.js'
import { mailEnvironment } from '../support/mail-service.js'
import { startPostgres } from '../support/postgres.js'
import { startService } from '../support/service.js'
import { startSmtpServer } from '../support/smtp-server.js'
import { waitFor } from '../support/wait-for.js'

const ROUNDS = Number(process.env.FAULT_ROUNDS ?? '2')
const ORDERS_PER_ROUND = 3
const PASSWORD = 'secret-of-the-mail-server'

/** Before the event is dispatched, while emails are sent, and after that. */
const PAUSES_MS = [0, 450, 220, 700]

async function testCrashes(t: Test, database: NodeJS.ProcessEnv): Promise<void> {
  const certificate = createCertificate()
  const authority = join(temporaryFolder(t), 'authority.pem')
  writeFileSync(authority, certificate.cert)
  const smtp = await startSmtpServer(t, {
    ...certificate,
    secure: true,
    authOptional: false,
    // An email whose acceptance is not confirmed is sent again.
    onMailFrom: (_address, _session, done) => void setTimeout(done, 50),
  })
  const environment = {
    ...(await mailEnvironment(smtp)),
    SMTP_URL: `smtps://harbour:${PASSWORD}@127.0.0.1:${smtp.port}`,
    NODE_EXTRA_CA_CERTS: authority,
    DATA_DIR: temporaryFolder(t),
    LOG_LEVEL: 'warn',
    ORDER_LIMIT_PER_CLIENT: '10000',
    ...database,
  }
  let service = await startService(t, environment)
  const expected: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < ORDERS_PER_ROUND; i++) {
      const email = `guest${round}-${i}@example.com`
      await placeOrder(createGuest(service.url), { email })
      expected.push(email)
    }
    await sleep(PAUSES_MS[round % PAUSES_MS.length])
    service.process.kill('SIGKILL')
    await once(service.process, 'exit')
    service = await startService(t, environment)
  }
  const getRecipients = () => smtp.mails.flatMap(({ recipients }) => recipients)
  // Emails that were being sent are claimed for 75 seconds. Skip them.
  const opened = await openServiceDatabase({ ...environment, DATABASE_POOL_SIZE: 1 })
  t.teardown(() => opened.close())
  await opened.query('UPDATE outbox SET claimed_until = 0')
  await waitFor(async () => expected.every((email) => getRecipients().includes(email)))
  t.same(new Set(getRecipients()), new Set(expected), 'none is invented')
  const ids = new Set(smtp.mails.map(({ headers }) => headers.get('message-id')))
  t.equal(ids.size, expected.length, 'a second copy has the same Message-ID')
  t.same(new Set(smtp.passwords), new Set([PASSWORD]))
  t.notOk((service.output() + service.errors()).includes(PASSWORD))
  t.comment(`${smtp.mails.length} emails about ${expected.length} orders`)
}

t.test('every order gets its email although the service is killed', async (t) => {
  const server = await startPostgres(t)
  const databases = { SQLite: {}, PostgreSQL: { DATABASE_URL: await server.createDatabase() } }
  // At the same time, because they mostly wait for the service to start.
  t.jobs = 2
  for (const [engine, database] of Object.entries(databases)) {
    void t.test(engine, { buffered: true }, (t) => testCrashes(t, database))
  }
})
