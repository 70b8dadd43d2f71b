import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { calculateEstimate } from '../../src/calculator/estimate.js'
import { validateCalculation } from '../../src/calculator/validate-calculation.js'
import { parseImoNumber } from '../../src/calculator/vessel.js'
import { getMinorUnitDigits } from '../../src/core/formatting/number-formatter.js'
import { openSqliteDatabase } from '../../src/database/sqlite-database.js'
import { createDemoOrders, PRICES_PER_TONNE, type DemoOrder } from '../../src/demo/demo-orders.js'
import { addGuestOrder, seedOrderStore } from '../../src/demo/sample-data.js'
import {
  getTransitions,
  ORDER_STATUSES,
  toLiveStatus,
  type OrderStatus,
} from '../../src/orders/order-status.js'
import { ImportedOrder, type Order } from '../../src/orders/order.js'
import { checker } from '../../src/orders/validators.js'
import { temporaryFolder } from '../support/app.js'
import { distPath } from '../support/dist-path.js'
import { fillStore } from '../support/order-store.js'
import { checkStore } from '../support/store-check.js'
import { openFileStore } from '../support/stores.js'
import { waitFor } from '../support/wait-for.js'

const NOW = new Date('2026-11-20T14:30:00Z')
const DAY_MS = 86_400_000

const demoOrders = [...createDemoOrders({ now: NOW })]
const orders = demoOrders.map(({ order }) => order)

const tally = <T>(values: readonly T[]): Map<T, number> => {
  const counts = new Map<T, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}
const ageInDays = (order: Order): number => (NOW.getTime() - Date.parse(order.placedAt)) / DAY_MS

t.test('every order is valid', (t) => {
  const check = checker(ImportedOrder)
  t.equal(orders.length, 4_000)
  t.same(
    orders.map(check).filter(({ ok }) => !ok),
    [],
  )
  t.equal(new Set(orders.map(({ orderNumber }) => orderNumber)).size, orders.length)
  t.ok(orders.every((order) => /@example\.(com|org|net)$/.test(order.customerEmail)))
  t.end()
})

t.test('masses come from the calculators and prices from the masses', (t) => {
  for (const order of orders) {
    const { calculatorType, calculatorData } = order
    const trip = calculatorType && validateCalculation(calculatorType, calculatorData)
    if (!trip?.ok) {
      t.fail(`order ${order.id} has no trip`)
      continue
    }
    if (Math.abs(calculateEstimate(trip.value).co2eKg - order.co2eKg) > 0.051)
      t.fail(`mass of ${order.id}`)
    const price = PRICES_PER_TONNE[order.currency as keyof typeof PRICES_PER_TONNE]
    const minor = (order.co2eKg / 1000) * price * 10 ** getMinorUnitDigits(order.currency)
    const above = order.amountMinor - minor
    if (!(above > -1e-5 && above < 1)) t.fail(`price of ${order.id}`)
  }
  t.equal(tally(orders.map((order) => order.calculatorType)).size, 3)
  const currencies = tally(orders.map(({ currency }) => currency))
  t.ok((currencies.get('EUR') ?? 0) > 1_500, 'mostly in euros')
  for (const currency of ['USD', 'GBP', 'NOK', 'JPY']) t.ok(currencies.has(currency), currency)
  t.end()
})

t.test('vessels have one valid IMO number or none', (t) => {
  const byVessel = new Map<string | null, string | null>()
  for (const { vesselName, imoNumber } of orders) {
    if (imoNumber !== null && parseImoNumber(imoNumber) !== imoNumber) t.fail(imoNumber)
    if (byVessel.has(vesselName) && byVessel.get(vesselName) !== imoNumber) t.fail(vesselName ?? '')
    byVessel.set(vesselName, imoNumber)
  }
  const without = orders.filter(({ imoNumber }) => imoNumber === null).length
  t.ok(without > 1_000 && without < 3_500, `${without} without`)
  t.end()
})

t.test('old orders are completed, recent ones in progress', (t) => {
  const statuses = (from: number, to: number) =>
    tally(
      orders
        .filter((order) => ageInDays(order) >= from && ageInDays(order) < to)
        .map(({ status }) => status),
    )
  const old = statuses(40, 1_000)
  t.same(
    [...old.keys()].toSorted(),
    ['cancelled', 'fulfilled', 'refunded'],
    'no order is open after six weeks',
  )
  t.ok((old.get('fulfilled') ?? 0) > 0.85 * 3_500)
  t.equal(
    tally(orders.map(({ status }) => status)).size,
    ORDER_STATUSES.length,
    'includes every status',
  )
  t.notOk(statuses(0, 1).has('fulfilled'))
  for (const { status, orderSourceId, fulfilledAt, cancelledAt } of orders) {
    if (status === 'fulfilled' && (orderSourceId === null || fulfilledAt === null)) t.fail(status)
    if ((status === 'cancelled') !== (cancelledAt !== null)) t.fail(status)
  }
  t.end()
})

t.test('the history reaches the current state through valid transitions', (t) => {
  const administrators = new Set<string>()
  for (const { order, by, history } of demoOrders) {
    let status: OrderStatus = 'pending'
    let before: OrderStatus = 'pending'
    let time = Date.parse(order.placedAt)
    for (const [i, entry] of history.entries()) {
      if (Date.parse(entry.at) < time || entry.at > NOW.toISOString()) t.fail(`time of ${order.id}`)
      time = Date.parse(entry.at)
      if (entry.version !== i + 2) t.fail(`version of ${order.id}`)
      const move = entry.changes.find(({ field }) => field === 'status')
      if (move) {
        const to = ORDER_STATUSES.find((known) => known === move.to)
        const cancelledFrom = status === 'cancelled' ? (toLiveStatus(before) ?? null) : null
        const possible = getTransitions({ status, cancelledFrom, paidAt: null })
        const may = to === 'cancelled' || possible.some((one) => one === to)
        if (move.from !== status || to === undefined || !may) t.fail(`move of ${order.id}`)
        else [before, status] = [status, to]
      }
      if (entry.by !== by) administrators.add(entry.by)
    }
    if (order.status !== status || order.version !== history.length + 1)
      t.fail(`end of ${order.id}`)
    if (order.updatedAt !== (history.at(-1)?.at ?? order.placedAt)) t.fail(`change of ${order.id}`)
  }
  t.ok(administrators.size > 2, 'by more than one administrator')
  t.ok(orders.some(({ version }) => version > 5))
  t.ok(orders.some(({ notes }) => notes.includes('\n')))
  t.end()
})

t.test('order dates follow season, weekday and growth', (t) => {
  const placed = orders.map(({ placedAt }) => new Date(placedAt))
  const count = (is: (date: Date) => boolean) => placed.filter(is).length
  const inMonth = (year: number, month: number) =>
    count((date) => date.getUTCFullYear() === year && date.getUTCMonth() === month - 1)
  t.ok(inMonth(2026, 7) > 3 * inMonth(2026, 1), 'more in July than in January')
  t.ok(inMonth(2026, 7) > inMonth(2025, 7), 'more in the second year')
  const onWeekday = (day: number) => count((date) => date.getUTCDay() === day)
  t.ok(onWeekday(5) > onWeekday(0), 'more on Fridays than on Sundays')
  const ages = orders.map(ageInDays)
  t.ok(Math.max(...ages) < 731 && Math.max(...ages) > 700)
  t.ok(Math.min(...ages) >= 0 && Math.min(...ages) < 2)
  t.end()
})

t.test('the same seed generates the same orders', (t) => {
  const again = (seed: number): DemoOrder[] => [...createDemoOrders({ seed, now: NOW, count: 50 })]
  t.strictSame(again(7), again(7))
  t.notOk(isDeepStrictEqual(again(7), again(8)))
  t.end()
})

t.test('seeds an empty store only once', async (t) => {
  const path = join(temporaryFolder(t), 'orders.db')
  const database = openSqliteDatabase(path)
  t.equal(await seedOrderStore(database, NOW), true)
  t.equal(await seedOrderStore(database, NOW), false, 'a second time changes nothing')
  await database.close()
  checkStore(path)
  const store = await openFileStore({ path, timeZone: 'UTC' })
  t.teardown(() => store.close())
  const oldest = demoOrders.find(({ history }) => history.length > 3)
  t.strictSame(await store.get(oldest?.order.id ?? ''), oldest?.order)
  const history = await store.getHistory(oldest?.order.id ?? '')
  t.strictSame(history?.slice(0, -1), oldest?.history.toReversed())
  const found = await store.list({ q: 'αργοναύτης' }, { sort: '-placedAt', offset: 0, limit: 5 })
  t.ok(found.total > 0)
})

t.test('does not seed a store that has orders', async (t) => {
  const path = join(temporaryFolder(t), 'orders.db')
  const [only] = createDemoOrders({ seed: 2, count: 1, now: NOW })
  await fillStore(path, 'UTC', only ? [{ ...only.order, id: '99999', orderNumber: 'W-1' }] : [])
  const database = openSqliteDatabase(path)
  t.equal(await seedOrderStore(database, NOW), false)
  await database.close()
  const store = await openFileStore({ path, timeZone: 'UTC' })
  t.teardown(() => store.close())
  t.equal((await store.list({}, { sort: 'placedAt', offset: 0, limit: 1 })).total, 1)
})

/** Starts the demo in a folder; waits until it runs. */
async function startDemo(t: Test, folder: string) {
  const { PATH = '' } = process.env
  const demo = spawn(process.execPath, [distPath('commands', 'demo.js')], {
    cwd: folder,
    env: { PATH, PORT: '0' },
  })
  t.teardown(() => demo.kill('SIGKILL'))
  const exited = once(demo, 'exit')
  let output = ''
  demo.stdout.on('data', (part: Buffer) => (output += part.toString()))
  while (!output.includes('valid for 30 days') && demo.exitCode === null) await sleep(10)
  const stop = async () => {
    demo.kill('SIGTERM')
    await exited
  }
  return { output, stop }
}

t.test('the demo command seeds its own data directory', async (t) => {
  const folder = temporaryFolder(t)
  const { output, stop } = await startDemo(t, folder)
  const path = join(folder, 'data', 'demo', 'orders.db')
  t.ok(existsSync(path))
  const store = await openFileStore({ path, timeZone: 'UTC' })
  t.teardown(() => store.close())
  const { total } = await store.list({}, { sort: '-placedAt', offset: 0, limit: 1 })
  t.equal(total, 4_001, 'with the order of a guest')
  const [, guestOrder = ''] = /Guest's order +(\S+)/.exec(output) ?? []
  await waitFor(async () => (await (await fetch(guestOrder)).text()).includes('View the page'))

  await stop()
  const { id } = (await addGuestOrder(store)) ?? {}
  await startDemo(t, folder)
  const placedAs = await waitFor(async () => (await store.get(id ?? ''))?.orderSourceId)
  t.same(
    (await store.findByOrderSourceId(placedAs)).map((order) => String(order.id)),
    [id],
    'a restarted demo does not assign an ID twice',
  )
})
