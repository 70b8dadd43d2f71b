import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import ExcelJS from 'exceljs'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import yazl from 'yazl'
import { createProgressBar } from '../../src/commands/command.js'
import { openDatabase } from '../../src/database/open-database.js'
import { writeCsv } from '../../src/exports/csv-file.js'
import { writeWorkbook } from '../../src/exports/excel-file.js'
import { applyChanges, cancelOrder, createFirstVersion } from '../../src/orders/change-order.js'
import { formatImportError } from '../../src/orders/import/import-errors.js'
import { toImportedOrder } from '../../src/orders/import/validate-row.js'
import { getTransitions, ORDER_STATUSES } from '../../src/orders/order-status.js'
import { isOrderNumber, MAX_IMPORTED_ID, type Order } from '../../src/orders/order.js'
import { toOrderRow } from '../../src/orders/store/order-row.js'
import { StoreUnwritableError, type OrderStore } from '../../src/orders/store/order-store.js'
import { findTimestampErrors } from '../../src/orders/validators.js'
import { temporaryFolder } from '../support/app.js'
import { distPath } from '../support/dist-path.js'
import { newOrder } from '../support/order-store.js'
import { importInto, ordersCsv } from '../support/orders-csv.js'
import { order, orderText, randomOrders } from '../support/orders.js'
import { checkStore as checkStoreFile } from '../support/store-check.js'
import { openFileStore, openTestStore } from '../support/stores.js'

const COMMAND = distPath('commands', 'orders-import.js')

interface Run {
  process: ChildProcess
  output: () => string
  errors: () => string
  /** Its exit code, once it has ended; `null` where it was killed */
  ended: Promise<number | null>
  hasEnded: () => boolean
}

/** Runs the command in a folder with a minimal environment. */
function run(t: Test, cwd: string, args: string[], environment: Record<string, string> = {}): Run {
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, [COMMAND, ...args], { cwd, env: { PATH, ...environment } })
  let output = ''
  let errors = ''
  child.stdout.on('data', (part: Buffer) => (output += part.toString()))
  child.stderr.on('data', (part: Buffer) => (errors += part.toString()))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  t.teardown(() => child.kill('SIGKILL'))
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  return { process: child, output: () => output, errors: () => errors, ended, hasEnded }
}

/** Writes a file of orders into a folder and imports it there. */
async function importFile(t: Test, folder: string, csv: string | Buffer) {
  writeFileSync(join(folder, 'orders.csv'), csv)
  const command = run(t, folder, ['orders.csv'])
  const code = await command.ended
  return { code, output: command.output(), errors: command.errors() }
}

/** Checks the integrity of a store, including its indexes; returns the number of orders. */
function checkStore(t: Test, path: string): number {
  t.doesNotThrow(() => checkStoreFile(path))
  const db = new Database(path, { readonly: true })
  const numbers = (sql: string) => Number(db.prepare(sql).pluck().get())
  t.equal(
    numbers("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'orders\\_by\\_%' ESCAPE '\\'"),
    10,
  )
  const orders = numbers('SELECT count(*) FROM orders')
  db.close()
  return orders
}

const getStorePath = (folder: string): string => join(folder, 'data', 'orders.db')

const openStore = (t: Test, folder: string): Promise<OrderStore> =>
  openTestStore(t, { path: getStorePath(folder) })

/** Imports in this process, which is faster than starting the command. */
const importDirectly = (folder: string, csv: string | Buffer) =>
  importInto(getStorePath(folder), [Buffer.from(csv)])

const HEADER = 'customerName,customerEmail,co2eKg,amountMinor,currency'
const LINE = 'Ann Example,ann@example.com,1603.6,4009,EUR'

/** CSV with distinct orders. */
const manyLines = (orders: number): string =>
  [
    'id,orderNumber,status,notes,vesselName,placedAt,' + HEADER,
    ...Array.from({ length: orders }, (_, i) => {
      const status = ORDER_STATUSES[i % ORDER_STATUSES.length] ?? ''
      const day = String((i % 28) + 1).padStart(2, '0')
      return `${orders - i + 100},W-${i},${status},"two\nlines ${i}",Vessel ${i % 300},2025-03-${day}T10:00:00Z,${LINE}`
    }),
    '',
  ].join('\n')

const parseErrorLines = (errors: string): string[] =>
  errors
    .split('\n')
    .filter((line) => line.startsWith('  '))
    .map((line) => line.trim())

// Successful imports

t.test('imports orders and adds defaults for omitted fields', async (t) => {
  const folder = temporaryFolder(t)
  const before = Date.now()
  const { code, output, errors } = await importFile(
    t,
    folder,
    `${HEADER},status,vesselName,imoNumber,notes\n${LINE},cancelled,Ever Given,imo 9811000,"a, ""b""\nc"\n${LINE},,,,\n`,
  )
  t.equal(code, 0, errors)
  t.match(output, /^2 orders imported in \d+\.\d s into .*orders\.db \(new database\)\.\n$/)
  t.match(errors, /^Read 100%, 2 orders$/m)
  const store = await openStore(t, folder)
  const [one, two] = [await store.get('1'), await store.get('2')]
  t.match(one, {
    orderNumber: 'CW-000001',
    status: 'cancelled',
    vesselName: 'Ever Given',
    imoNumber: '9811000',
    notes: 'a, "b"\nc',
    co2eKg: 1603.6,
    amountMinor: 4009,
    version: 1,
  })
  t.equal(one?.cancelledAt, one?.updatedAt, 'cancelledAt defaults to updatedAt')
  t.ok(Date.parse(one?.placedAt ?? '') >= before)
  t.match(two, { orderNumber: 'CW-000002', status: 'pending', notes: '', cancelledAt: null })
  t.match(await store.getHistory('1'), [{ by: 'import', version: 1 }])
  const found = await store.list({ q: 'evER' }, { sort: '-placedAt', offset: 0, limit: 10 })
  t.same(
    found.items.map(({ id }) => id),
    ['1'],
    'and is found',
  )
  t.equal(checkStore(t, getStorePath(folder)), 2)
})

t.test('keeps ids and order numbers of the file and numbers other orders after them', async (t) => {
  const folder = temporaryFolder(t)
  const columns = `id,orderNumber,version,createdAt,updatedAt,${HEADER}`
  const { code, errors } = await importFile(
    t,
    folder,
    [
      columns,
      `7,CW-000001,5,2025-01-01T10:00:00+02:00,2025-02-01T00:00:00Z,${LINE}`,
      `,,,,,${LINE}`,
      `3,CW-000003,,,,${LINE}`,
      `,W 1,,,,${LINE}`,
      `,,,,,${LINE}`,
    ].join('\n'),
  )
  t.equal(code, 0, errors)
  const store = await openStore(t, folder)
  const numberOf = async (id: string) => (await store.get(id))?.orderNumber
  t.match(await store.get('7'), {
    orderNumber: 'CW-000001',
    version: 5,
    createdAt: '2025-01-01T08:00:00.000Z',
    updatedAt: '2025-02-01T00:00:00.000Z',
  })
  t.equal(await numberOf('3'), 'CW-000003')
  t.same(await Promise.all(['8', '9', '10'].map(numberOf)), ['CW-000004', 'W 1', 'CW-000005'])
  t.match(await store.getHistory('7'), [{ version: 5, by: 'import' }])
  const made = await store.create(newOrder(), 'ann@example.com')
  t.match(made, { order: { id: '11', orderNumber: 'CW-000006' } })
})

t.test('continues order numbers after the highest imported CW- number', async (t) => {
  const folder = temporaryFolder(t)
  const store = await openStore(t, folder)
  const numbersOf = async (...files: string[][]) => {
    for (const numbers of files) {
      const lines = numbers.map((number) => `${number},${LINE}\n`)
      t.ok((await importDirectly(folder, `orderNumber,${HEADER}\n${lines.join('')}`)).ok)
    }
    const made = await store.create(newOrder(), 'ann@example.com')
    return made.outcome === 'created' ? made.order.orderNumber : made.outcome
  }
  t.equal(await numbersOf(), 'CW-000001')
  t.equal(await numbersOf(['CW-000900']), 'CW-000901', 'part of an export')
  t.equal(await numbersOf(['CW-000899', 'CW-000002']), 'CW-000902', 'continues after it')
  t.equal(await numbersOf(['CW-905', '', 'CW-000904']), 'CW-000907', 'also without zeros')
  const others = ['W-2000', 'INV-2026/7', 'CW-2000a', 'CW-', 'CW-2000 2', 'XCW-2000', 'CW-２０００']
  t.equal(await numbersOf(others), 'CW-000908', 'ignores numbers in other formats')
  t.equal(
    await numbersOf(['CW-99999999999999999999', 'CW-9007199254740992', 'CW-1000000000001']),
    'CW-000909',
    'ignores numbers that are not assigned',
  )
  t.equal(await numbersOf(['CW-999999'], ['CW-1000001', '']), 'CW-1000003', 'of any length')
  t.equal(
    await numbersOf(['CW-1000000000000', '', 'CW-1000000000003']),
    'CW-1000000000004',
    'and none is given twice although they do not count',
  )
})

t.test('assigns further ids after the highest importable id', async (t) => {
  const folder = temporaryFolder(t)
  const highest = 1_000_000_000_000
  t.ok((await importDirectly(folder, `id,${HEADER}\n${highest},${LINE}\n,${LINE}\n`)).ok)
  const store = await openStore(t, folder)
  for (const id of [highest + 2, highest + 3].map(String)) {
    t.match(await store.create(newOrder(), 'ann@example.com'), { order: { id } })
    t.equal((await store.get(id))?.id, id)
  }
  for (const id of ['1000000000001', '9007199254740991', '0', '-1', '1.5', '1e3', '007']) {
    t.strictSame(
      await findErrorsIn(t, `id,${HEADER}\n${id},${LINE}\n`),
      ['line 2: id must be a whole number from 1 to 1000000000000'],
      id,
    )
  }
})

t.test('reads standard input if the file name is -', async (t) => {
  const folder = temporaryFolder(t)
  const command = run(t, folder, ['-'])
  command.process.stdin?.end(`\ufeff${HEADER}\r\n${LINE}`)
  t.equal(await command.ended, 0, command.errors())
  t.equal(command.output().split(' in ')[0], '1 order imported')
  t.notMatch(command.errors(), /%/, 'no percentage for input of unknown size')
  t.equal(checkStore(t, getStorePath(folder)), 1)
})

t.test('resolves paths from the directory npm was called in, and prints help', async (t) => {
  const [folder, elsewhere] = [temporaryFolder(t), temporaryFolder(t)]
  writeFileSync(join(elsewhere, 'orders.csv'), `${HEADER}\n${LINE}\n`)
  const npm = { npm_lifecycle_event: 'orders:import', INIT_CWD: elsewhere }
  t.equal(await run(t, folder, ['orders.csv'], npm).ended, 0)
  t.equal(checkStore(t, getStorePath(folder)), 1, 'uses the store in the working directory')
  const missing = run(t, folder, ['none.csv'], npm)
  t.equal(await missing.ended, 1)
  t.match(missing.errors(), /^File not found: none\.csv$/m)
  for (const option of ['--help', '-h']) {
    const help = run(t, folder, [option])
    t.equal(await help.ended, 0)
    t.match(help.output(), /^Usage: npm run -s orders:import -- FILE/)
    t.equal(help.errors(), '')
  }
})

t.test('uses the configured database and keeps its time zone', async (t) => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'orders.csv'), `placedAt,${HEADER}\n2025-06-30T23:30:00Z,${LINE}\n`)
  writeFileSync(join(folder, '.env'), 'DATA_DIR=./elsewhere\nTIME_ZONE=Europe/Athens\n')
  t.equal(await run(t, folder, ['orders.csv']).ended, 0)
  t.equal(await run(t, folder, ['orders.csv'], { TIME_ZONE: 'UTC' }).ended, 0)
  const path = join(folder, 'elsewhere', 'orders.db')
  t.equal(checkStore(t, path), 2)
  const db = new Database(path)
  const zone = db.prepare("SELECT value FROM settings WHERE name = 'time_zone'").pluck().get()
  const days = db.prepare('SELECT day, orders FROM order_totals').all()
  db.close()
  t.equal(zone, 'Europe/Athens')
  t.same(days, [{ day: Date.parse('2025-07-01') / 86_400_000, orders: 2 }])
})

// Errors

t.test('reports every error with its line and column, and imports nothing', async (t) => {
  const folder = temporaryFolder(t)
  t.ok((await importDirectly(folder, `id,orderNumber,${HEADER}\n5,W-5,${LINE}\n`)).ok)
  const tomorrow = new Date(Date.now() + 3 * 86_400_000).toISOString()
  const columns = `notes,id,orderNumber,status,imoNumber,calculatorType,calculatorData,placedAt,${HEADER}`
  const good = `,,,,,,,,${LINE}`
  const lines = [
    columns, // 1
    `"three\r\nlines\n""here"""${good}`, // 2 to 4
    `,,,sent,,,,,Ann Example,ann@,-5,4009.5,eur`, // 5
    `"two\n",,,,9811001,,,,,,,,`, // 6 and 7
    '', // 8
    `,12,N-1,,,,,,${LINE}`, // 9
    `"x\ny",12,N-1,,,,,,${LINE}`, // 10 and 11
    `,5,W-5,,,,,,${LINE}`, // 12
    `,0,W-6,,,,,,${LINE}`, // 13
    `,,,,,fuel,"{""fuelType"":""mgo"",""quantity"":-1,""unit"":""l""}",,${LINE}`, // 14
    `,,,,,fuel,{,,${LINE}`, // 15
    `,,,,,,"{""a"":1}",,${LINE}`, // 16
    `,,,,,,,${tomorrow},${LINE}`, // 17
    `,,,,,,,,Ann,a@example.com,'5,1,EUR`, // 18
    `,,,,,,,,Ann`, // 19
    `,,,,,,,,"Ann"x,a@example.com,5,1,EUR`, // 20
    `,,,,,,,,An"n,a@example.com,5,1,EUR`, // 21
    `,9007199254740992,,,,,,,Ann,a@example.com,5,1,EUR`, // 22
    `,,,,,,,,"Ann,a@example.com,5,1,EUR`, // 23
    good,
  ]
  const { code, output, errors } = await importFile(t, folder, lines.join('\n'))
  t.equal(code, 1)
  t.equal(output, '')
  const ID = 'must be a whole number from 1 to 1000000000000'
  t.strictSame(parseErrorLines(errors), [
    'line 5: status must be one of pending, paid, processing, fulfilled, refunded, cancelled',
    'line 5: customerEmail must be an email address, such as ann@example.com',
    'line 5: co2eKg must be at least 0',
    'line 5: amountMinor must be a whole number',
    'line 5: currency must be an ISO 4217 code in capitals, such as EUR',
    'line 6: imoNumber must be an IMO number: seven digits, the last one a check digit',
    'line 6: customerName is required',
    'line 6: customerEmail is required',
    'line 6: co2eKg is required',
    'line 6: amountMinor is required',
    'line 6: currency is required',
    'line 10: id is a duplicate of line 9',
    'line 10: orderNumber is a duplicate of line 9',
    'line 12: id already belongs to order 5 (W-5)',
    'line 12: orderNumber already belongs to order 5 (W-5)',
    `line 13: id ${ID}`,
    'line 14: calculatorData.quantity must be greater than 0',
    'line 15: calculatorData must be JSON',
    'line 16: calculatorType is required if calculatorData is given',
    'line 17: placedAt must not be in the future',
    'line 18: co2eKg must be a number',
    'line 19: has 9 cells, expected 13',
    'line 20: contains text after a closing quote; write a quote inside a cell as two quotes',
    'line 21: contains a quote in an unquoted cell',
    `line 22: id ${ID}`,
    'line 23: contains an unclosed quote; the rest of the file was not read',
  ])
  t.match(errors, /^Nothing was imported: 26 errors\.$/m)
  t.equal(checkStore(t, getStorePath(folder)), 1, 'the store is unchanged')
})

t.test('shows limits in plain digits', async (t) => {
  const columns = `version,notes,customerName,customerEmail,co2eKg,amountMinor,currency`
  const lines = [
    `1000000001,${'x'.repeat(10_001)},Ann,ann@example.com,1000000001,1000000000001,EUR`,
    `1e999,,Ann,ann@example.com,1e999,-1e999,EUR`,
  ]
  t.strictSame(await findErrorsIn(t, [columns, ...lines].join('\n')), [
    'line 2: version must be at most 1000000000',
    'line 2: notes must have at most 10000 characters',
    'line 2: co2eKg must be at most 1000000000',
    'line 2: amountMinor must be at most 1000000000000',
    'line 3: version must be at most 1000000000',
    'line 3: co2eKg must be at most 1000000000',
    'line 3: amountMinor must be at least 0',
  ])
})

/** The errors of a file; checks that the store stays empty. */
async function findErrorsIn(t: Test, csv: string | Buffer): Promise<string[]> {
  const folder = temporaryFolder(t)
  const outcome = await importDirectly(folder, csv)
  t.equal(checkStore(t, getStorePath(folder)), 0)
  return outcome.ok ? [] : outcome.errors.getFirst().map(formatImportError)
}

t.test('reports errors in the header and in the lines below it', async (t) => {
  t.strictSame(await findErrorsIn(t, `${HEADER}\n`), [], 'a file without orders is valid')
  t.strictSame(
    await findErrorsIn(t, 'customerName,State,customerEmail,co2eKg,co2eKg,\nAnn,paid,ann@,1,1,\n'),
    [
      'line 1: State is not a known column',
      'line 1: co2eKg is a duplicate column',
      'line 1: header contains a column without a name',
      'line 1: amountMinor is missing from the header',
      'line 1: currency is missing from the header',
      'line 2: customerEmail must be an email address, such as ann@example.com',
    ],
  )
  t.strictSame(
    await findErrorsIn(t, 'customerName,customerEmail,co2eKg,amountMinor,currency;x\n'),
    [
      'line 1: currency;x is separated by semicolons; use commas',
      'line 1: currency is missing from the header',
    ],
  )
  t.match(await findErrorsIn(t, `${HEADER},"notes\n`), [/^line 1: contains an unclosed quote/])
})

t.test('escapes column names in messages', async (t) => {
  const escaped = async (name: string) => {
    const [fault = ''] = await findErrorsIn(t, `${HEADER},${name}\n`)
    return /^line 1: (.*) is not a known column$/.exec(fault)?.[1]
  }
  t.equal(await escaped('Größe 尺寸'), 'Größe 尺寸')
  t.equal(await escaped(' note'), '" note"')
  t.equal(await escaped('"a\nb\tc"'), 'a\\u{a}b\\u{9}c')
  t.equal(await escaped('\x1b[31mred\x07\x9b'), '\\u{1b}[31mred\\u{7}\\u{9b}')
  t.equal(await escaped('\u202enote\u200b\u00a0'), '\\u{202e}note\\u{200b}\\u{a0}')
  t.equal(await escaped('⛵'.repeat(5_000)), `${'⛵'.repeat(60)}…`)
  t.strictSame(
    await findErrorsIn(
      t,
      `calculatorType,calculatorData,${HEADER}\nfuel,"{""fuelType"":""mgo"",""quantity"":1,""unit"":""l"",""\\u001b[2J"":1}",${LINE}`,
    ),
    ['line 2: calculatorData.\\u{1b}[2J is not a known field'],
  )
})

t.test('rejects a file of another type with one message', async (t) => {
  const csv = `${HEADER}\n${`${LINE}\n`.repeat(50)}`
  const utf16 = Buffer.from(csv, 'utf16le')
  const SAVE = 'Save it as CSV (UTF-8) and import that file.'
  const halfWorkbook = (await toWorkbook(randomOrders(20))).subarray(0, 3000)
  const picture = Buffer.from(Array.from({ length: 9_000 }, (_, i) => (i * 7_919) % 256))
  const fileTypes: [message: string, files: Record<string, Buffer | string>][] = [
    ['This file is not an Excel workbook, or it is empty.', { zip: await zip() }],
    ['This file is not an Excel workbook, or it is damaged.', { 'half a workbook': halfWorkbook }],
    [
      `This file is an old Excel workbook. ${SAVE}`,
      { 'an old workbook': Buffer.from('d0cf11e0a1b11ae10000', 'hex') },
    ],
    [
      'This file is compressed with gzip. Unpack it and import the CSV file.',
      { gzip: gzipSync(csv) },
    ],
    [
      'This file is a PDF. Only CSV (UTF-8) files can be imported.',
      { PDF: '%PDF-1.7\n%âãÏÓ\n1 0 obj\n' },
    ],
    [
      `This file is UTF-16 text. ${SAVE}`,
      {
        marked: Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]),
        'big-endian': Buffer.from(`\ufeff${csv}`, 'utf16le').swap16(),
        unmarked: utf16,
        'big-endian, unmarked': Buffer.from(utf16).swap16(),
      },
    ],
    [
      'This file is separated by semicolons. Save it with commas as separators.',
      {
        semicolons: csv.replaceAll(',', ';'),
        'semicolons and quotes': `\ufeff"${HEADER.replaceAll(',', '";"')}"\r\n`,
      },
    ],
    [
      'This file is separated by tabs. Save it with commas as separators.',
      { tabs: `\n\n${csv.replaceAll(',', '\t')}` },
    ],
    [
      'The lines of this file end in CR only. Save it with LF or CRLF line endings.',
      { CR: csv.replaceAll('\n', '\r'), 'CR, long': csv.repeat(3_000).replaceAll('\n', '\r') },
    ],
    [
      'This file does not contain orders. The first line must contain column names such as customerName.',
      {
        JSON: JSON.stringify([{ customerName: 'Ann' }], null, 1),
        'a picture': picture,
        zeros: Buffer.alloc(5_000_000),
      },
    ],
    [
      'This file is empty. Add a header line with the column names.',
      { nothing: '', 'a byte order mark': '\ufeff', 'blank lines': '\r\n\n\n' },
    ],
  ]
  for (const [message, files] of fileTypes) {
    for (const [name, file] of Object.entries(files)) {
      t.strictSame(await findErrorsIn(t, file), [message], name)
    }
  }
  const folder = temporaryFolder(t)
  const { code, errors } = await importFile(t, folder, utf16)
  t.equal(code, 1)
  t.match(errors, /Nothing was imported: 1 error\.\n {2}This file is UTF-16/)
})

t.test('accepts blank lines and line breaks split across chunks', async (t) => {
  for (const csv of [`\n\r\n${HEADER}\n`, `\ufeff${HEADER}\r\n`, `${HEADER}\r`, HEADER]) {
    const bytes = Array.from(Buffer.from(csv), (byte) => Buffer.from([byte]))
    t.match(await importInto(getStorePath(temporaryFolder(t)), bytes), { ok: true, orders: 0 })
  }
})

t.test('rejects order numbers with surrounding spaces or control characters', async (t) => {
  const ERROR =
    'line 2: orderNumber must be one line of visible text, without control characters or surrounding spaces'
  for (const number of [' W-1', 'W-1 ', '\u00a0W-1', 'W-\x1b1', '"W-1\n"', '"W\r1"', '\u200b']) {
    t.strictSame(
      await findErrorsIn(t, `orderNumber,${HEADER}\n${number},${LINE}\n`),
      [ERROR],
      number,
    )
  }
  t.match(await findErrorsIn(t, `orderNumber,${HEADER}\n${'W'.repeat(41)},${LINE}\n`), [
    /40 characters/,
  ])
})

t.test('rejects timestamps that contradict the status', async (t) => {
  const columns = `status,fulfilledAt,cancelledAt,${HEADER}`
  const at = '2026-03-01T10:00:00Z'
  const lines = ['paid,,', `,${at},`, `processing,${at},${at}`, `fulfilled,,${at}`, `sent,${at},`]
  const csv = [columns, ...lines.map((line) => `${line},${LINE}`)].join('\n')
  t.strictSame(await findErrorsIn(t, csv), [
    'line 3: fulfilledAt must be empty if status is pending',
    'line 4: fulfilledAt must be empty if status is processing',
    'line 4: cancelledAt must be empty if status is processing',
    'line 5: cancelledAt must be empty if status is fulfilled',
    'line 6: status must be one of pending, paid, processing, fulfilled, refunded, cancelled',
  ])

  const stateOf = (one: Pick<Order, 'status' | 'fulfilledAt' | 'cancelledAt'>) =>
    `${one.status}, fulfilled: ${one.fulfilledAt !== null}, cancelled: ${one.cancelledAt !== null}`
  const reached = new Set<string>()
  function reach(one: Order): void {
    if (reached.has(stateOf(one))) return
    reached.add(stateOf(one))
    reach(cancelOrder(one, at).order)
    for (const status of getTransitions(one)) reach(applyChanges(one, { status }, at).order)
  }
  for (const status of ORDER_STATUSES) {
    if (status === 'cancelled') continue
    reach({ id: '1', orderNumber: 'W-1', ...createFirstVersion({ ...newOrder(), status }, at) })
  }
  const now = Date.parse(at)
  for (const status of ORDER_STATUSES) {
    for (const fulfilledAt of [null, at]) {
      for (const cancelledAt of [null, at]) {
        const given = { ...newOrder(), status, fulfilledAt, cancelledAt }
        const state = stateOf(toImportedOrder(given, at))
        t.equal(findTimestampErrors(given, now).length === 0, reached.has(state), state)
      }
    }
  }
})

t.test('rejects timestamps in the future or out of order', async (t) => {
  const columns = `status,createdAt,updatedAt,fulfilledAt,cancelledAt,${HEADER}`
  const later = new Date(Date.now() + 3 * 86_400_000).toISOString()
  const last = '2199-12-31T23:59:59-14:00'
  const lines = [
    `cancelled,${later},${later},${later},${later}`,
    `paid,2026-03-01T10:00:00+02:00,2026-03-01T08:00:00Z,,`,
    `paid,2026-03-01T10:00:00Z,2026-03-01T10:00:00+02:00,,`,
    `fulfilled,,,${last},`,
    `paid,1900-01-01T00:00:00+14:00,,,`,
  ]
  const csv = [columns, ...lines.map((line) => `${line},${LINE}`)].join('\n')
  const YEARS =
    'must be a date and time from 1900 to 2199 in UTC, with an offset, such as 2026-11-20T09:30:00Z'
  t.strictSame(await findErrorsIn(t, csv), [
    'line 2: createdAt must not be in the future',
    'line 2: updatedAt must not be in the future',
    'line 2: fulfilledAt must not be in the future',
    'line 2: cancelledAt must not be in the future',
    'line 4: updatedAt must not be before createdAt',
    `line 5: fulfilledAt ${YEARS}`,
    `line 6: createdAt ${YEARS}`,
  ])
})

t.test('keeps updatedAt at or after createdAt if one of them is omitted', async (t) => {
  const folder = temporaryFolder(t)
  const soon = new Date(Date.now() + 3_600_000).toISOString()
  const csv = `createdAt,updatedAt,${HEADER}\n,2025-02-01T00:00:00Z,${LINE}\n${soon},,${LINE}\n`
  t.ok((await importDirectly(folder, csv)).ok)
  const store = await openStore(t, folder)
  t.match(await store.get('1'), { createdAt: '2025-02-01T00:00:00.000Z' })
  t.match(await store.get('2'), { createdAt: soon, updatedAt: soon })
  const changed = await store.apply(
    '2',
    { type: 'edit', changes: { notes: 'x' } },
    { by: 'ann', ifVersions: null },
  )
  t.match(changed, { order: { updatedAt: soon } }, 'a change is not earlier either')
})

t.test('reports encoding errors with their lines', async (t) => {
  const after = `${HEADER},notes\n${LINE},"a\nb"\n${LINE}`
  const latin1 = Buffer.from(`${after},caf\u00e9\n`, 'latin1')
  t.strictSame(await findErrorsIn(t, latin1), ['line 4: is not valid UTF-8'])
  t.strictSame(await findErrorsIn(t, `${after},"a\0"\n`), [
    'line 4: contains a NUL character',
    'line 4: notes must not contain control characters',
  ])
  const endless = await findErrorsIn(t, `${HEADER}\n${'x'.repeat(5_000_000)}`)
  t.match(endless, [/^line 2: is longer than 4 MB/])
  const unclosed = await findErrorsIn(t, `${HEADER}\n"${'x\n'.repeat(600_000)}`)
  t.match(unclosed, [
    /^line 2: contains an unclosed quote or a cell longer than 1000000 characters/,
  ])
})

t.test('prints the first thousand errors and counts the rest', async (t) => {
  const folder = temporaryFolder(t)
  t.ok((await importDirectly(folder, `id,${HEADER}\n2,${LINE}\n`)).ok)
  const lines = Array.from({ length: 3_000 }, (_, i) => `${i + 1},${LINE.replace('EUR', 'eur')}`)
  const { code, errors } = await importFile(t, folder, `id,${HEADER}\n${lines.join('\n')}\n`)
  t.equal(code, 1)
  t.match(errors, /^Nothing was imported: 3,001 errors\.$/m)
  const faults = parseErrorLines(errors)
  t.equal(faults.length, 1_001)
  t.match(faults[0], /^line 2: currency/)
  t.match(faults[2], /^line 3: id already belongs to order 2/, 'in the order of their lines')
  t.equal(faults.at(-1), 'and 2,001 more')
})

t.test('prints short messages for unusable arguments and files', async (t) => {
  const folder = temporaryFolder(t)
  const wrong: [string[], RegExp, Record<string, string>?][] = [
    [[], /^Usage: npm run -s orders:import -- FILE/],
    [['a.csv', 'b.csv'], /^Usage/],
    [['.'], /is a directory/],
    [['note.csv'], /TIME_ZONE must/, { TIME_ZONE: 'Mars' }],
    [['note.csv'], /not a Clearwake order database/, { DATA_DIR: './odd' }],
  ]
  writeFileSync(join(folder, 'note.csv'), `${HEADER}\n`)
  const other = openDatabase(join(folder, 'odd', 'orders.db'))
  other.pragma('application_id = 1')
  other.close()
  await Promise.all(
    wrong.map(async ([args, message, environment]) => {
      const command = run(t, folder, args, environment)
      t.equal(await command.ended, 1)
      t.match(command.errors(), message)
      t.notMatch(command.errors(), /\n\s+at /, 'no stack trace')
      t.equal(command.output(), '')
    }),
  )
})

// Round trips

/** Replaces a currency that cannot be imported. */
const inCurrency = (one: Order): Order => ({
  ...one,
  currency: one.currency === 'CLF' ? 'KRW' : one.currency,
})

/** Orders with ids and numbers in random order. */
const orders = fc
  .uniqueArray(fc.integer({ min: 1, max: MAX_IMPORTED_ID }), { minLength: 1, maxLength: 25 })
  .chain((ids) => fc.tuple(...ids.map((id) => order(id))))
  .chain((given) =>
    fc
      .uniqueArray(orderText(40).filter(isOrderNumber), {
        minLength: given.length,
        maxLength: given.length,
      })
      .map((numbers) =>
        given.map((one, i) => inCurrency({ ...one, orderNumber: numbers[i] ?? one.orderNumber })),
      ),
  )

/**
 * Imports bytes in chunks of a size into a new store and returns its orders. Throws on import
 * errors.
 */
async function roundTrip(t: Test, bytes: Buffer, piece: number, ids: string[]) {
  const parts = Array.from({ length: Math.ceil(bytes.length / piece) }, (_, i) =>
    bytes.subarray(i * piece, (i + 1) * piece),
  )
  const folder = temporaryFolder(t)
  const outcome = await importInto(getStorePath(folder), parts)
  assert.deepEqual(outcome.ok ? [] : outcome.errors.getFirst().map(formatImportError), [])
  const store = await openFileStore({ path: getStorePath(folder), timeZone: 'UTC' })
  const found = await Promise.all(ids.map((id) => store.get(id)))
  await store.close()
  return found
}

t.test('imports every file in the export format unchanged', async (t) => {
  const options = fc.record({
    lineBreak: fc.constantFrom('\n', '\r\n'),
    hasByteOrderMark: fc.boolean(),
    quoteAll: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(
      orders,
      options,
      fc.integer({ min: 1, max: 200 }),
      async (wanted, options, piece) => {
        const bytes = Buffer.from(ordersCsv(wanted, options))
        const ids = wanted.map(({ id }) => id)
        // Thrown, so that fast-check reports the seed.
        assert.deepEqual(await roundTrip(t, bytes, piece, ids), wanted)
      },
    ),
    { numRuns: 30 },
  )
})

t.test('imports an export unchanged', async (t) => {
  const wanted = randomOrders(300).map(inCurrency)
  const file = new PassThrough()
  const rows = wanted.map((order) => toOrderRow(order, 'someone'))
  const [bytes] = await Promise.all([buffer(file), writeCsv([rows], file)])
  const ids = wanted.map(({ id }) => id)
  t.strictSame(await roundTrip(t, bytes, 100_000, ids), wanted)
})

/** Exports orders as an Excel workbook. */
async function toWorkbook(orders: Order[], timeZone = 'UTC', rowsPerSheet = 1_000_000) {
  const file = new PassThrough()
  const options = { timeZone, rowsPerSheet }
  const [bytes] = await Promise.all([buffer(file), writeWorkbook([orders], file, options)])
  return bytes
}

async function zip(): Promise<Buffer> {
  const archive = new yazl.ZipFile()
  archive.addBuffer(Buffer.from('hello'), 'hello.txt')
  archive.end()
  return buffer(archive.outputStream)
}

t.test('imports an exported workbook unchanged, with all its sheets', async (t) => {
  const wanted = randomOrders(300)
    .map(inCurrency)
    // Excel has one type of line break, and exceljs decodes entities twice.
    .map((order) => ({ ...order, notes: order.notes.replace(/\r\n?/g, '\n') }))
    .map((order) => JSON.parse(JSON.stringify(order).replaceAll('&amp;', '&')) as Order)
  const ids = wanted.map(({ id }) => id)
  for (const [timeZone, rowsPerSheet] of [
    ['UTC', 100],
    ['Asia/Kolkata', 1_000],
  ] as const) {
    const bytes = await toWorkbook(wanted, timeZone, rowsPerSheet)
    t.strictSame(await roundTrip(t, bytes, 100_000, ids), wanted, timeZone)
  }
})

t.test('imports a workbook that somebody wrote by hand', async (t) => {
  const workbook = new ExcelJS.Workbook()
  const sheet = workbook.addWorksheet('Harbour')
  sheet.addRow(['Customer Name', 'customer_email', 'CO2e kg', 'Amount', 'Currency', 'Placed At'])
  const placed = new Date('2026-03-01T10:30:00Z')
  const name = { richText: [{ text: 'Ann ' }, { text: 'Example', font: { bold: true } }] }
  const email = { text: 'ann@example.com', hyperlink: 'mailto:ann@example.com' }
  sheet.addRow([name, email, { formula: '800*2', result: 1600 }, 40.09, 'EUR', placed])
  sheet.addRow([])
  sheet.addRow(['Ben', 'ben@example.com', 1, 4009, 'JPY', placed])
  workbook.addWorksheet('Notes').addRow(['Customers of the harbour'])
  const folder = temporaryFolder(t)
  const file = Buffer.from(await workbook.xlsx.writeBuffer())
  const outcome = await importDirectly(folder, file)
  t.same(outcome.ok || outcome.errors.getFirst(), true)
  const store = await openStore(t, folder)
  t.match(await store.get('1'), {
    customerName: 'Ann Example',
    customerEmail: 'ann@example.com',
    co2eKg: 1600,
    amountMinor: 4009,
    placedAt: '2026-03-01T10:30:00.000Z',
  })
  t.match(await store.get('2'), { customerName: 'Ben', amountMinor: 4009, currency: 'JPY' })
  t.equal(await store.get('3'), null)
})

t.test('understands what spreadsheets make of a CSV file', async (t) => {
  const spellings = [
    'Customer Name,CUSTOMER_EMAIL,co2e kg,Amount minor,currency,Vessel Name',
    'customerName,customerEmail,CO2E_KG,amount-minor,CURRENCY,vessel name',
  ]
  const line = 'Ann,ann@example.com,1.5,4009,EUR,Eendracht'
  for (const header of spellings) {
    for (const csv of [
      `${header}\n${line}\n,,,,,\n , ,,,,\n`,
      `\ufeffsep=,\r\n${header}\r\n${line}\r\n`,
      `SEP=;\n${header.replaceAll(',', ';')}\n${line.replaceAll(',', ';')}\n;;;;;\n`,
      `"sep=,"\n${header}\n${line}`,
      `sep=,,,,,,\r\n,,,,,\r\n${header}\r\n${line}`,
      `,,,,,\n${header}\n${line}`,
    ]) {
      const folder = temporaryFolder(t)
      const outcome = await importDirectly(folder, csv)
      t.same(outcome.ok ? outcome.orders : outcome.errors.getFirst(), 1, csv)
      const store = await openStore(t, folder)
      t.match(await store.get('1'), { customerName: 'Ann', vesselName: 'Eendracht', co2eKg: 1.5 })
    }
  }
  t.strictSame(await findErrorsIn(t, `sep=;\n${HEADER.replaceAll(',', ';')}\nAnn\n`), [
    'line 3: has 1 cells, expected 5',
  ])
})

t.test('refuses a long number that a spreadsheet has shortened', async (t) => {
  const SHORTENED =
    'was shortened by a spreadsheet, and its last digits are lost; export the file again, and format the column as text before you save it'
  t.strictSame(
    await findErrorsIn(
      t,
      `id,orderSourceId,${HEADER}\n1.23457E+11,"1,23E+20",Ann,ann@example.com,1e-7,1.23457E+11,EUR\n`,
    ),
    [
      `line 2: id ${SHORTENED}`,
      `line 2: orderSourceId ${SHORTENED}`,
      `line 2: amountMinor ${SHORTENED}`,
    ],
  )
})

// Concurrency

t.test('imports all or nothing when killed at any time', async (t) => {
  const MANY = 3_000
  const before = temporaryFolder(t)
  t.ok((await importDirectly(before, `${HEADER}\n${LINE}\n`)).ok)
  writeFileSync(join(before, 'orders.csv'), manyLines(MANY))

  /** The number of orders after an import that may have been killed. */
  async function imported(kill: (command: Run) => Promise<void>): Promise<number> {
    const folder = temporaryFolder(t)
    cpSync(before, folder, { recursive: true })
    const command = run(t, folder, ['orders.csv'])
    await Promise.race([kill(command), command.ended])
    command.process.kill('SIGKILL')
    const code = await command.ended
    const orders = checkStore(t, getStorePath(folder))
    t.ok(code === null ? [1, MANY + 1].includes(orders) : orders === MANY + 1, `${orders} orders`)
    return orders
  }
  const at = (phase: RegExp) => async (command: Run) => {
    while (!phase.test(command.errors()) && !command.hasEnded()) await sleep(1)
  }
  const began = performance.now()
  t.equal(await imported(({ ended }) => ended.then(() => undefined)), MANY + 1)
  const lasts = performance.now() - began
  for (const phase of [/Read/, /copying/, /statistics/, /writing to disk/]) {
    t.comment(`killed at ${phase.source}: ${await imported(at(phase))} orders`)
  }
  for (let i = 0; i < 2; i++) {
    const delay = Math.random() * lasts
    t.comment(`killed after ${Math.round(delay)} of ${Math.round(lasts)} ms`)
    await imported(() => sleep(delay))
  }
})

t.test('Ctrl-C cancels the import', async (t) => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'orders.csv'), manyLines(20_000))
  const command = run(t, folder, ['orders.csv'])
  while (!command.errors().includes('Read 10%') && !command.hasEnded()) await sleep(1)
  command.process.kill('SIGINT')
  t.equal(await command.ended, 130)
  t.match(command.errors(), /^Interrupted\. Nothing was imported\.$/m)
  t.equal(checkStore(t, getStorePath(folder)), 0)
})

t.test('detects conflicts with orders created while the file is read', async (t) => {
  const folder = temporaryFolder(t)
  t.ok((await importDirectly(folder, `${HEADER}\n${LINE}\n`)).ok)
  const store = await openStore(t, folder)
  async function* file() {
    yield Buffer.from(`id,${HEADER}\n${`,${LINE}\n`.repeat(2_000)}`)
    t.match(await store.create(newOrder(), 'ann@example.com'), { order: { id: '2' } })
    yield Buffer.from(`2,${LINE}\n`)
  }
  const outcome = await importInto(getStorePath(folder), file())
  t.strictSame(outcome.ok ? [] : outcome.errors.getFirst().map(formatImportError), [
    'line 2002: id already belongs to order 2 (CW-000002)',
  ])
  t.equal(checkStore(t, getStorePath(folder)), 2)
})

/** Creates an order; retries while an import locks the store. */
async function createWithRetry(store: OrderStore) {
  for (;;) {
    try {
      return await store.create(newOrder(), 'ann@example.com')
    } catch (error) {
      if (!(error instanceof StoreUnwritableError)) throw error
    }
  }
}

t.test('a running service keeps reading during an import and writes after it', async (t) => {
  const folder = temporaryFolder(t)
  t.ok((await importDirectly(folder, `${HEADER}\n${LINE}\n`)).ok)
  const store = await openStore(t, folder)
  const ordersNow = async () =>
    (await store.list({}, { sort: '-placedAt', offset: 0, limit: 25 })).total
  writeFileSync(join(folder, 'orders.csv'), manyLines(10_000))
  const command = run(t, folder, ['orders.csv'])
  const toVisibleText = new Set<number>()
  let slowest = 0
  while (!command.errors().includes('copying') && !command.hasEnded()) await sleep(1)
  const created = createWithRetry(store)
  while (!command.hasEnded()) {
    const request = performance.now()
    toVisibleText.add(await ordersNow())
    slowest = Math.max(slowest, performance.now() - request)
    await sleep(5)
  }
  t.equal(await command.ended, 0, command.errors())
  t.ok(statSync(`${getStorePath(folder)}-wal`).size < 1_000_000, 'leaves no large journal')
  t.ok(toVisibleText.has(1), 'shows the earlier orders until the end')
  t.same(
    [...toVisibleText].filter((total) => ![1, 10_001, 10_002].includes(total)),
    [],
    'or all of them',
  )
  t.ok(slowest < 5_000, `the slowest response took ${Math.round(slowest)} ms`)
  t.match(await created, { outcome: 'created', order: { orderNumber: 'CW-000002' } })
  t.equal(await ordersNow(), 10_002)
  t.equal(checkStore(t, getStorePath(folder)), 10_002)
})

t.test('shows a progress bar on a terminal and lines in a log', (t) => {
  let shown = ''
  const screen = (isTTY: boolean) => ({ isTTY, write: (text: string) => (shown += text) })
  const bar = createProgressBar(screen(true), 1_000)
  bar.onRead(500, 1_234)
  t.equal(shown, `\rReading: ${'█'.repeat(15)}${'░'.repeat(15)} 50%, 1,234 orders\x1b[K`)
  bar.onPhase('adding up')
  bar.clear()
  t.ok(shown.endsWith('\rImporting: adding up…\x1b[K\r\x1b[K'))
  shown = ''
  createProgressBar(screen(true), null).onRead(500, 1)
  t.equal(shown, '\rReading: 1 order\x1b[K')
  shown = ''
  const lines = createProgressBar(screen(false), 1_000)
  for (const bytes of [50, 150, 180, 490, 1_000]) lines.onRead(bytes, bytes)
  t.equal(shown, 'Read 10%, 150 orders\nRead 40%, 490 orders\nRead 100%, 1,000 orders\n')
  t.end()
})
