import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { BrowserContextOptions, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import {
  ACCESSIBILITY_VARIANTS,
  checkAccessibility,
  checkNoSidewaysScrolling,
} from '../support/accessibility.js'
import { ADMIN } from '../support/sign-in.js'
import { temporaryFolder } from '../support/app.js'
import { DESKTOP, launchBrowser, recordBrowserErrors, PHONE } from '../support/browser.js'
import { avoidMidnight } from '../support/midnight.js'
import { startOrderApi } from '../support/order-api.js'
import { newOrder } from '../support/order-store.js'
import { waitForEqual } from '../support/wait-for.js'

await avoidMidnight()

const DATA_DIR = temporaryFolder(t)
const { url, call } = await startOrderApi(t, { DATA_DIR, LOGIN_LIMIT_PER_CLIENT: '1000' })
const browser = await launchBrowser()
t.teardown(() => browser.close())

const DAY_MS = 24 * 60 * 60 * 1000
const STATUSES = ['pending', 'paid', 'processing', 'fulfilled', 'refunded'] as const
for (let i = 0; i < 40; i++) {
  await call(
    'POST',
    '/api/admin/orders',
    newOrder({
      placedAt: new Date(Date.now() - ((i * i) % 120) * DAY_MS).toISOString(),
      status: STATUSES[i % STATUSES.length] ?? 'paid',
      co2eKg: 100 * (i + 1),
      amountMinor: 1000 * (i + 3),
      currency: i % 4 === 0 ? 'USD' : 'EUR',
    }),
  )
}

async function open(t: Test, options: BrowserContextOptions = {}, path = '/admin') {
  const context = await browser.newContext({
    viewport: DESKTOP,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    ...options,
  })
  t.teardown(() => context.close())
  const browserErrors = recordBrowserErrors(context, url)
  const login = await context.request.post(`${url}/api/admin/login`, { data: ADMIN })
  t.equal(login.status(), 200)
  const page = await context.newPage()
  await page.goto(url + path)
  return { context, page, browserErrors }
}

const drawn = (page: Page) =>
  page.waitForFunction(() => document.querySelectorAll('.apexcharts-svg').length === 2)

/** What the address, the choice of a range and the figures say, after the charts are there. */
async function shown(page: Page) {
  await drawn(page)
  return page.evaluate(() => ({
    address: location.search,
    range: document.querySelector('#ranges [aria-current]')?.textContent,
    orders: document.querySelector('#card-orders .value')?.textContent,
    rows: document.querySelectorAll('#timeline tbody tr').length,
  }))
}

/** How high the points of the line are above its axis, as parts of the highest. */
async function heights(page: Page): Promise<number[]> {
  const area = page.locator('#timeline-chart path.apexcharts-area[stroke=none]')
  const path = (await area.getAttribute('d')) ?? ''
  const levels = [...path.matchAll(/[ML] [\d.]+ ([\d.]+)/g)].map(([, y]) => Number(y))
  // The area goes along the line, then down to the axis and back along it.
  const axis = levels.at(-1) ?? NaN
  const points = levels.slice(0, -2).map((y) => axis - y)
  const highest = Math.max(...points)
  return points.map((height) => Math.round((height / highest) * 100))
}

/** The numbers of a column of the table, as parts of the largest. */
async function column(page: Page, index: number): Promise<number[]> {
  const cells = page.locator(`#timeline tbody td:nth-child(${index + 1}) data`)
  const values = await cells.evaluateAll((all) =>
    all.map((one) => Number((one as HTMLDataElement).value)),
  )
  const largest = Math.max(...values)
  return values.map((value) => Math.round((value / largest) * 100))
}

t.test('charts are drawn from the tables beside them, measure by measure', async (t) => {
  const { page, browserErrors } = await open(t, {}, '/admin?range=7d')
  await drawn(page)
  for (const [measure, index] of [
    ['orders', 1],
    ['co2e', 2],
    ['revenue', 3],
  ] as const) {
    await page.locator(`.measures [data-measure=${measure}]`).click()
    await drawn(page)
    const pressed = page.locator('.measures [aria-pressed=true]')
    t.equal(await pressed.getAttribute('data-measure'), measure)
    const values = await column(page, index)
    t.equal(values.length, 7)
    await waitForEqual(
      t,
      () => heights(page),
      values,
      `${measure}: the line is as high as the numbers`,
    )
  }
  t.same(browserErrors, { errors: [], externalRequests: [] })
})

t.test('the ring stays by its list beside a long table', async (t) => {
  const { page } = await open(t, {}, '/admin?range=90d')
  await drawn(page)
  await page.getByText('Show as a table').click()
  await page.locator('#timeline .scroll').waitFor()
  const bottom = (selector: string) =>
    page.locator(selector).evaluate((part) => part.getBoundingClientRect().bottom)
  const top = await page
    .locator('#statuses table')
    .evaluate((part) => part.getBoundingClientRect().top)
  const under = top - (await bottom('#statuses .chart svg'))
  t.ok(under >= 0 && under < 40, `the list begins ${under} px under the ring`)
  t.ok((await bottom('#timeline')) - (await bottom('#statuses')) > 100, 'nothing is stretched')
})

t.test('on paper the chart is as wide as the sheet, and nothing covers the list', async (t) => {
  const { page } = await open(t, {}, '/admin?range=7d')
  await drawn(page)
  await page.emulateMedia({ media: 'print' })
  // A sheet is narrower than the window, which stays as it is: nothing is told to draw anew.
  await page.evaluate(() => {
    document.body.style.width = '700px'
    dispatchEvent(new Event('beforeprint'))
  })
  const [grid, card] = await Promise.all([
    page.locator('#timeline .chart .apexcharts-grid').boundingBox(),
    page.locator('#timeline').boundingBox(),
  ])
  t.ok(grid && card && grid.x > card.x && grid.x + grid.width < card.x + card.width)
  t.ok(grid && card && grid.width > card.width / 2)
  t.equal(await page.locator('#statuses .chart').isVisible(), false)
  t.equal(await page.locator('.site-header').isVisible(), false)
})

t.test('a ring has a slice for each status, which leads to its orders', async (t) => {
  const { page } = await open(t, {}, '/admin?range=all')
  await drawn(page)
  t.equal(await page.locator('.apexcharts-pie-area').count(), STATUSES.length)
  const counts = await page
    .locator('#statuses tbody tr:has(a) data')
    .evaluateAll((all) => all.map((one) => Number((one as HTMLDataElement).value)))
  const slices = await page
    .locator('.apexcharts-pie-area')
    .evaluateAll((all) => all.map((slice) => Number(slice.getAttribute('data:value'))))
  t.same(slices, counts)
  // The second slice is on the right; its box also holds a part of the hole.
  const box = await page.locator('.apexcharts-pie-area').nth(1).boundingBox()
  await page.mouse.click(
    (box?.x ?? 0) + (box?.width ?? 0) - 6,
    (box?.y ?? 0) + (box?.height ?? 0) / 2,
  )
  await page.waitForURL('**/admin/orders?status=paid')
  t.equal(await page.locator('table.orders tbody tr').count(), counts[1])
})

t.test('cards and rows lead to the orders they sum up', async (t) => {
  const { page } = await open(t, {}, '/admin?range=90d')
  const orders = Number(await page.locator('#card-orders .value').innerText())
  await page.locator('#card-orders').click({ position: { x: 150, y: 60 } })
  await page.waitForURL('**/admin/orders?from=*')
  t.match(await page.locator('.result-count').innerText(), new RegExp(`^${orders} orders?$`))
  await page.goBack()
  await page.getByText('Show as a table').click()
  const row = page.locator('#timeline tbody tr', { has: page.locator('td:has-text("1")') }).last()
  const date = (await row.locator('time').getAttribute('datetime')) ?? ''
  await row.getByRole('link').click()
  await page.waitForURL(`**/admin/orders?from=${date}&to=${date}`)
})

t.test(
  'a range is in the address: back, forward, reload and a new tab show the same',
  async (t) => {
    const { page, context, browserErrors } = await open(t)
    const states = [await shown(page)]
    for (const [range, name] of [
      ['7d', '7 days'],
      ['all', 'All time'],
      ['90d', '90 days'],
    ] as const) {
      const link = page.getByRole('link', { name, exact: true })
      await link.focus()
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/admin?range=${range}`)
      await page.waitForFunction(
        (name) => document.querySelector('#ranges [aria-current]')?.textContent === name,
        name,
      )
      await waitForEqual(
        t,
        () => page.evaluate(() => document.activeElement?.id),
        `range-${range}`,
        'focus stays',
      )
      states.push(await shown(page))
    }
    t.same(
      states.map(({ range }) => range),
      ['30 days', '7 days', 'All time', '90 days'],
    )
    t.equal(new Set(states.map(({ orders }) => orders)).size, 4, 'each shows figures of its own')

    const arrive = async (state: (typeof states)[number] | undefined, page: Page) => {
      await page.waitForFunction(
        (range) => document.querySelector('#ranges [aria-current]')?.textContent === range,
        state?.range,
      )
      t.same(await shown(page), state)
    }
    await page.goBack()
    await arrive(states[2], page)
    await page.goBack()
    await arrive(states[1], page)
    await page.goBack()
    await arrive(states[0], page)
    await page.goForward()
    await arrive(states[1], page)
    await page.reload()
    await arrive(states[1], page)
    const shared = await context.newPage()
    await shared.goto(page.url())
    await arrive(states[1], shared)
    t.same(browserErrors, { errors: [], externalRequests: [] })
  },
)

t.test('while a range is on its way the figures of before do not pass for its own', async (t) => {
  const { page } = await open(t, { reducedMotion: 'no-preference' })
  await drawn(page)
  let go = (): void => {}
  const held = new Promise<void>((resolve) => (go = resolve))
  await page.route('**/admin?range=7d', async (route) => {
    await held
    await route.continue()
  })
  await page.locator('#range-7d').click()
  await page.waitForFunction(() => {
    const cards = document.querySelector('.htmx-request .cards')
    return cards !== null && Number(getComputedStyle(cards).opacity) < 0.5
  })
  go()
  await page.waitForURL('**/admin?range=7d')
  t.equal((await shown(page)).range, '7 days')
  t.not(
    await page.locator('#card-orders .value').evaluate((value) => getComputedStyle(value).color),
    'rgba(0, 0, 0, 0)',
  )
})

t.test(
  'figures that cannot be read, or no connection: said in place, and tried again',
  async (t) => {
    const { page, context } = await open(t)
    await drawn(page)
    const db = new Database(join(DATA_DIR, 'orders.db'))
    db.exec('ALTER TABLE sums RENAME TO sums_away')
    try {
      await page.locator('#range-7d').click()
      await page.getByRole('alert').getByText('could not be loaded').waitFor()
      t.equal(await page.locator('.apexcharts-svg').count(), 0)
      t.match(page.url(), /range=7d$/)
    } finally {
      db.exec('ALTER TABLE sums_away RENAME TO sums')
      db.close()
    }
    await page.getByRole('link', { name: 'Try again' }).press('Enter')
    t.equal((await shown(page)).range, '7 days')
    await waitForEqual(
      t,
      () => page.evaluate(() => document.activeElement?.id),
      'range-7d',
      'the focus has a place',
    )

    const before = await shown(page)
    await context.setOffline(true)
    await page.locator('#range-90d').click()
    await page.getByRole('alert').getByText('No connection').waitFor()
    t.same(await shown(page), before, 'what was there stays there')
    await context.setOffline(false)
    await page.waitForURL('**/admin?range=90d')
    t.equal((await shown(page)).range, '90 days', 'it is there as soon as the connection is')
    t.equal(await page.getByText('No connection').count(), 0)

    await page.route('**/admin?range=all', (route) =>
      route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }),
    )
    await page.locator('#range-all').click()
    await page.getByRole('alert').getByText('cannot be reached (error 502)').waitFor()
    await page.unroute('**/admin?range=all')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.waitForURL('**/admin?range=all')
    t.equal((await shown(page)).range, 'All time')
    t.equal(await page.evaluate(() => document.activeElement?.id), 'range-all')
  },
)

t.test('charts follow a change of the colour scheme', async (t) => {
  const { page } = await open(t, { colorScheme: 'light' })
  await drawn(page)
  const fills = () =>
    page.evaluate(() => document.querySelector('.apexcharts-pie-area')?.getAttribute('fill'))
  const light = await fills()
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.waitForFunction(
    (light) => document.querySelector('.apexcharts-pie-area')?.getAttribute('fill') !== light,
    light,
  )
  const token = await page.evaluate(() => {
    const swatch = document.querySelector('#statuses tr.pending .dot')
    return swatch === null ? '' : getComputedStyle(swatch).backgroundColor
  })
  t.match(token, 'rgb(242, 192, 97)')
  t.match(await fills(), /242,\s?192,\s?97|f2c061/i)
})

t.test('with scripts off all numbers are there', async (t) => {
  const { page } = await open(t, { javaScriptEnabled: false }, '/admin?range=7d')
  t.equal(await page.locator('#timeline tbody tr').first().isVisible(), true)
  t.equal(await page.locator('#statuses tbody tr').first().isVisible(), true)
  t.equal(await page.locator('.measures').isVisible(), false)
  t.equal(await page.locator('.skeleton').isVisible(), false)
  await page.getByRole('link', { name: 'All time' }).click()
  t.equal(await page.locator('#card-orders .value').innerText(), '40')
})

t.test('nothing scrolls sideways on a phone whose letters are twice as large', async (t) => {
  const viewport = { width: PHONE.width / 2, height: PHONE.height / 2 }
  const { page } = await open(t, { viewport, deviceScaleFactor: 2 })
  for (const path of ['/admin', '/admin/orders', '/admin/orders/1', '/admin/orders/new']) {
    await page.goto(url + path)
    if (path === '/admin') await drawn(page)
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    t.equal(overflow, 0, path)
  }
})

for (const [device, options] of ACCESSIBILITY_VARIANTS) {
  t.test(`the dashboard is accessible on ${device}`, async (t) => {
    const { page, browserErrors } = await open(t, options)
    for (const range of ['7d', 'all']) {
      await page.goto(`${url}/admin?range=${range}`)
      await drawn(page)
      await page.getByText('Show as a table').click()
      await checkAccessibility(t, page, range)
    }
    t.same(browserErrors, { errors: [], externalRequests: [] })
  })
}

for (const width of [360, PHONE.width, DESKTOP.width, 1920]) {
  t.test(`the charts fit a window ${width} px wide`, async (t) => {
    const { page } = await open(t, { viewport: { width, height: 800 } })
    for (const range of ['7d', '90d', 'all']) {
      await page.goto(`${url}/admin?range=${range}`)
      await drawn(page)
      await checkNoSidewaysScrolling(t, page, range)
      const ticks = await page.evaluate(() => {
        const boxes = [...document.querySelectorAll('.apexcharts-xaxis-label')]
          .filter((label) => label.textContent !== '')
          .map((label) => label.getBoundingClientRect())
        return {
          count: boxes.length,
          overlaps: boxes.filter((box, i) => i > 0 && box.left < (boxes[i - 1]?.right ?? 0)).length,
        }
      })
      t.ok(ticks.count >= 2 && ticks.overlaps === 0, `${range}: dates do not overlap`)
    }
  })
}

t.test('everything can be reached by keyboard, in the order of the page', async (t) => {
  const { page } = await open(t)
  await drawn(page)
  const expected = await page.evaluate(() => {
    const all = document.querySelectorAll<HTMLElement>('#dashboard :is(a[href], button, summary)')
    const reachable = [...all].filter((element) => element.checkVisibility())
    reachable.forEach((element, i) => (element.dataset.order = String(i)))
    return reachable.length
  })
  await page.locator('[data-order="0"]').focus()
  for (let i = 1; i < expected; i++) {
    await page.keyboard.press('Tab')
    t.equal(
      await page.evaluate(() => (document.activeElement as HTMLElement).dataset.order),
      String(i),
    )
  }
})
