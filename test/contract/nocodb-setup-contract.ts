import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { temporaryFolder } from '../support/app.js'
import { distPath } from '../support/dist-path.js'
import { getRecordsPath, ORDERS, startService, SYNC_TIMEOUT_MS } from '../support/nocodb-service.js'
import type { TestBase, TestNocoDb } from '../support/nocodb.js'
import { startOrderApi } from '../support/order-api.js'
import { newOrder } from '../support/order-store.js'
import { waitFor } from '../support/wait-for.js'

const COMMAND = distPath('commands', 'nocodb-setup.js')

const run = promisify(execFile)

/** Runs `npm run nocodb:setup`; returns its output and whether it succeeded. */
async function runSetup(t: Test, environment: Record<string, string>) {
  const env = { PATH: process.env.PATH, ...environment }
  try {
    const { stdout } = await run(process.execPath, [COMMAND], { env, cwd: temporaryFolder(t) })
    return { ok: true, output: stdout }
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    return { ok: false, output: stdout + stderr }
  }
}

/** Tests of `npm run nocodb:setup`, of an invalid schema and of wrong credentials. */
export function nocoDbSetupContract(t: Test, nocoDb: TestNocoDb): void {
  const { api } = nocoDb

  t.test('setup creates a table in an empty base and is idempotent', async (t) => {
    const baseId = await nocoDb.createEmptyBase()
    const environment = {
      DATABASE_BASE_URL: nocoDb.url,
      DATABASE_BASE_ID: baseId,
      DATABASE_API_KEY: nocoDb.token,
    }
    const first = await runSetup(t, environment)
    t.match(first, { ok: true, output: /Created the table/ })
    const id = /DATABASE_ORDERS_TABLE_ID=(\w+)/.exec(first.output)?.[1] ?? ''
    const again = await runSetup(t, environment)
    t.match(again, { ok: true, output: `DATABASE_ORDERS_TABLE_ID=${id}` })
    t.notMatch(again.output, /Created|Added/)
    const named = await runSetup(t, { ...environment, DATABASE_ORDERS_TABLE_ID: id })
    t.notMatch(named.output, /Created|Added/)
    const wrong = await runSetup(t, { ...environment, DATABASE_API_KEY: 'a-wrong-token' })
    t.match(wrong, { ok: false, output: /rejected the API token/ })
    t.notMatch(wrong.output, 'a-wrong-token')
    t.match(await runSetup(t, { DATABASE_BASE_ID: baseId }), {
      ok: false,
      output: /DATABASE_BASE_URL is required[\s\S]*DATABASE_API_KEY is required/,
    })
  })

  t.test('reports missing columns of an existing table, which setup adds', async (t) => {
    const baseId = await nocoDb.createEmptyBase()
    const { body: table } = await api('POST', `/api/v3/meta/bases/${baseId}/tables`, {
      title: 'Our orders',
      fields: [
        { title: 'Customer', type: 'SingleLineText' },
        { title: 'Price', type: 'Number' },
        {
          title: 'Status',
          type: 'SingleSelect',
          options: { choices: [{ title: 'pending' }, { title: 'shipped' }] },
        },
        { title: 'Notes', type: 'Number' },
      ],
    })
    const base: TestBase = {
      baseId,
      tableId: table.id,
      environment: {
        DATABASE_BASE_URL: nocoDb.url,
        DATABASE_BASE_ID: baseId,
        DATABASE_API_KEY: nocoDb.token,
        DATABASE_ORDERS_TABLE_ID: table.id,
        NOCODB_COLUMNS: 'customerName=Customer,amountMinor=Price',
        NOCODB_SYNC_INTERVAL: '0.3',
        NOCODB_REQUESTS_PER_SECOND: '1000',
      },
    }
    await api('POST', getRecordsPath(base), {
      Customer: 'Old customer',
      Price: 7,
      Status: 'shipped',
    })

    const service = await startOrderApi(t, base.environment)
    const unready = await waitFor(async () => {
      const { body } = await service.call('GET', '/readyz')
      return (
        body.checks.orders.detail.includes('schema of the orders table in NocoDB is invalid') &&
        body
      )
    }, SYNC_TIMEOUT_MS)
    t.equal(unready.checks.orders.ready, false)
    t.match(unready.checks.orders.detail, /CustomerEmail is missing/)
    t.match(unready.checks.orders.detail, /Notes is of type Number; it must be LongText/)
    t.match(unready.checks.orders.detail, /Status is missing the options paid/)
    t.equal(service.log.filter(({ column }) => column === 'CustomerEmail').length, 1)
    t.equal((await service.call('POST', ORDERS, newOrder())).status, 503)

    const incomplete = await runSetup(t, base.environment)
    t.match(incomplete, { ok: false, output: /Notes is of type Number/ })
    t.match(incomplete.output, /Added the column CustomerEmail \(Email\)/)
    t.match(incomplete.output, /Added the options paid, .* to the column Status/)
    const complete = {
      ...base.environment,
      NOCODB_COLUMNS: 'customerName=Customer,amountMinor=Price,notes=Remarks',
    }
    t.match(await runSetup(t, complete), { ok: true, output: /Added the column Remarks/ })

    const fixed = await startService(t, { ...base, environment: complete })
    const { body: order } = await fixed.call('POST', ORDERS, newOrder({ notes: 'here' }))
    const { body: row } = await api('GET', `${getRecordsPath(base)}/${order.id}`)
    t.match(row, { Customer: 'Ann Example', Price: 4009, Remarks: 'here', Status: 'pending' })
    const { checks } = (await fixed.call('GET', '/readyz')).body
    t.match(checks.orders, { ready: true, detail: /row 1: Status is not one of/ })
  })

  /** Deletes a column, as a user might. */
  async function deleteColumn({ baseId, tableId }: TestBase, title: string): Promise<void> {
    const meta = `/api/v3/meta/bases/${baseId}`
    const { body } = await api('GET', `${meta}/tables/${tableId}`)
    const { id } = body.fields.find((field: any) => field.title === title)
    t.equal((await api('DELETE', `${meta}/fields/${id}`)).status, 200)
  }

  t.test('rejects a write if a column is missing, whose value NocoDB would drop', async (t) => {
    const base = await nocoDb.createBase()
    const service = await startService(t, base, { NOCODB_SYNC_INTERVAL: '3600' })
    await service.call('POST', ORDERS, newOrder())
    await deleteColumn(base, 'Notes')
    for (const [method, path, body] of [
      ['PATCH', `${ORDERS}/1`, { notes: 'x', vesselName: 'Aurora' }],
      ['POST', ORDERS, newOrder()],
    ] as const) {
      const rejected = await service.call(method, path, body)
      t.equal(rejected.status, 503, method)
      t.match(rejected.body.detail, /Nothing was saved. A column is missing/)
    }
    const { body: rows } = await api('GET', getRecordsPath(base))
    t.match(rows.list, [{ Id: 1, Version: 1, VesselName: null }])
    t.equal(rows.list.length, 1)
    t.ok((await runSetup(t, base.environment)).ok)
    t.equal((await service.call('PATCH', `${ORDERS}/1`, { notes: 'x' })).body.notes, 'x')
  })

  t.test('rejects changes while a column is missing, and shows its lost values', async (t) => {
    const base = await nocoDb.createBase()
    const DATA_DIR = temporaryFolder(t)
    const service = await startService(t, base, { DATA_DIR })
    await service.call('POST', ORDERS, newOrder({ notes: 'kept in the column' }))
    // Waits until sync passes no longer read the order again.
    await sleep(17_000)
    await service.call('POST', ORDERS, newOrder())
    const createdAt = Date.now()
    await waitFor(async () => {
      const { headers } = await service.call('GET', ORDERS)
      return Date.parse(headers.get('orders-as-of') ?? '') > createdAt
    }, SYNC_TIMEOUT_MS)
    await deleteColumn(base, 'Notes')
    await waitFor(async () => {
      const { body } = await service.call('GET', '/readyz')
      return body.checks.orders.detail.includes('Notes is missing')
    }, SYNC_TIMEOUT_MS)
    const rejected = await service.call('PATCH', `${ORDERS}/1`, { vesselName: 'Aurora' })
    t.equal(rejected.status, 503)
    t.match(rejected.body.detail, /Nothing was saved. The schema .* is invalid \(Notes is missing/)
    t.equal((await service.call('GET', `${ORDERS}/1`)).body.notes, 'kept in the column')
    await service.app.close()
    t.ok((await runSetup(t, base.environment)).ok)
    const again = await startService(t, base, { DATA_DIR })
    await waitFor(
      async () => (await again.call('GET', `${ORDERS}/1`)).body.notes === '',
      SYNC_TIMEOUT_MS,
    )
  })

  t.test('reports access errors without the token', async (t) => {
    const base = await nocoDb.createBase()
    const cases = [
      [{ DATABASE_API_KEY: 'a-wrong-token' }, /rejected the API token/],
      [{ DATABASE_BASE_ID: 'pnothinghere' }, /base or table not found/],
      [{ DATABASE_ORDERS_TABLE_ID: 'mnothinghere' }, /base or table not found/],
      [{ DATABASE_BASE_URL: 'http://127.0.0.1:1' }, /cannot be reached/],
      [{ DATABASE_BASE_URL: `${nocoDb.url}/nowhere` }, /not from NocoDB|not found/],
    ] as const
    for (const [wrong, message] of cases) {
      const service = await startOrderApi(t, { ...base.environment, ...wrong })
      const { checks } = await waitFor(async () => {
        const { body } = await service.call('GET', '/readyz')
        return body.checks.orders.detail.includes('Loading is interrupted') && body
      }, SYNC_TIMEOUT_MS)
      t.equal(checks.orders.ready, false)
      t.match(checks.orders.detail, message)
      const written = await service.call('POST', ORDERS, newOrder())
      t.equal(written.status, 503)
      const texts = JSON.stringify([service.log, checks, written.body])
      t.notMatch(texts, nocoDb.token)
      t.notMatch(texts, 'a-wrong-token')
    }
  })
}
