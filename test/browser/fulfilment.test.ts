import { setTimeout as sleep } from 'node:timers/promises'
import type { BrowserContext, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { startFakeProvider } from '../../src/provider/fake-provider/fake-provider.js'
import { ACCESSIBILITY_VARIANTS, checkAccessibility } from '../support/accessibility.js'
import { ADMIN } from '../support/sign-in.js'
import { DESKTOP, launchBrowser, recordBrowserErrors } from '../support/browser.js'
import { newOrder } from '../support/order-store.js'
import { SECOND_ADMIN, startTwoAdmins } from '../support/page-client.js'

const standIn = await startFakeProvider({ token: 'stand-in-token' })
t.teardown(() => standIn.close())
const { url, ann } = await startTwoAdmins(t, {
  ORDERSOURCE_BASE_URL: standIn.url,
  ORDERSOURCE_API_TOKEN: standIn.token,
  ORDERSOURCE_TIMEOUT_MS: '2000',
})
const browser = await launchBrowser()
t.teardown(() => browser.close())

const ORDERS = '/api/admin/orders'

const enter = async (given: object = {}): Promise<{ id: string; orderNumber: string }> =>
  ann.call('POST', ORDERS, { ...newOrder(), status: 'paid', vesselName: 'Eendracht', ...given })

const orderOf = (id: string): Promise<any> => ann.call('GET', `${ORDERS}/${id}`)

/** How many the stand-in has of one of our orders. */
const placed = (orderNumber: string): number =>
  standIn.ledger.orders.filter(({ note }) => note?.startsWith(`${orderNumber} `)).length

async function portal(
  t: Test,
  options: object = {},
  account = ADMIN,
): Promise<{ context: BrowserContext; page: Page }> {
  const context = await browser.newContext({ viewport: DESKTOP, locale: 'en-GB', ...options })
  t.teardown(() => context.close())
  context.setDefaultTimeout(15_000)
  await context.request.post(`${url}/api/admin/login`, { data: account })
  return { context, page: await context.newPage() }
}

async function openConfirmation(page: Page, id: string): Promise<void> {
  await page.goto(`${url}/admin/orders/${id}`)
  await page.getByRole('button', { name: 'Place offset order…' }).click()
  await page.getByLabel('Blue Carbon').check()
  await page.getByRole('button', { name: 'Get quote' }).click()
  await page.getByRole('button', { name: /^Place order for/ }).waitFor()
}

t.test('an order is placed in two steps, once, though the button is pressed twice', async (t) => {
  const { context, page } = await portal(t)
  const browserErrors = recordBrowserErrors(context, url)
  const { id, orderNumber } = await enter()
  await openConfirmation(page, id)
  const dialog = page.locator('dialog')
  t.match(await dialog.innerText(), /Place CW-\d+ for US\$61\.74\?.*Eendracht.*Blue Carbon/s)
  t.equal(placed(orderNumber), 0)
  standIn.latencyMs = 300
  await page.getByRole('button', { name: /^Place order for/ }).dblclick()
  await page.locator('.message', { hasText: 'was placed' }).waitFor()
  standIn.latencyMs = 0
  t.equal(await dialog.count(), 0)
  t.equal(placed(orderNumber), 1)
  await page.locator('.verdict').waitFor()
  t.equal(await page.locator('.verdict').innerText(), 'Matches this order')
  t.match(await page.locator('#history').innerText(), /Offset order: placed as/)

  await page.getByRole('button', { name: 'Start processing' }).click()
  await page.locator('.message', { hasText: 'now processing' }).waitFor()
  await page.locator('.verdict', { hasText: 'Matches' }).waitFor()
  t.equal(
    await page.locator('.record-skeleton').count(),
    0,
    'the record is there after a change too',
  )
  await page.reload()
  t.equal(placed(orderNumber), 1)
  t.same(browserErrors, { errors: [], externalRequests: [] })
})

t.test('nobody leaves while it is being sent, and leaving before leads back', async (t) => {
  const { page } = await portal(t)
  const { id, orderNumber } = await enter()
  const dialog = page.locator('dialog')
  const focused = () => page.evaluate(() => document.activeElement?.id)
  for (const leave of [
    () => page.keyboard.press('Escape'),
    () => page.getByRole('button', { name: 'Cancel', exact: true }).click(),
  ]) {
    await openConfirmation(page, id)
    await leave()
    await dialog.waitFor({ state: 'detached' })
    t.equal(await focused(), 'place-order')
  }
  await openConfirmation(page, id)
  standIn.latencyMs = 800
  await page.getByRole('button', { name: /^Place order for/ }).click()
  t.ok(await page.getByRole('button', { name: 'Cancel', exact: true }).isDisabled())
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  t.ok(await dialog.isVisible(), 'it stays until it is known what came of it')
  await page.locator('.message', { hasText: 'was placed' }).waitFor()
  standIn.latencyMs = 0
  t.equal(placed(orderNumber), 1)
})

t.test('two administrators press at once: one places it, the other is told', async (t) => {
  const one = await portal(t)
  const other = await portal(t, {}, SECOND_ADMIN)
  const { id, orderNumber } = await enter()
  await openConfirmation(one.page, id)
  await openConfirmation(other.page, id)
  standIn.latencyMs = 300
  const pages = [one.page, other.page]
  await Promise.all(
    pages.map((page) => page.getByRole('button', { name: /^Place order for/ }).click()),
  )
  await Promise.all(
    pages.map((page) =>
      page
        .locator('.message, .alert')
        .filter({ hasText: /placed|placing|already/ })
        .waitFor(),
    ),
  )
  standIn.latencyMs = 0
  t.equal(placed(orderNumber), 1)
  for (const page of pages) {
    await page.goto(`${url}/admin/orders/${id}`)
    await page.locator('.verdict', { hasText: 'Matches' }).waitFor()
  }
})

t.test('with scripts off it is placed once too, and a reload sends nothing again', async (t) => {
  const { page } = await portal(t, { javaScriptEnabled: false })
  const { id, orderNumber } = await enter()
  await openConfirmation(page, id)
  t.equal(
    await page.getByRole('heading', { level: 1 }).innerText(),
    `Place ${orderNumber} for US$61.74?`,
  )
  await page.getByRole('button', { name: /^Place order for/ }).click()
  await page.locator('.message', { hasText: 'was placed' }).waitFor()
  await page.reload()
  t.equal(placed(orderNumber), 1)
  t.equal(await page.locator('.record-skeleton').isVisible(), false, 'nothing waits for a script')
  await page.getByRole('link', { name: 'Compare with the provider' }).click()
  t.equal(await page.locator('.verdict').innerText(), 'Matches this order')
  await page.getByRole('link', { name: 'Back to the order' }).click()
  t.equal(await page.getByRole('heading', { level: 1 }).innerText(), orderNumber)

  const lost = await enter()
  await openConfirmation(page, lost.id)
  standIn.fault = 'connection_reset_after_order'
  await page.getByRole('button', { name: /^Place order for/ }).click()
  await page.getByRole('heading', { name: 'Placement status unknown' }).waitFor()
  standIn.fault = null
  await page.reload()
  t.equal(placed(lost.orderNumber), 1, 'the form that is sent again by the reload does nothing')
  await page.getByRole('button', { name: 'Check with provider' }).click()
  await page.locator('.message', { hasText: 'The provider has the offset order' }).waitFor()
  t.ok((await orderOf(lost.id)).orderSourceId)
})

t.test('what becomes of an attempt shows by itself on the page of somebody else', async (t) => {
  const { page } = await portal(t)
  const other = await portal(t, {}, SECOND_ADMIN)
  const { id, orderNumber } = await enter()
  await openConfirmation(page, id)
  standIn.fault = 'no_response_after_order'
  await page.getByRole('button', { name: /^Place order for/ }).click()
  while (placed(orderNumber) === 0) await page.waitForTimeout(20)
  await other.page.goto(`${url}/admin/orders/${id}`)
  t.equal(await other.page.locator('#attempt h3').innerText(), 'Placing the order…')
  const unknown = { hasText: 'Placement status unknown' }
  await other.page.locator('#attempt h3', unknown).waitFor()
  await page.locator('#attempt h3', unknown).waitFor()
  standIn.fault = null
  t.equal(await page.getByRole('button', { name: 'Place offset order…' }).count(), 0)
  await page.getByRole('button', { name: 'Enter the ID' }).click()
  await page.locator('#orderSourceId').waitFor()
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByRole('button', { name: 'Check with provider' }).click()
  await page.locator('.verdict', { hasText: 'Matches' }).waitFor()
  t.equal(placed(orderNumber), 1)
})

t.test('what is told of a portfolio begins where its name does', async (t) => {
  const { page } = await portal(t)
  const { id } = await enter()
  await page.goto(`${url}/admin/orders/${id}/fulfilment`)
  for (const size of ['100%', '150%']) {
    await page.evaluate((fontSize) => (document.documentElement.style.fontSize = fontSize), size)
    const edges = await page
      .locator('.portfolio-choice:first-of-type :is(.name, .per, .about)')
      .evaluateAll((parts) => parts.map((part) => Math.round(part.getBoundingClientRect().left)))
    t.ok(edges.length >= 3)
    t.equal(new Set(edges).size, 1, `text ${size}: ${edges.join()}`)
  }
})

t.test('the steps work on pages of their own, too', async (t) => {
  const { page } = await portal(t)
  const { id, orderNumber } = await enter()
  await page.goto(`${url}/admin/orders/${id}/fulfilment`)
  await page.getByLabel('Blue Carbon').check()
  await page.getByRole('button', { name: 'Get quote' }).click()
  await page.getByRole('button', { name: /^Place order for/ }).click()
  await page.locator('.verdict', { hasText: 'Matches' }).waitFor()
  t.equal(placed(orderNumber), 1)

  const { id: other } = await enter()
  standIn.fault = 503
  await page.goto(`${url}/admin/orders/${other}/fulfilment`)
  await page.getByText('cannot be reached').waitFor()
  standIn.fault = null
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('button', { name: 'Get quote' }).waitFor()
})

t.test('a long note leaves the columns their widths', async (t) => {
  const { page } = await portal(t)
  const { orderNumber } = await enter()
  standIn.ledger.load([
    {
      id: 'noted',
      createdAt: new Date().toISOString(),
      tons: 1.6036,
      portfolioId: 1,
      amountCharged: 4009,
      currency: 'EUR',
      note: orderNumber + 'n'.repeat(3_000),
      source: 'API',
    },
  ])
  const { id } = await enter({ orderSourceId: 'noted' })
  await page.goto(`${url}/admin/orders/${id}`)
  await page.locator('.comparison').waitFor()
  await sleep(300)
  const focused = await page.evaluate(() => document.activeElement?.tagName)
  t.equal(focused, 'BODY', 'what comes by itself takes no focus')
  const widths = await page
    .locator('.comparison tbody tr:first-child > *')
    .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().width))
  t.ok(
    widths.every((width) => width > 60),
    widths.join(', '),
  )
  t.ok(((await page.locator('.comparison').boundingBox())?.height ?? 0) < 700)
})

t.test('a record that cannot be read is asked for again', async (t) => {
  const { page } = await portal(t)
  const { id } = await enter({ orderSourceId: '1', co2eKg: 1000 })
  standIn.fault = 503
  await page.goto(`${url}/admin/orders/${id}`)
  await page.locator('.record .alert').waitFor()
  t.match(await page.locator('.record .alert').innerText(), /cannot be reached.*Try again/s)
  standIn.fault = null
  await page.locator('.record .alert').getByRole('button', { name: 'Try again' }).click()
  await page.locator('.verdict').waitFor()
  t.equal(
    await page.locator('.verdict').innerText(),
    'Differs from this order: CO₂e, amount and note',
  )
})

for (const [device, options] of ACCESSIBILITY_VARIANTS) {
  t.test(`every state is accessible on ${device}`, async (t) => {
    const { page } = await portal(t, options)
    const check = (name: string) => checkAccessibility(t, page, name)
    const { id } = await enter()
    await page.goto(`${url}/admin/orders/${id}`)
    await check('not ordered')
    await page.getByRole('button', { name: 'Place offset order…' }).click()
    await page.getByLabel('Blue Carbon').check()
    await check('portfolios')
    await page.getByRole('button', { name: 'Get quote' }).click()
    await page.getByRole('button', { name: /^Place order for/ }).waitFor()
    await check('confirmation')
    standIn.fault = 'no_response_instead_of_order'
    await page.getByRole('button', { name: /^Place order for/ }).click()
    await page.locator('#attempt.unknown').waitFor()
    standIn.fault = null
    await check('unknown')
    await page.getByRole('button', { name: 'Check with provider' }).click()
    await page.locator('.check-result').waitFor()
    await check('not there')
    await page.goto(`${url}/admin/orders/${id}/fulfilment/reset`)
    await check('release')

    const record = async (orderSourceId: string, shows: string, name: string) => {
      const known = await enter({ orderSourceId })
      await page.goto(`${url}/admin/orders/${known.id}`)
      await page.locator(shows).waitFor()
      await check(name)
      // Else every list would lack it from then on.
      await ann.call('PATCH', `${ORDERS}/${known.id}`, { orderSourceId: null })
    }
    await record('1', '.verdict', 'another amount')
    await record('no-such', '.record .alert', 'not found there')
    standIn.fault = 503
    await record('1', '.record .alert', 'away')
    standIn.fault = null
  })
}
