import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import type { LiveStatus } from '../../src/orders/order-status.js'
import { temporaryFolder } from '../support/app.js'
import { avoidMidnight } from '../support/midnight.js'
import { startOrderApi } from '../support/order-api.js'
import { newOrder } from '../support/order-store.js'
import { signIn } from '../support/sign-in.js'

await avoidMidnight()

const HTMX = { 'hx-request': 'true', 'hx-request-type': 'partial', 'hx-target': 'div#figures' }
const DAY_MS = 24 * 60 * 60 * 1000

/** Noon some days ago. */
const ago = (days: number): string =>
  `${new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)}T12:00:00.000Z`

const day = (days: number): string => ago(days).slice(0, 10)

async function startDashboard(
  test: Test,
  orders: Parameters<typeof newOrder>[0][] = [],
  environment: NodeJS.ProcessEnv = {},
) {
  const DATA_DIR = temporaryFolder(test)
  const TIME_ZONE = 'Atlantic/Reykjavik' // UTC all year
  const api = await startOrderApi(test, { DATA_DIR, TIME_ZONE, ...environment })
  for (const order of orders) await api.call('POST', '/api/admin/orders', newOrder(order))
  const authorization = `Bearer ${await signIn(api.url)}`
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(api.url + path, {
      headers: { authorization, 'accept-language': 'en-GB', ...headers },
    })
    return { status: response.status, headers: response.headers, html: await response.text() }
  }
  return { ...api, get, bookFile: join(DATA_DIR, 'orders.db') }
}

const getText = (html: string): string =>
  html
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&amp;', '&')
    .replace(/[\s\u202f]+/g, ' ')
    .trim()

const cardText = (html: string, name: string): string =>
  getText(
    new RegExp(`<section class="card" id="card-${name}">[^]*?</section>`).exec(html)?.[0] ?? '',
  )

const getLink = (html: string, name: string): string =>
  (new RegExp(`id="card-${name}">[^]*?href="([^"]+)"`).exec(html)?.[1] ?? '').replaceAll(
    '&amp;',
    '&',
  )

const { url, get, call, bookFile, log } = await startDashboard(t, [
  { placedAt: ago(1), status: 'fulfilled', co2eKg: 9000, amountMinor: 100_000 },
  { placedAt: ago(2), status: 'paid', co2eKg: 2500.5, amountMinor: 23_450 },
  { placedAt: ago(2), status: 'pending', co2eKg: 1, amountMinor: 500, currency: 'JPY' },
  { placedAt: ago(3), status: 'refunded', co2eKg: 77_000, amountMinor: 7_700_000 },
  { placedAt: ago(10), status: 'fulfilled', co2eKg: 10_000, amountMinor: 100_000 },
  { placedAt: ago(11), status: 'fulfilled', co2eKg: 1501.5, amountMinor: 1 },
])

t.test('the dashboard requires an administrator', async (t) => {
  const response = await fetch(`${url}/admin?range=7d`, { redirect: 'manual' })
  t.equal(response.status, 303)
  t.equal(response.headers.get('location'), '/admin/login?returnTo=%2Fadmin%3Frange%3D7d')
})

t.test('four cards show values and their change', async (t) => {
  const { status, html } = await get('/admin?range=7d')
  t.equal(status, 200)
  t.equal(cardText(html, 'orders'), 'Orders 4 0.6 per day ▲ Up 100% vs previous 7 days')
  t.equal(cardText(html, 'co2e'), 'CO₂e 11.5 t 3.8 t per order No change from the previous 7 days')
  t.equal(
    cardText(html, 'revenue'),
    'Revenue paid €1,234.50 €0.00 outstanding JP¥500 outstanding ▲ Up 23% vs previous 7 days',
    'does not add up currencies, and shows the most used first',
  )
  t.match(
    cardText(html, 'fulfilment'),
    /^Fulfilment 100.0% 2 of 2 orders up to \d+ \w+ Median time 1\d(\.\d)? days No orders in the previous 7 days$/,
    'of orders that had a week',
  )
})

t.test('shows a missing previous period, and no change for all time', async (t) => {
  const month = await get('/admin?range=30d')
  for (const name of ['orders', 'co2e', 'revenue', 'fulfilment']) {
    t.match(cardText(month.html, name), /No orders in the previous 30 days$/, name)
  }
  const all = await get('/admin?range=all')
  t.match(cardText(all.html, 'orders'), /^Orders 6 [\d.]+ per day$/)
  t.match(
    cardText(all.html, 'fulfilment'),
    /^Fulfilment 100.0% 2 of 2 orders up to [\w ]+ Median time [\d.]+ days$/,
  )
})

t.test('the cohort of fulfilment ends a week before the range', async (t) => {
  const placed = (days: number, status: LiveStatus) => ({ placedAt: ago(days), status })
  const { get, call } = await startDashboard(t, [
    placed(0, 'fulfilled'),
    placed(6, 'pending'),
    placed(7, 'pending'),
    placed(8, 'fulfilled'),
    placed(9, 'refunded'),
    placed(13, 'fulfilled'),
    placed(14, 'fulfilled'),
    placed(20, 'paid'),
    placed(21, 'paid'),
  ])
  const { body } = await call('POST', '/api/admin/stats', { range: '7d' })
  t.match(body.fulfillment, { fulfilled: 1, total: 2, rate: 0.5 })
  t.match(body.fulfillmentCohort, { from: day(13), to: day(7), fulfilled: 2, total: 3 })
  t.match(body.fulfillmentCohort, { rate: 2 / 3, previousRate: 0.5 })
  const median = (Date.now() - (Date.parse(ago(8)) + Date.parse(ago(13))) / 2) / 3_600_000
  t.ok(Math.abs(body.fulfillmentCohort.medianHours - median) < 0.2)
  const { html } = await get('/admin?range=7d')
  t.match(cardText(html, 'fulfilment'), /66.7% 2 of 3 orders.*Up 16.7 points/)
  const link = getLink(html, 'fulfilment')
  t.match(await get(link), { status: 200, html: /<strong>2<\/strong> orders/ })

  const { body: all } = await call('POST', '/api/admin/stats', { range: 'all' })
  t.match(all.fulfillmentCohort, { from: null, to: day(7), fulfilled: 3, total: 6 })
  t.match(all.fulfillmentCohort, { previousRate: null })
})

t.test('folds further currencies', async (t) => {
  const orders = [
    { currency: 'EUR', status: 'paid' } as const,
    { currency: 'EUR' },
    { currency: 'NOK' },
    { currency: 'USD' },
  ]
  const { html } = await (await startDashboard(t, orders)).get('/admin?range=all')
  t.equal(
    cardText(html, 'revenue'),
    'Revenue paid US$0.00 US$40.09 outstanding 2 more currencies €40.09 €40.09 outstanding NOK 40.09 outstanding',
  )
})

t.test('shows the main currency first if it has orders', async (t) => {
  const orders = [{ currency: 'EUR' }, { currency: 'EUR' }, { currency: 'NOK', amountMinor: 500 }]
  const main = async (CURRENCY: string) => {
    const { get } = await startDashboard(t, orders, { CURRENCY })
    return cardText((await get('/admin?range=all')).html, 'revenue')
  }
  t.match(await main('NOK'), /^Revenue paid NOK 0.00 NOK 5.00 outstanding/)
  t.match(await main('USD'), /^Revenue paid €/)
})

t.test('every card links to its orders', async (t) => {
  const found = async (html: string, name: string): Promise<number> => {
    const list = await call('GET', getLink(html, name).replace('/admin/', '/api/admin/'))
    return list.body.totalItems
  }
  for (const [range, expected] of [
    ['7d', [4, 3, 2, 2]],
    ['all', [6, 5, 4, 2]],
  ] as const) {
    const { html } = await get(`/admin?range=${range}`)
    const numbers = []
    for (const name of ['orders', 'co2e', 'revenue', 'fulfilment'])
      numbers.push(await found(html, name))
    t.same(numbers, expected, range)
  }
  const { html } = await get('/admin?range=7d')
  t.equal(getLink(html, 'orders'), `/admin/orders?from=${day(6)}&to=${day(0)}`)
  t.match(
    getLink(html, 'fulfilment'),
    `/admin/orders?from=${day(13)}&to=${day(7)}&status=fulfilled`,
  )
})

t.test('defaults to 30 days for a missing or invalid range', async (t) => {
  for (const [path, range] of [
    ['/admin', '30d'],
    ['/admin?range=', '30d'],
    ['/admin?range=1y', '30d'],
    ['/admin?range=7d&range=90d', '30d'],
    ['/admin?range=7d', '7d'],
    ['/admin?range=90d', '90d'],
    ['/admin?range=all', 'all'],
  ] as const) {
    const { html } = await get(path)
    t.same(
      [...html.matchAll(/id="range-(\w+)"[^>]*aria-current/g)].map(([, name]) => name),
      [range],
      path,
    )
  }
})

t.test('the timeline table has the data and totals of the chart', async (t) => {
  const { html } = await get('/admin?range=7d')
  const rows = [...html.matchAll(/<tr data-axis-label[^]*?<\/tr>/g)].map(([row]) => row)
  t.equal(rows.length, 7, 'days without orders too')
  t.match(rows[6], 'data-unfinished', 'today is not over')
  t.match(getText(rows[6] ?? ''), / so far 0 0.0 €0.00$/)
  t.match(rows[4], `datetime="${day(2)}"`)
  t.match(getText(rows[4] ?? ''), / 2 2,501.5 €234.50$/)
  t.match(rows[4]?.replaceAll('&amp;', '&'), `/admin/orders?from=${day(2)}&to=${day(2)}`)
  t.same(
    [...(rows[4] ?? '').matchAll(/<data value="([^"]+)"/g)].map(([, value]) => value),
    ['2', '2501.5', '234.5'],
  )
  t.match(getText(/<tfoot>[^]*<\/tfoot>/.exec(html)?.[0] ?? ''), /^Total 4 11,501.5 €1,234.50$/)
})

t.test('orders by status link to the filtered list', async (t) => {
  const { html } = await get('/admin?range=7d')
  const table = /id="statuses"[^]*?<\/table>/.exec(html)?.[0] ?? ''
  t.equal(
    getText(/<tbody>[^]*<\/tbody>/.exec(table)?.[0] ?? ''),
    'Pending 1 25.0% Paid 1 25.0% Processing 0 0.0% Fulfilled 1 25.0% Refunded 1 25.0% Cancelled 0 0.0%',
  )
  t.same(
    [...table.matchAll(/href="([^"]+)"/g)].map(([, href]) => href?.replaceAll('&amp;', '&')),
    ['pending', 'paid', 'fulfilled', 'refunded'].map(
      (status) => `/admin/orders?from=${day(6)}&to=${day(0)}&status=${status}`,
    ),
    'values of zero have no link',
  )
})

t.test('shows English numbers and dates, and the time zone', async (t) => {
  const german = (await get('/admin?range=7d', { 'accept-language': 'de-DE' })).html
  t.match(cardText(german, 'co2e'), /^CO₂e 11.5 t 3.8 t per order/)
  t.match(
    cardText(german, 'revenue'),
    /^Revenue paid €1,234.50 €0.00 outstanding JP¥500 outstanding ▲ Up 23%/,
  )
  t.match(german, 'data-locale="en-GB"')
  t.match(getText((await get('/admin')).html), /\d+ .* – \d+ \w+ \d{4} \(Atlantic\/Reykjavik\)/)
})

t.test('htmx receives only the content and the range buttons', async (t) => {
  const { status, html, headers } = await get('/admin?range=90d', HTMX)
  t.equal(status, 200)
  t.notMatch(html, /<html|skeleton|id="figures"/)
  t.match(html, /<hx-partial hx-target="#ranges"[^]*id="range-90d"[^>]*aria-current/)
  t.match(cardText(html, 'orders'), /^Orders 6/)
  t.match(headers.get('vary'), /HX-Request-Type/)
  const restored = await get('/admin?range=90d', { 'hx-request-type': 'full' })
  t.match(restored.html, /^<!doctype html>/, 'going back gets the whole page')
})

t.test('allows style elements by a new nonce per page, on the dashboard only', async (t) => {
  const nonces = new Set<string>()
  for (let i = 0; i < 3; i++) {
    const { html, headers } = await get('/admin')
    const policy = headers.get('content-security-policy') ?? ''
    const nonce = /style-src 'self' 'nonce-([\w-]{22})'/.exec(policy)?.[1] ?? ''
    t.match(policy, /script-src 'self';/)
    t.notMatch(policy, 'unsafe')
    t.ok(html.includes(`data-style-nonce="${nonce}"`))
    nonces.add(nonce)
  }
  t.equal(nonces.size, 3)
  for (const path of ['/admin/orders', '/', '/nothing-here']) {
    t.notMatch((await get(path)).headers.get('content-security-policy'), 'nonce', path)
  }
  for (const path of ['/admin', '/admin/nothing-here']) {
    t.equal((await get(path)).headers.get('cache-control'), 'no-store', path)
  }
})

t.test('sends the loading state first', async (t) => {
  const { html } = await get('/admin')
  const [opening = ''] = html.split('<div id="figures">')
  t.match(opening, /class="skeleton" role="status" aria-busy="true"/)
  t.match(opening, 'id="ranges"')
  t.notMatch(opening, 'class="card" id=')
})

t.test('shows an error with a retry button if statistics cannot be loaded', async (t) => {
  const db = new Database(bookFile)
  db.exec('ALTER TABLE order_totals RENAME TO totals_away')
  try {
    const page = await get('/admin?range=7d')
    t.equal(page.status, 200, 'the page is under way already')
    t.match(page.html, /Statistics could not be loaded[^]*href="\/admin\?range=7d"[^]*Try again/)
    t.match(page.html, /<\/html>\s*$/)
    const fragment = await get('/admin?range=7d', HTMX)
    t.equal(fragment.status, 500)
    t.match(fragment.html, /Statistics could not be loaded[^]*hx-get="\/admin\?range=7d"/)
    t.notMatch(page.html + fragment.html, /no such table|order_totals/, 'and nothing from inside')
    // Background jobs fail meanwhile, too.
    const errors = () =>
      log.filter(({ level, reqId }) => Number(level) >= 50 && reqId !== undefined).length
    t.equal(errors(), 2)
    db.exec("UPDATE settings SET value = 'Asia/Tokyo' WHERE name = 'time_zone'")
    const nextMessage = await get('/admin?range=7d', HTMX)
    t.equal(nextMessage.status, 503)
    t.match(getText(nextMessage.html), /Statistics could not be loaded .*Asia\/Tokyo.*TIME_ZONE/)
    t.equal(errors(), 2, 'expected errors only')
  } finally {
    db.exec("UPDATE settings SET value = 'Atlantic/Reykjavik' WHERE name = 'time_zone'")
    db.exec('ALTER TABLE totals_away RENAME TO order_totals')
    db.close()
  }
  t.match(cardText((await get('/admin?range=7d')).html, 'orders'), /^Orders 4/)
})

t.test('links to the order form while there are no orders', async (t) => {
  const empty = await startDashboard(t)
  const { status, html } = await empty.get('/admin')
  t.equal(status, 200)
  t.match(html, /No orders yet[^]*href="\/admin\/orders\/new"/)
  t.notMatch(html, /id="card-/)
})

t.test('links to all time if the period has no orders', async (t) => {
  const old = await startDashboard(t, [{ placedAt: ago(40) }])
  const { html } = await old.get('/admin?range=7d')
  t.match(cardText(html, 'orders'), /^Orders 0 0.0 per day No orders in the previous 7 days$/)
  t.match(cardText(html, 'fulfilment'), /^Fulfilment – 0 of 0 orders up to [\w ]+$/)
  t.match(html, /No orders in this period[^]*href="\/admin\?range=all"/)
  const quarter = await old.get('/admin?range=90d')
  t.match(cardText(quarter.html, 'orders'), /^Orders 1 0.011 per day/, 'few are not none')
  t.match(cardText(quarter.html, 'fulfilment'), /0 of 1 order(?!s)/)
  const month = await old.get('/admin?range=30d')
  t.match(cardText(month.html, 'orders'), /▼ Down 100% vs previous 30 days$/)
})

t.test('shows a custom range', async (t) => {
  const february = ['2026-01-31T10:00:00Z', '2026-02-01T10:00:00Z', '2026-02-28T23:00:00Z']
  const { call, get } = await startDashboard(
    t,
    february.map((placedAt) => ({ placedAt })),
  )
  const days = (from: string, to: string) => `/admin?range=custom&from=${from}&to=${to}`
  const { html } = await get(days('2026-02-01', '2026-02-28'), HTMX)
  t.match(html, /id="range-custom" aria-current="page"/)
  t.match(html, /name="from"[^>]*value="2026-02-01"/)
  t.match(html, /1\s*–\s*28\sFeb\s2026/)
  t.match(cardText(html, 'orders'), /^Orders 2 .* vs previous 28 days/)
  const reversed = (await get(days('2026-02-28', '2026-02-01'), HTMX)).html
  t.match(reversed, 'The dates were in reverse order.')
  t.notMatch(html, 'reverse order')
  t.equal(cardText(reversed, 'orders'), cardText(html, 'orders'))
  for (const query of ['range=custom', 'range=custom&from=2026-02-30&to=2026-03-01']) {
    t.match((await get(`/admin?${query}`)).html, /id="range-30d"[^>]* aria-current="page"/)
  }
  const stats = (body: object) => call('POST', '/api/admin/stats', body)
  t.match((await stats({ range: 'custom', from: '2026-02-01', to: '2026-02-28' })).body, {
    range: 'custom',
    orders: 2,
    previous: { orders: 1 },
  })
  for (const [body, path] of [
    [{ range: 'custom', from: '2026-02-01' }, 'to'],
    [{ range: 'custom', to: '2026-02-01' }, 'from'],
    [{ range: 'custom', from: '2026-02-02', to: '2026-02-01' }, 'to'],
    [{ range: 'custom', from: '1900-01-01', to: '2900-01-01' }, 'to'],
    [{ range: '7d', from: '2026-02-01' }, 'from'],
  ] as const) {
    t.match(await stats(body), { status: 422, body: { errors: [{ path }] } })
  }
})
