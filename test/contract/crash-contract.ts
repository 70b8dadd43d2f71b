import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { ORDERS, readRows, startService } from '../support/nocodb-service.js'
import type { TestNocoDb } from '../support/nocodb.js'
import type { ApiResponse } from '../support/order-api.js'
import { newOrder } from '../support/order-store.js'
import { waitFor } from '../support/wait-for.js'

/** Includes the back-off after an outage. */
const RECOVERY_TIMEOUT_MS = 90_000

/** Number of writes while NocoDB crashes. */
const RANDOM_WRITES = 200
const CRASHES = 3

const random = (below: number): number => Math.floor(Math.random() * below)
const pick = <T>(values: readonly T[]): T | undefined => values[random(values.length)]

/** Tests random writes while NocoDB crashes and restarts. */
export function crashContract(t: Test, nocoDb: TestNocoDb): void {
  t.test(`loses and repeats none of ${RANDOM_WRITES} writes while NocoDB crashes`, async (t) => {
    const base = await nocoDb.createBase()
    const first = await startService(t, base)
    const services = [first, await startService(t, base)]
    /** The latest acknowledged version of each order, by id */
    const acknowledged = new Map<string, any>()
    const keys: { key: string; order: any }[] = []
    let [rejected, unconfirmed] = [0, 0]

    function recordResponse({ status, body }: ApiResponse): void {
      if (status === 503) {
        rejected++
        if (/couldn't confirm/.test(body.detail)) unconfirmed++
      } else if (status < 300) {
        const known = acknowledged.get(body.id)
        if (known === undefined || body.version > known.version) acknowledged.set(body.id, body)
      } else t.ok([404, 409, 412].includes(status), `${status} ${JSON.stringify(body)}`)
    }

    let [started, done] = [0, 0]
    async function runWriter(): Promise<void> {
      while (done < RANDOM_WRITES) {
        const number = ++started
        const before = rejected
        const { call } = pick(services) ?? first
        const id = pick([...acknowledged.keys()])
        if (id === undefined || random(3) === 0) {
          const again = random(3) === 0 ? pick(keys) : undefined
          const entry = again ?? {
            key: `key ${number}`,
            order: newOrder({ amountMinor: number }),
          }
          keys.push(entry)
          recordResponse(await call('POST', ORDERS, entry.order, { 'idempotency-key': entry.key }))
        } else if (random(6) === 0) recordResponse(await call('DELETE', `${ORDERS}/${id}`))
        else recordResponse(await call('PATCH', `${ORDERS}/${id}`, { notes: `write ${number}` }))
        // A rejected write does not count; its client retries later.
        if (rejected === before) done++
        await sleep(random(100) + (rejected > before ? 500 : 0))
      }
    }
    async function runCrashes(): Promise<void> {
      for (let crash = 0; crash < CRASHES; crash++) {
        await waitFor(async () => done > ((crash + 1) * RANDOM_WRITES) / (CRASHES + 2), 120_000)
        await nocoDb.kill()
        await sleep(random(500))
        await nocoDb.start()
      }
    }
    await Promise.all([runWriter(), runWriter(), runWriter(), runCrashes()])
    t.comment(`${rejected} rejected, ${unconfirmed} of them unconfirmed`)
    t.ok(rejected > 0, 'some writes met an outage')

    const rows = await waitFor(async () => {
      const found = await readRows(nocoDb, base)
      const lists = await Promise.all(
        services.map(async ({ call }) => (await call('GET', `${ORDERS}?pageSize=1`)).body),
      )
      return lists.every(({ totalItems }) => totalItems === found.length) && found
    }, RECOVERY_TIMEOUT_MS)
    t.equal(
      new Set(rows.map((row) => row.IdempotencyKey)).size,
      rows.length,
      'creates no order twice',
    )
    for (const row of rows) {
      const reads = await Promise.all(
        services.map(({ call }) =>
          waitFor(async () => {
            const { body } = await call('GET', `${ORDERS}/${row.Id}`)
            return body.version === row.Version && body
          }, RECOVERY_TIMEOUT_MS),
        ),
      )
      t.strictSame(reads[0], reads[1], 'both processes are equal')
      t.match(reads[0], {
        notes: row.Notes ?? '',
        status: row.Status,
        amountMinor: row.AmountMinor,
      })
      const { items } = (await first.call('GET', `${ORDERS}/${row.Id}/history`)).body
      t.strictSame(
        items.map(({ version }: any) => version),
        Array.from({ length: row.Version }, (_, i) => row.Version - i),
        'the history has every version',
      )
      t.notOk(items.some(({ by }: any) => by === 'NocoDB'))
      const known = acknowledged.get(String(row.Id))
      acknowledged.delete(String(row.Id))
      if (known === undefined) continue // created, but the response was lost
      t.ok(row.Version >= known.version, 'no acknowledged change is lost')
      if (row.Version === known.version) t.strictSame(reads[0], known)
    }
    t.strictSame([...acknowledged.keys()], [], 'no acknowledged order is lost')
  })
}
