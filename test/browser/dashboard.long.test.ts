import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { ACCESSIBILITY_VARIANTS, checkAccessibility } from '../support/accessibility.js'
import { temporaryFolder } from '../support/app.js'
import { DESKTOP, PHONE, recordBrowserErrors } from '../support/browser.js'
import { avoidMidnight } from '../support/midnight.js'
import { startOrderApi } from '../support/order-api.js'
import { newOrder } from '../support/order-store.js'
import { adminContext } from '../support/portal.js'
import { openBrowserContext, openPageOf, sharedBrowser } from '../support/shared-browser.js'
import { waitForEqual } from '../support/wait-for.js'

await avoidMidnight()

const DATA_DIR = temporaryFolder(t)
const { url, call } = await startOrderApi(t, { DATA_DIR })
const browser = await sharedBrowser()

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

const CONTEXT_OPTIONS: BrowserContextOptions = {
  viewport: DESKTOP,
  reducedMotion: 'reduce',
  locale: 'en-GB',
}

/** Signed in; shared by the tests that do not change the connection. */
const sharedContext = await adminContext(t, browser, { url }, CONTEXT_OPTIONS)
const session = await sharedContext.storageState()

async function openDashboard(t: Test, query = ''): Promise<Page> {
  const page = await openPageOf(t, sharedContext)
  await page.goto(`${url}/admin${query}`)
  return page
}

/** A page in a browser context of its own. */
const openContext = (t: Test, options: BrowserContextOptions = {}) =>
  openBrowserContext(t, { ...CONTEXT_OPTIONS, storageState: session, ...options })

const waitForCharts = (page: Page) =>
  page.waitForFunction(() => document.querySelectorAll('.apexcharts-svg').length === 2)

const getFocusedId = (page: Page) => page.evaluate(() => document.activeElement?.id)

async function getCentre(element: Locator): Promise<[x: number, y: number]> {
  const { x = 0, y = 0, width = 0, height = 0 } = (await element.boundingBox()) ?? {}
  return [x + width / 2, y + height / 2]
}

const getOverflow = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

/** What the URL, the selected range and the figures show once the charts are drawn. */
async function readState(page: Page) {
  await waitForCharts(page)
  return page.evaluate(() => ({
    query: location.search,
    range: document.querySelector('#ranges [aria-current]')?.textContent,
    orders: document.querySelector('#card-orders .value')?.textContent,
    rows: document.querySelectorAll('#timeline tbody tr').length,
  }))
}

const toPercentages = (values: number[]): number[] => {
  const max = Math.max(...values)
  return values.map((value) => Math.round((value / max) * 100))
}

/** The heights of the chart's points above its axis, in percent of the highest. */
async function getPointHeights(page: Page): Promise<number[]> {
  const area = page.locator('#timeline-chart path.apexcharts-area[stroke=none]')
  const path = (await area.getAttribute('d')) ?? ''
  const levels = [...path.matchAll(/[ML] [\d.]+ ([\d.]+)/g)].map(([, y]) => Number(y))
  // The path follows the line, then returns along the axis.
  const axis = levels.at(-1) ?? NaN
  return toPercentages(levels.slice(0, -2).map((y) => axis - y))
}

/** The values of a table column, in percent of the largest. */
async function getColumn(page: Page, index: number): Promise<number[]> {
  const cells = page.locator(`#timeline tbody td:nth-child(${index + 1}) data`)
  return toPercentages(
    await cells.evaluateAll((elements) =>
      elements.map((element) => Number((element as HTMLDataElement).value)),
    ),
  )
}

t.test('the link of the revenue card covered its other currencies', async (t) => {
  const service = await startOrderApi(t)
  for (const currency of ['EUR', 'NOK', 'SEK']) {
    await service.call('POST', '/api/admin/orders', newOrder({ currency }))
  }
  const options = { ...CONTEXT_OPTIONS, viewport: PHONE, hasTouch: true }
  const context = await adminContext(t, browser, service, options)
  const page = await context.newPage()
  await page.goto(`${service.url}/admin?range=7d`)
  const card = page.locator('#card-revenue')
  await card.locator('summary').click()
  t.equal(await card.locator('li').first().isVisible(), true, 'by mouse')
  await card.locator('summary').tap()
  t.equal(await card.locator('li').first().isVisible(), false, 'by touch')
  t.equal(new URL(page.url()).pathname, '/admin')
  await page.mouse.click(...(await getCentre(card.locator('.value'))))
  await page.waitForURL(/\/admin\/orders\?.*status=paid/)
})

t.test('draws each measure of the table as a chart', async (t) => {
  const browserErrors = recordBrowserErrors(sharedContext, url)
  const page = await openDashboard(t, '?range=7d')
  await waitForCharts(page)
  for (const [measure, index] of [
    ['orders', 1],
    ['co2e', 2],
    ['revenue', 3],
  ] as const) {
    await page.locator(`.measures [data-measure=${measure}]`).click()
    await waitForCharts(page)
    const pressed = page.locator('.measures [aria-pressed=true]')
    t.equal(await pressed.getAttribute('data-measure'), measure)
    const values = await getColumn(page, index)
    t.equal(values.length, 7)
    await waitForEqual(t, () => getPointHeights(page), values, `${measure}: matches the table`)
  }
  t.same(browserErrors, { errors: [], externalRequests: [] })
})

t.test('keeps the status chart next to its list when the table is long', async (t) => {
  const page = await openDashboard(t, '?range=90d')
  await waitForCharts(page)
  await page.getByText('Show as a table').click()
  await page.locator('#timeline .scroll').waitFor()
  const getBox = (selector: string) =>
    page
      .locator(selector)
      .evaluate((element) => element.getBoundingClientRect().toJSON() as DOMRect)
  const [chart, table] = [await getBox('#statuses .chart svg'), await getBox('#statuses table')]
  const distance = table.top - chart.bottom
  t.ok(distance >= 0 && distance < 40, `the list starts ${distance} px below the chart`)
  const [timeline, statuses] = [await getBox('#timeline'), await getBox('#statuses')]
  t.ok(timeline.bottom - statuses.bottom > 100, 'the card of the chart is not stretched')
})

t.test('prints the chart as wide as the sheet, without controls', async (t) => {
  const page = await openDashboard(t, '?range=7d')
  await waitForCharts(page)
  await page.emulateMedia({ media: 'print' })
  // A sheet is narrower than the window, and printing triggers no resize event.
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

t.test('links each slice of the status chart to its orders', async (t) => {
  const page = await openDashboard(t, '?range=all')
  await waitForCharts(page)
  const slices = page.locator('.apexcharts-pie-area')
  t.equal(await slices.count(), STATUSES.length)
  const counts = await page
    .locator('#statuses tbody tr:has(a) data')
    .evaluateAll((elements) =>
      elements.map((element) => Number((element as HTMLDataElement).value)),
    )
  t.same(
    await slices.evaluateAll((elements) =>
      elements.map((slice) => Number(slice.getAttribute('data:value'))),
    ),
    counts,
  )
  // The second slice is on the right; its bounding box includes a part of the hole.
  const box = await slices.nth(1).boundingBox()
  if (box === null) throw new Error('the second slice is not visible')
  await page.mouse.click(box.x + box.width - 6, box.y + box.height / 2)
  await page.waitForURL('**/admin/orders?status=paid')
  t.equal(await page.locator('table.orders tbody tr').count(), counts[1])
})

t.test('a point of the timeline did nothing', async (t) => {
  const page = await openDashboard(t, '?range=7d')
  await waitForCharts(page)
  const box = await page.locator('#timeline-chart .apexcharts-grid').boundingBox()
  if (box === null) throw new Error('the chart is not visible')
  const row = page.locator('#timeline tbody tr').last()
  const date = await row.locator('time').getAttribute('datetime')
  await page.mouse.move(box.x + box.width - 30, box.y + box.height / 2)
  await page.locator('.apexcharts-tooltip.apexcharts-active').waitFor()
  await page.mouse.click(box.x + box.width - 2, box.y + box.height / 2)
  await page.waitForURL(`**/admin/orders?from=${date}&to=${date}`)
})

t.test('the panel of a custom period stayed open over the cards', async (t) => {
  const page = await openDashboard(t)
  const panel = page.locator('.dropdown-panel')
  await page.getByText('Custom period').click()
  await page.getByLabel('From').fill('2026-02-01')
  await page.getByLabel('To', { exact: true }).fill('2026-02-28')
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.waitForURL('**from=2026-02-01**')
  await panel.waitFor({ state: 'hidden' })
  t.equal(await getFocusedId(page), 'range-custom')
  await page.getByText('Custom period').click()
  await panel.waitFor()
  await page.getByRole('heading', { name: 'Dashboard' }).click()
  await panel.waitFor({ state: 'hidden' })
})

t.test('links cards and table rows to their orders', async (t) => {
  const page = await openDashboard(t, '?range=90d')
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

t.test('restores the range with back, forward, reload and in a new tab', async (t) => {
  const browserErrors = recordBrowserErrors(sharedContext, url)
  const page = await openDashboard(t)
  const waitForRange = (page: Page, range: string | null | undefined) =>
    page.waitForFunction(
      (range) => document.querySelector('#ranges [aria-current]')?.textContent === range,
      range,
    )
  const states = [await readState(page)]
  for (const [range, name] of [
    ['7d', '7 days'],
    ['all', 'All time'],
    ['90d', '90 days'],
  ] as const) {
    await page.getByRole('link', { name, exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/admin?range=${range}`)
    await waitForRange(page, name)
    await waitForEqual(t, () => getFocusedId(page), `range-${range}`, 'keeps the focus')
    states.push(await readState(page))
  }
  t.same(
    states.map(({ range }) => range),
    ['30 days', '7 days', 'All time', '90 days'],
  )
  t.equal(new Set(states.map(({ orders }) => orders)).size, 4, 'each range has its own figures')

  const [first, second, third] = states
  const restored: typeof states = []
  const restore = async (page: Page, navigate: () => Promise<unknown>, state = first) => {
    await navigate()
    await waitForRange(page, state?.range)
    restored.push(await readState(page))
  }
  await restore(page, () => page.goBack(), third)
  await restore(page, () => page.goBack(), second)
  await restore(page, () => page.goBack(), first)
  await restore(page, () => page.goForward(), second)
  await restore(page, () => page.reload(), second)
  const newTab = await sharedContext.newPage()
  await restore(newTab, () => newTab.goto(page.url()), second)
  await newTab.close()
  t.same(restored, [third, second, first, second, second, second])
  t.same(browserErrors, { errors: [], externalRequests: [] })
})

t.test('fades the previous figures while a range is loading', async (t) => {
  const { page } = await openContext(t, { reducedMotion: 'no-preference' })
  await page.goto(`${url}/admin`)
  await waitForCharts(page)
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  await page.route('**/admin?range=7d', async (route) => {
    await released
    await route.continue()
  })
  await page.locator('#range-7d').click()
  await page.waitForFunction(() => {
    const cards = document.querySelector('.htmx-request .cards')
    return cards !== null && Number(getComputedStyle(cards).opacity) < 0.5
  })
  release()
  await page.waitForURL('**/admin?range=7d')
  t.equal((await readState(page)).range, '7 days')
  t.not(
    await page.locator('#card-orders .value').evaluate((value) => getComputedStyle(value).color),
    'rgba(0, 0, 0, 0)',
  )
})

t.test('reports unavailable figures and connection errors, and retries', async (t) => {
  const { context, page } = await openContext(t)
  await page.goto(`${url}/admin`)
  await waitForCharts(page)
  const db = new Database(join(DATA_DIR, 'orders.db'))
  db.exec('ALTER TABLE order_totals RENAME TO totals_away')
  try {
    await page.locator('#range-7d').click()
    await page.getByRole('alert').getByText('could not be loaded').waitFor()
    t.equal(await page.locator('.apexcharts-svg').count(), 0)
    t.match(page.url(), /range=7d$/)
  } finally {
    db.exec('ALTER TABLE totals_away RENAME TO order_totals')
    db.close()
  }
  await page.getByRole('link', { name: 'Try again' }).press('Enter')
  t.equal((await readState(page)).range, '7 days')
  await waitForEqual(t, () => getFocusedId(page), 'range-7d', 'focuses the range')

  const before = await readState(page)
  await context.setOffline(true)
  await page.locator('#range-90d').click()
  await page.getByRole('alert').getByText('No connection').waitFor()
  t.same(await readState(page), before, 'keeps the previous figures')
  await context.setOffline(false)
  await page.waitForURL('**/admin?range=90d')
  t.equal((await readState(page)).range, '90 days', 'retries when the connection is back')
  t.equal(await page.getByText('No connection').count(), 0)

  await page.route('**/admin?range=all', (route) =>
    route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }),
  )
  await page.locator('#range-all').click()
  await page.getByRole('alert').getByText('cannot be reached (error 502)').waitFor()
  await page.unroute('**/admin?range=all')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.waitForURL('**/admin?range=all')
  t.equal((await readState(page)).range, 'All time')
  t.equal(await getFocusedId(page), 'range-all')
})

t.test('redraws charts when the colour scheme changes', async (t) => {
  const page = await openDashboard(t)
  await waitForCharts(page)
  const getFill = () =>
    page.evaluate(() => document.querySelector('.apexcharts-pie-area')?.getAttribute('fill'))
  const light = await getFill()
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.waitForFunction(
    (light) => document.querySelector('.apexcharts-pie-area')?.getAttribute('fill') !== light,
    light,
  )
  const dotColour = await page
    .locator('#statuses tr.pending .dot')
    .evaluate((dot) => getComputedStyle(dot).backgroundColor)
  t.match(dotColour, 'rgb(242, 192, 97)')
  t.match(await getFill(), /242,\s?192,\s?97|f2c061/i)
})

t.test('shows all figures as tables without JavaScript', async (t) => {
  const { page } = await openContext(t, { javaScriptEnabled: false })
  await page.goto(`${url}/admin?range=7d`)
  t.equal(await page.locator('#timeline tbody tr').first().isVisible(), true)
  t.equal(await page.locator('#statuses tbody tr').first().isVisible(), true)
  t.equal(await page.locator('.measures').isVisible(), false)
  t.equal(await page.locator('.skeleton').isVisible(), false)
  await page.getByRole('link', { name: 'All time' }).click()
  t.equal(await page.locator('#card-orders .value').innerText(), '40')
})

t.test('does not scroll sideways on a phone with text twice as large', async (t) => {
  const viewport = { width: PHONE.width / 2, height: PHONE.height / 2 }
  const { page } = await openContext(t, { viewport, deviceScaleFactor: 2 })
  const tooWide: string[] = []
  for (const path of ['/admin', '/admin/orders', '/admin/orders/1', '/admin/orders/new']) {
    await page.goto(url + path)
    if (path === '/admin') await waitForCharts(page)
    const overflow = await getOverflow(page)
    if (overflow !== 0) tooWide.push(`${path}: ${overflow} px`)
  }
  t.same(tooWide, [])
})

t.test('is accessible', async (t) => {
  const browserErrors = recordBrowserErrors(sharedContext, url)
  const page = await openDashboard(t)
  const ranges = ['7d', 'all']
  for (const [index, [device, { viewport, colorScheme }]] of ACCESSIBILITY_VARIANTS.entries()) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme })
    await page.goto(`${url}/admin?range=${ranges[index]}`)
    await waitForCharts(page)
    await page.getByText('Show as a table').click()
    await checkAccessibility(t, page, device)
  }
  t.same(browserErrors, { errors: [], externalRequests: [] })
})

t.test('charts fit windows of every width', async (t) => {
  const page = await openDashboard(t)
  const failures: object[] = []
  for (const width of [360, DESKTOP.width, 1920]) {
    await page.setViewportSize({ width, height: 800 })
    for (const range of ['7d', '90d', 'all']) {
      await page.goto(`${url}/admin?range=${range}`)
      await waitForCharts(page)
      const overflow = await getOverflow(page)
      const labels = await page.evaluate(() => {
        const boxes = [...document.querySelectorAll('.apexcharts-xaxis-label')]
          .filter((label) => label.textContent !== '')
          .map((label) => label.getBoundingClientRect())
        return {
          count: boxes.length,
          overlaps: boxes.filter((box, i) => i > 0 && box.left < (boxes[i - 1]?.right ?? 0)).length,
        }
      })
      if (overflow !== 0 || labels.count < 2 || labels.overlaps > 0) {
        failures.push({ width, range, overflow, labels })
      }
    }
  }
  t.same(failures, [])
})

t.test('the Tab key reaches every control in the order of the page', async (t) => {
  const page = await openDashboard(t)
  await waitForCharts(page)
  const count = await page.evaluate(() => {
    const controls = document.querySelectorAll<HTMLElement>(
      '#dashboard :is(a[href], button, summary)',
    )
    const visible = [...controls].filter((element) => element.checkVisibility())
    visible.forEach((element, i) => (element.dataset.order = String(i)))
    return visible.length
  })
  await page.locator('[data-order="0"]').focus()
  const reached = [0]
  for (let i = 1; i < count; i++) {
    await page.keyboard.press('Tab')
    reached.push(
      await page.evaluate(() => Number((document.activeElement as HTMLElement).dataset.order)),
    )
  }
  t.same(reached, [...Array(count).keys()])
})
