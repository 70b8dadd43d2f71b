import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { projectRoot } from '../../src/core/config/config-part.js'
import { escapeFormula, unescapeFormula } from '../../src/core/formatting/text.js'
import { writeWorkbook } from '../../src/exports/excel-file.js'
import { startExportWorker } from '../../src/exports/export-thread.js'
import { CALCULATION_COLUMNS, PAYMENT_COLUMNS } from '../../src/orders/spreadsheet-format.js'
import type { OrderFilters, OrderSort } from '../../src/orders/order-filters.js'
import { Order } from '../../src/orders/order.js'
import { temporaryFolder } from '../support/app.js'
import { startExportApp } from '../support/export-app.js'
import { avoidMidnight } from '../support/midnight.js'
import { fillStore } from '../support/order-store.js'
import { order, orderText, randomOrders, typicalOrders } from '../support/orders.js'
import { readCsv, readWorkbook } from '../support/spreadsheet.js'
import { openFileStore } from '../support/stores.js'

const run = promisify(execFile)

const TIME_ZONE = 'Europe/Lisbon'
const FIELDS = Object.keys(Order.properties) as (keyof Order)[]
/** Without a payment through Stripe, only the first one has a value. */
const CSV_HEADER = [...FIELDS, ...PAYMENT_COLUMNS, ...CALCULATION_COLUMNS]
const noPayment = <T>({ checkout }: Order, empty: T) => [
  checkout?.paymentMethod ?? empty,
  ...PAYMENT_COLUMNS.slice(1).map(() => empty),
]

const gases = ({ calculation }: Order) => [
  calculation?.framework ?? null,
  calculation?.gases?.co2Kg ?? null,
  calculation?.gases?.ch4Kg ?? null,
  calculation?.gases?.n2oKg ?? null,
  calculation?.gases?.biogenicCo2Kg ?? null,
]

const folder = temporaryFolder(t)
/** Orders of all kinds, a few hundred. */
const random = { path: join(folder, 'random.db'), orders: randomOrders(300) }
const none = join(folder, 'none.db')
await fillStore(random.path, TIME_ZONE, random.orders)
await fillStore(none, TIME_ZONE, [])

/** The orders that the list shows, in its order. */
async function listed(filters: OrderFilters = {}, sort: OrderSort = '-placedAt'): Promise<Order[]> {
  const store = await openFileStore({ path: random.path, timeZone: TIME_ZONE })
  const { items } = await store.list(filters, { sort, offset: 0, limit: random.orders.length })
  await store.close()
  return items
}

const download = async (url: string, init?: RequestInit): Promise<Buffer> => {
  const response = await fetch(url, init)
  if (response.status !== 200) throw new Error(`${url} returned ${response.status}`)
  return Buffer.from(await response.arrayBuffer())
}

const service = await startExportApp(t, random.path, { TIME_ZONE })
const { url } = service

// Texts and formulas

t.test('escaped formulas can be restored', async (t) => {
  const anyText = fc.oneof(
    orderText(120),
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc
      .array(fc.constantFrom(...Array.from("'=+-@＝＠\t\r\n a1")), { maxLength: 6 })
      .map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(anyText, (text) => {
      const safe = escapeFormula(text)
      return unescapeFormula(safe) === text && !/^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(safe)
    }),
    { numRuns: 5_000 },
  )
  t.equal(escapeFormula('=1'), "'=1")
  t.equal(escapeFormula("'=1"), "''=1")
  t.equal(escapeFormula("O'Hara"), "O'Hara")
  t.equal(escapeFormula("'tis"), "'tis")
  t.equal(escapeFormula('a=b'), 'a=b')
})

// CSV

t.test('CSV contains exactly the listed orders when read by another program', async (t) => {
  const bytes = await download(`${url}?format=csv`)
  t.same([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf], 'starts with a byte order mark')
  t.match(bytes.toString(), /biogenicCo2Kg\r\n/, 'lines end with CRLF')
  t.ok(bytes.toString().endsWith('\r\n'), 'also the last one')
  const [header, ...rows] = await readCsv(t, bytes)
  t.same(header, CSV_HEADER)
  t.equal(rows.length, random.orders.length)
  const read = rows.map((row) => row.map(unescapeFormula))
  const expected = (await listed()).map((one) => [
    ...FIELDS.map((field) => {
      const value = one[field]
      if (value === null) return ''
      return typeof value === 'object' ? JSON.stringify(value) : String(value)
    }),
    ...noPayment(one, ''),
    ...gases(one).map((value) => (value === null ? '' : String(value))),
  ])
  t.same(read, expected)
  const numbers = new Set(['co2eKg', 'amountMinor', 'version'])
  const dangerous = rows.flatMap((row) =>
    row.filter(
      (cell, column) =>
        !numbers.has(FIELDS[column] ?? '') && /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(cell),
    ),
  )
  t.same(dangerous, [], 'no text is a formula')
  t.ok(
    random.orders.some(({ customerName }) => /^[=+\-@]/.test(customerName)),
    'though some would have been',
  )
})

t.test('an empty CSV has a byte order mark and header', async (t) => {
  const { url } = await startExportApp(t, none)
  const bytes = await download(url)
  t.equal(bytes.toString(), `\ufeff${CSV_HEADER.join(',')}\r\n`)
})

// Excel

const TITLES = [
  'Order number',
  'Status',
  'Customer',
  'Email',
  'Vessel',
  'IMO number',
  'Calculator',
  'Trip data',
  'CO₂e (kg)',
  'Amount',
  'Currency',
  'Provider order ID',
  'Notes',
  'Placed (Europe/Lisbon)',
  'Created (Europe/Lisbon)',
  'Updated (Europe/Lisbon)',
  'Fulfilled (Europe/Lisbon)',
  'Cancelled (Europe/Lisbon)',
  'Cancelled from',
  'Paid (Europe/Lisbon)',
  'Retirement',
  'Version',
  'ID',
  'Factor edition',
  'Calculation',
  'Origin',
  'Checkout',
  'Payment method',
  'Payment status',
  'Payment amount',
  'Payment currency',
  'Refunded',
  'Dispute',
  'Payment problem',
  'Checkout session',
  'Payment intent',
  'Framework',
  'CO₂ (kg)',
  'CH₄ (kg)',
  'N₂O (kg)',
  'Biogenic CO₂ (kg)',
]

const DECIMALS: Record<string, number> = { JPY: 0, KRW: 0, BHD: 3, IQD: 3, CLF: 4 }

/** Local time in Lisbon, by Intl. */
function clockTime(moment: string | null): string | null {
  if (moment === null) return null
  const parts = new Intl.DateTimeFormat('sv-SE', {
    timeZone: TIME_ZONE,
    dateStyle: 'short',
    timeStyle: 'medium',
  }).format(new Date(moment))
  return `${parts.replace(' ', 'T')}.${moment.slice(20, 23)}`
}

/** A text as Excel shows it: line breaks are LF, and what XML cannot have is gone. */
const shown = (text: string | null): string | null =>
  text === null ? null : text.replace(/\r\n?/g, '\n').replace(/[\ufffe\uffff]/g, '') || null

/** Excel reads _x0041_ as A. */
const decoded = (value: unknown): unknown =>
  typeof value === 'string'
    ? value.replace(/_x([0-9A-F]{4})_/gi, (_all, code: string) =>
        String.fromCharCode(parseInt(code, 16)),
      )
    : value

t.test(
  'the workbook contains exactly the listed orders when read by another program',
  async (t) => {
    const workbook = await readWorkbook(t, await download(`${url}?format=xlsx`))
    t.equal(workbook.creator, 'Clearwake')
    t.ok(Math.abs(Date.parse(`${workbook.created}Z`) - Date.now()) < 60_000, 'created just now')
    t.ok(workbook.styles < 30, 'cells share their styles')
    t.equal(workbook.sheets.length, 1)
    const [sheet] = workbook.sheets
    if (sheet === undefined) return
    t.equal(sheet.title, 'Orders')
    t.same(
      sheet.header.map(({ value }) => value),
      TITLES,
    )
    t.ok(
      sheet.header.every(({ bold, color, tint }) => bold && color !== tint),
      'the header is bold and filled',
    )
    t.equal(sheet.frozen, 'A2', 'and stays in sight')
    t.equal(sheet.filter, `A1:AO${random.orders.length + 1}`)
    t.equal(sheet.widths.length, TITLES.length)
    t.ok(sheet.widths.every((width) => width >= 8 && width <= 60))

    const expected = (await listed()).map((one) => [
      one.orderNumber,
      one.status,
      shown(one.customerName),
      one.customerEmail,
      shown(one.vesselName),
      one.imoNumber,
      one.calculatorType,
      one.calculatorData === null ? null : shown(JSON.stringify(one.calculatorData)),
      one.co2eKg,
      one.amountMinor / 10 ** (DECIMALS[one.currency] ?? 2),
      one.currency,
      shown(one.orderSourceId),
      shown(one.notes),
      clockTime(one.placedAt),
      clockTime(one.createdAt),
      clockTime(one.updatedAt),
      clockTime(one.fulfilledAt),
      clockTime(one.cancelledAt),
      one.cancelledFrom,
      clockTime(one.paidAt),
      one.retirement === null ? null : shown(JSON.stringify(one.retirement)),
      one.version,
      one.id,
      one.calculation?.edition ?? null,
      one.calculation === null ? null : shown(JSON.stringify(one.calculation)),
      one.origin,
      one.checkout === null ? null : shown(JSON.stringify(one.checkout)),
      ...noPayment(one, null),
      ...gases(one),
    ])
    t.same(
      sheet.rows.map((row) => row.map(({ value }) => decoded(value))),
      expected,
    )

    const column = (title: string) => {
      const index = TITLES.indexOf(title)
      return sheet.rows.flatMap((row) => row[index] ?? []).filter(({ value }) => value !== null)
    }
    const types = (title: string) => [...new Set(column(title).map(({ type }) => type))]
    t.ok(
      sheet.rows.flat().every(({ type }) => type !== 'f'),
      'no cell is a formula',
    )
    for (const title of TITLES.slice(13, 18)) t.same(types(title), ['d'], `${title}: dates`)
    for (const title of ['ID', 'Order number', 'IMO number', 'Customer', 'Notes']) {
      t.same(types(title), ['s'], `${title}: text`)
      t.same([...new Set(column(title).map(({ format }) => format))], ['@'], 'in text format')
    }
    t.same(types('Amount'), ['n'])
    const orders = await listed()
    orders.forEach((one, index) => {
      const digits = DECIMALS[one.currency] ?? 2
      const decimals = digits === 0 ? '' : `.${'0'.repeat(digits)}`
      const format = sheet.rows[index]?.[TITLES.indexOf('Amount')]?.format
      if (format !== `#,##0${decimals}`) t.fail(`${one.currency} is shown as ${format}`)
    })
    const tints = new Map(column('Status').map(({ value, tint }) => [value, tint]))
    t.equal(new Set(tints.values()).size, 6, 'each status has a colour of its own')
  },
)

t.test('an empty workbook is valid and has a header', async (t) => {
  const { url } = await startExportApp(t, none)
  const workbook = await readWorkbook(t, await download(`${url}?format=xlsx`))
  t.equal(workbook.sheets.length, 1)
  t.match(workbook.sheets, [{ title: 'Orders', filter: 'A1:AO1', rows: [] }])
  t.equal(workbook.sheets[0]?.header.length, TITLES.length)
})

async function getWorkbook(t: Test, orders: Order[], rowsPerSheet?: number) {
  const file = new PassThrough()
  const [bytes] = await Promise.all([
    buffer(file),
    writeWorkbook([orders], file, { timeZone: 'UTC', ...(rowsPerSheet ? { rowsPerSheet } : {}) }),
  ])
  return readWorkbook(t, bytes)
}

t.test('continues on a new sheet when a sheet is full', async (t) => {
  const orders = [...typicalOrders(25)]
  const idsOf = (workbook: Awaited<ReturnType<typeof getWorkbook>>) =>
    workbook.sheets.map(({ rows }) => rows.map((row) => row[TITLES.indexOf('ID')]?.value))
  const workbook = await getWorkbook(t, orders, 11)
  t.same(
    workbook.sheets.map(({ title, filter, frozen }) => [title, filter, frozen]),
    [
      ['Orders', 'A1:AO11', 'A2'],
      ['Orders 2', 'A1:AO11', 'A2'],
      ['Orders 3', 'A1:AO6', 'A2'],
    ],
  )
  t.same(
    idsOf(workbook).flat(),
    orders.map(({ id }) => id),
  )
  t.same(
    workbook.sheets.map(({ header }) => header.length),
    [41, 41, 41],
  )
  const full = await getWorkbook(t, orders.slice(0, 20), 11)
  t.same(
    idsOf(full).map(({ length }) => length),
    [10, 10],
    'and no sheet is begun that stays empty',
  )
})

t.test('truncates long cells and writes dates before March 1900 as text', async (t) => {
  const [first] = typicalOrders(1)
  if (first === undefined) return
  const workbook = await getWorkbook(t, [
    { ...first, notes: 'x'.repeat(32_765) + '⛵⛵', placedAt: '1890-05-01T10:00:00.000Z' },
    { ...first, notes: 'x'.repeat(32_765) + '🚢🚢' },
    { ...first, notes: 'x'.repeat(32_767), vesselName: 'a\u0001b\u000bc\ud800d' },
  ])
  const rows = workbook.sheets[0]?.rows ?? []
  const at = (row: number, title: string) =>
    rows[row]?.find((_cell, index) => workbook.sheets[0]?.header[index]?.value === title)
  const notes = (row: number) => String(at(row, 'Notes')?.value)
  t.equal(notes(0), 'x'.repeat(32_765) + '⛵⛵')
  t.equal(notes(1), 'x'.repeat(32_765) + '…', 'nothing is cut in two')
  t.equal(notes(2).length, 32_767)
  t.equal(at(2, 'Vessel')?.value, 'abcd')
  t.match(at(0, 'Placed (UTC)'), { value: '1890-05-01T10:00:00.000Z', type: 's' })
})

// The list

t.test('applies the filters, search and sort of the list', async (t) => {
  const queries: [string, OrderFilters, OrderSort?][] = [
    ['status=paid&sort=-amountMinor', { status: ['paid'] }, '-amountMinor'],
    ['status=paid&status=cancelled', { status: ['paid', 'cancelled'] }],
    ['calculatorType=fuel&currency=EUR', { calculatorType: ['fuel'], currency: 'EUR' }],
    ['q=a&status=pending&sort=customerName', { q: 'a', status: ['pending'] }, 'customerName'],
    ['q=cW-00001&sort=vesselName', { q: 'cW-00001' }, 'vesselName'],
    ['from=2026-03-29&to=2026-03-29', { from: '2026-03-29', to: '2026-03-29' }],
    ['q=nobody+has+this', { q: 'nobody has this' }],
  ]
  for (const [query, filters, sort] of queries) {
    const [, ...rows] = await readCsv(t, await download(`${url}?${query}`))
    const expected = (await listed(filters, sort)).map(({ id }) => id)
    t.same(
      rows.map(([id]) => id),
      expected,
      `${query}: ${expected.length} orders`,
    )
  }
})

t.test('exports a consistent snapshot during writes', async (t) => {
  const path = join(temporaryFolder(t), 'orders.db')
  const count = 5_000
  await fillStore(path, 'UTC', typicalOrders(count))
  const file = startExportWorker({
    source: { type: 'sqlite', path },
    timeZone: 'UTC',
    format: 'csv',
    filters: {},
    sort: 'orderNumber',
  })
  await once(file, 'readable')
  const db = new Database(path)
  db.exec("UPDATE orders SET customer_name = 'changed meanwhile'")
  db.close()
  const [latecomer] = fc.sample(order(count + 1), { numRuns: 1, seed: 1 })
  await fillStore(path, 'UTC', latecomer ? [latecomer] : [])
  const [, ...rows] = await readCsv(t, await buffer(file))
  t.equal(rows.length, count)
  t.notOk(rows.flat().includes('changed meanwhile'))
})

// The address

t.test('sends a file name and disables caching', async (t) => {
  await avoidMidnight(TIME_ZONE)
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone: TIME_ZONE }).format(new Date())
  const csv = await fetch(url)
  await csv.arrayBuffer()
  t.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8')
  t.equal(csv.headers.get('content-disposition'), `attachment; filename="orders-${today}.csv"`)
  t.equal(csv.headers.get('cache-control'), 'no-store')
  const excel = await fetch(`${url}?format=xlsx`)
  await excel.arrayBuffer()
  t.match(excel.headers.get('content-type'), /^application\/vnd\.openxmlformats-officedocument/)
  t.match(excel.headers.get('content-disposition'), /filename="orders-[\d-]{10}\.xlsx"/)
  t.equal(csv.headers.get('content-encoding'), 'gzip', 'CSV is compressed')
  t.equal(excel.headers.get('content-encoding'), null, 'Excel files are already')
})

t.test('rejects invalid filters', async (t) => {
  const wrong: [string, string][] = [
    ['format=pdf', 'format'],
    ['page=2', 'page'],
    ['pageSize=10', 'pageSize'],
    ['status=lost', 'status'],
    ['status=paid&status=lost', 'status'],
    ['format=csv&format=xlsx', 'format'],
    ['currency=euro', 'currency'],
    ['from=2026-02-30', 'from'],
    ['sort=notes', 'sort'],
    ['from=2026-11-20&to=2026-11-19', 'to'],
  ]
  for (const [query, path] of wrong) {
    const response = await fetch(`${url}?${query}`)
    const { errors } = (await response.json()) as { errors: { path: string }[] }
    t.equal(response.status, 422, query)
    t.same(
      errors.map((error) => error.path),
      [path],
    )
  }
})

t.test('HEAD sends the headers without running an export', async (t) => {
  // This one failed.
  const { url, log } = await startExportApp(t, join(folder, 'no such folder', 'orders.db'))
  const response = await fetch(`${url}?format=xlsx`, { method: 'HEAD' })
  t.equal(response.status, 200)
  t.match(response.headers.get('content-disposition'), /\.xlsx"$/)
  t.equal(response.headers.get('content-length'), null)
  t.notOk(log.some(({ level }) => Number(level) > 30))
  t.equal((await fetch(`${url}?format=pdf`, { method: 'HEAD' })).status, 422)
})

t.test('the export is documented', async (t) => {
  const { origin } = new URL(url)
  const document = await (await fetch(`${origin}/openapi.json`)).json()
  const { get } = document.paths['/api/admin/orders/export']
  t.same(get.tags, ['Orders'])
  t.same(Object.keys(get.responses['200'].content).length, 2)
  t.ok(get.parameters.some(({ name }: { name: string }) => name === 'format'))
})

t.test('the worker also runs from the TypeScript sources', async (t) => {
  const script = join(temporaryFolder(t), 'export.mts')
  const module = join(projectRoot, 'src/exports/exports.ts')
  writeFileSync(
    script,
    `import { createOrderExports } from ${JSON.stringify(module)}
     const exports = createOrderExports({ source: { type: 'sqlite', path: ${JSON.stringify(none)} }, timeZone: 'UTC' })
     const request = { format: 'csv', filters: {}, sort: 'placedAt' } as const
     const file = await exports.start(request, new AbortController().signal)
     for await (const chunk of file) process.stdout.write(chunk)`,
  )
  const { stdout } = await run(join(projectRoot, 'node_modules/.bin/tsx'), [script])
  t.equal(stdout, `\ufeff${CSV_HEADER.join(',')}\r\n`)
})
