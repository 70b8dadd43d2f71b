import t from 'tap'
import { openPostgres, type Postgres } from '../../src/database/postgres.js'
import type { Queryable } from '../../src/database/database.js'
import { migratePostgres } from '../../src/database/postgres-migrations.js'
import { openDatabase } from '../../src/database/open-database.js'
import { copyFromSqlite } from '../../src/orders/store/postgres/copy-from-sqlite.js'
import { openPostgresOrderStore } from '../../src/orders/store/postgres/postgres-order-store.js'
import { getDatabasePath } from '../../src/database/database-path.js'
import { calculateDashboardStats } from '../../src/orders/dashboard-stats.js'
import type { OrderFilters, OrderSort } from '../../src/orders/order-filters.js'
import { fillDatabase } from '../bench/order-data.js'
import { temporaryFolder } from '../support/app.js'
import { startPostgres } from '../support/postgres.js'

const ORDERS = 30_000
/** Enough to collect and sort 5,000 matches, and to look at the newest 1,000 orders */
const MAX_ROWS = 8_000

interface Plan {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: Plan[]
}

const listIndexes = (plan: Plan): string[] => [
  ...(plan['Index Name'] === undefined ? [] : [`${plan['Node Type']} ${plan['Index Name']}`]),
  ...(plan.Plans ?? []).flatMap(listIndexes),
]

/** The number of rows that a plan has read from tables. */
function countRows(plan: Plan): number {
  const own =
    plan['Relation Name'] === undefined
      ? 0
      : (plan['Actual Rows'] +
          (plan['Rows Removed by Filter'] ?? 0) +
          (plan['Rows Removed by Index Recheck'] ?? 0)) *
        plan['Actual Loops']
  return own + (plan.Plans ?? []).reduce((sum, each) => sum + countRows(each), 0)
}

/** Explains every query; records all, and those that read many rows. */
function explainQueries(postgres: Postgres) {
  const scans: string[] = []
  const statements: string[] = []
  const indexes: string[] = []
  const grams: unknown[] = []
  const explain =
    <T>(work: (tx: Queryable) => Promise<T>) =>
    async (tx: Queryable): Promise<T> =>
      work({
        async query<Row>(sql: string, values = []) {
          statements.push(sql)
          if (sql.includes('grams @>')) grams.push(...values.filter(Array.isArray))
          if (/^\s*(?:SELECT|WITH)/.test(sql)) {
            const [row] = await tx.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
              `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`,
              values,
            )
            const plan = row?.['QUERY PLAN'][0]?.Plan
            if (plan === undefined) throw new Error(`no plan of ${sql}`)
            indexes.push(...listIndexes(plan))
            if (countRows(plan) > MAX_ROWS) scans.push(`${countRows(plan)} rows: ${sql}`)
          }
          return tx.query<Row>(sql, values)
        },
      })
  return {
    explained: {
      ...postgres,
      read: <T>(work: (tx: Queryable) => Promise<T>) => postgres.read(explain(work)),
      readSnapshot: <T>(work: (tx: Queryable) => Promise<T>) =>
        postgres.readSnapshot(explain(work)),
    } satisfies Postgres,
    scans,
    statements,
    indexes,
    grams,
  }
}

const daysAgo = (days: number): string =>
  new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)

const QUERIES: Record<string, [filters: OrderFilters, sort?: OrderSort]> = {
  'first page': [{}],
  'by customer': [{}, 'customerName'],
  'status and currency': [{ status: ['paid'], currency: 'EUR' }, '-amountMinor'],
  'one week': [{ from: daysAgo(7), to: daysAgo(0) }],
  'rare combination': [
    { status: ['refunded'], calculatorType: ['custom'], currency: 'JPY' },
    'customerName',
  ],
  'order number': [{ q: 'CW-000777' }],
  'short order number': [{ q: 'CW777' }],
  amount: [{ q: '144.63' }],
  email: [{ q: 'nakamura4321@' }],
  'no match': [{ q: 'no such customer' }],
  Japanese: [{ q: '雨宮' }],
  Greek: [{ q: 'οδυσσ' }],
  'one character': [{ q: 'q' }],
  'two characters': [{ q: 'qu' }],
  'five characters': [{ q: 'quinn' }],
  exceptions: [{ exception: ['differs'] }],
}

t.test(`no query scans the orders`, async (t) => {
  const dataDir = temporaryFolder(t)
  fillDatabase(dataDir, ORDERS)
  const url = await (await startPostgres(t)).createDatabase()
  const postgres = openPostgres(url, { poolSize: 2 })
  t.teardown(() => postgres.close())
  await migratePostgres(postgres)
  const sqlite = openDatabase(getDatabasePath(dataDir))
  await copyFromSqlite(sqlite, postgres)
  sqlite.close()
  for (const table of ['orders', 'order_search', 'order_counts', 'order_totals']) {
    await postgres.query(`VACUUM ANALYZE ${table}`)
  }

  const { explained, scans, statements, indexes, grams } = explainQueries(postgres)
  const log = { error: () => undefined, warn: () => undefined } as never
  const store = await openPostgresOrderStore({ postgres: explained, url, timeZone: 'UTC', log })
  for (const [name, [filters, sort = '-placedAt']] of Object.entries(QUERIES)) {
    await store.list(filters, { sort, offset: 0, limit: 25 })
    t.same(scans.splice(0), [], name)
  }
  await store.get('77')
  await store.getHistory('77')
  await store.findByOrderSourceId('123')
  t.same(scans.splice(0), [], 'single orders')
  await calculateDashboardStats(store, { range: '30d' }, Date.now())
  t.same(scans.splice(0), [], 'statistics')
  t.ok(indexes.includes('Index Only Scan orders_by_fulfilment'), 'the median time to fulfilment')

  grams.length = 0
  await store.list({ q: 'CW-000777' }, { sort: '-placedAt', offset: 0, limit: 25 })
  const parts = grams.flat()
  t.ok(parts.includes('777'), 'looks up what few order numbers contain')
  t.notOk(parts.includes('cw-') || parts.includes('000'), 'but not what many contain')

  // Counted every 30 s, and read along an index otherwise.
  await store.list({ q: 'example' }, { sort: '-placedAt', offset: 0, limit: 25 })
  t.equal(scans.splice(0).length, 1)
  statements.length = 0
  await store.list({ q: 'example' }, { sort: '-placedAt', offset: 25, limit: 25 })
  t.same(scans.splice(0), [], 'a common search')
  t.same(
    statements.filter((sql) => sql.includes('grams')),
    [],
    'its matches are not collected again',
  )
  t.equal(statements.length, 2, 'reads a slice, and its orders')
})
