import type { BrowserContextOptions, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { DESKTOP, recordBrowserErrors } from '../support/browser.js'
import { offerCredits, startProvider } from '../support/guest-orders.js'
import { newOrder } from '../support/order-store.js'
import { SECOND_ADMIN, startTwoAdmins } from '../support/page-client.js'
import { adminContext } from '../support/portal.js'
import { openPageOf, sharedBrowser } from '../support/shared-browser.js'
import { waitUntil } from '../support/wait-for.js'
import { checkAllVariants } from './check-all-variants.js'

const provider = await startProvider(t)
const service = await startTwoAdmins(t, {
  ...offerCredits(provider),
  ORDERSOURCE_TIMEOUT_MS: '2000',
})
const { url, ann } = service
const browser = await sharedBrowser()

const CONTEXT_OPTIONS: BrowserContextOptions = { viewport: DESKTOP, locale: 'en-GB' }

const adminSession = await adminContext(t, browser, service, CONTEXT_OPTIONS)
const secondContext = await browser.newContext(CONTEXT_OPTIONS)
t.teardown(() => secondContext.close())
await secondContext.request.post(`${url}/api/admin/login`, { data: SECOND_ADMIN })

const openPage = (t: Test, context = adminSession) => openPageOf(t, context)

const ORDERS = '/api/admin/orders'

const createOrder = async (fields: object = {}): Promise<{ id: string; orderNumber: string }> =>
  ann.call('POST', ORDERS, { ...newOrder(), status: 'paid', vesselName: 'Eendracht', ...fields })

/** The number of offset orders that the provider has for an order. */
const countPlaced = (orderNumber: string): number =>
  provider.ledger.orders.filter(({ note }) => note?.startsWith(`${orderNumber} `)).length

const getPlaceButton = (page: Page) => page.getByRole('button', { name: /^Place order for/ })

async function openConfirmation(page: Page, id: string): Promise<void> {
  await page.goto(`${url}/admin/orders/${id}`)
  await page.getByRole('button', { name: 'Place offset order…' }).click()
  await page.getByLabel('Blue Carbon').check()
  await page.getByRole('button', { name: 'Get quote' }).click()
  await getPlaceButton(page).waitFor()
}

t.test('places an order once in two steps, even with a double click', async (t) => {
  const page = await openPage(t)
  const browserErrors = recordBrowserErrors(adminSession, url)
  const { id, orderNumber } = await createOrder()
  await openConfirmation(page, id)
  const dialog = page.locator('dialog')
  const verdict = page.locator('.verdict')
  t.match(
    await dialog.innerText(),
    /Place the US\$61\.74 offset order for CW-\d+\?.*Eendracht.*Blue Carbon/s,
  )
  t.equal(countPlaced(orderNumber), 0)
  provider.latencyMs = 300
  await getPlaceButton(page).dblclick()
  await page.locator('.message', { hasText: 'was placed' }).waitFor()
  provider.latencyMs = 0
  t.equal(await dialog.count(), 0)
  t.equal(countPlaced(orderNumber), 1)
  await verdict.waitFor()
  t.equal(await verdict.innerText(), 'Matches this order')
  t.match(await page.locator('#history').innerText(), /Offset order: placed as/)

  t.match(await page.locator('#next-step').innerText(), /Placed with the provider/)
  await page.getByRole('button', { name: 'Mark as fulfilled' }).click()
  await page.locator('.message', { hasText: 'now fulfilled' }).waitFor()
  t.equal(await page.locator('#next-step').count(), 0)
  await page.locator('.verdict', { hasText: 'Matches' }).waitFor()
  t.equal(
    await page.locator('.record-skeleton').count(),
    0,
    'loads the record again after a change',
  )
  await page.reload()
  t.equal(countPlaced(orderNumber), 1)
  t.same(browserErrors, { errors: [], externalRequests: [] })
})

t.test('the dialog can be closed, but not while an order is being placed', async (t) => {
  const page = await openPage(t)
  const { id, orderNumber } = await createOrder()
  const dialog = page.locator('dialog')
  const cancel = page.getByRole('button', { name: 'Cancel', exact: true })
  for (const close of [() => page.keyboard.press('Escape'), () => cancel.click()]) {
    await openConfirmation(page, id)
    await close()
    await dialog.waitFor({ state: 'detached' })
    t.equal(await page.evaluate(() => document.activeElement?.id), 'place-order')
  }
  await openConfirmation(page, id)
  provider.latencyMs = 600
  await getPlaceButton(page).click()
  t.ok(await cancel.isDisabled())
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  t.ok(await dialog.isVisible(), 'stays open until the response')
  await page.locator('.message', { hasText: 'was placed' }).waitFor()
  provider.latencyMs = 0
  t.equal(countPlaced(orderNumber), 1)
})

t.test('places an order once for two administrators at the same time', async (t) => {
  const pages = [await openPage(t), await openPage(t, secondContext)]
  const { id, orderNumber } = await createOrder()
  for (const page of pages) await openConfirmation(page, id)
  provider.latencyMs = 300
  await Promise.all(pages.map((page) => getPlaceButton(page).click()))
  await Promise.all(
    pages.map((page) =>
      page
        .locator('.message, .alert')
        .filter({ hasText: /placed|placing|already/ })
        .waitFor(),
    ),
  )
  provider.latencyMs = 0
  t.equal(countPlaced(orderNumber), 1)
  for (const page of pages) {
    await page.goto(`${url}/admin/orders/${id}`)
    await page.locator('.verdict', { hasText: 'Matches' }).waitFor()
  }
})

t.test('places an order once without JavaScript, even after a reload', async (t) => {
  const context = await browser.newContext({
    ...CONTEXT_OPTIONS,
    javaScriptEnabled: false,
    storageState: await adminSession.storageState(),
  })
  t.teardown(() => context.close())
  const page = await openPage(t, context)
  const heading = page.getByRole('heading', { level: 1 })
  const { id, orderNumber } = await createOrder()
  await openConfirmation(page, id)
  t.equal(await heading.innerText(), `Place the US$61.74 offset order for ${orderNumber}?`)
  await getPlaceButton(page).click()
  await page.locator('.message', { hasText: 'was placed' }).waitFor()
  await page.reload()
  t.equal(countPlaced(orderNumber), 1)
  t.equal(
    await page.locator('.record-skeleton').isVisible(),
    false,
    'shows no placeholder that only a script would replace',
  )
  await page.getByRole('link', { name: 'Compare with the provider' }).click()
  t.equal(await page.locator('.verdict').innerText(), 'Matches this order')
  await page.getByRole('link', { name: 'Back to the order' }).click()
  t.equal(await heading.innerText(), orderNumber)

  const uncertain = await createOrder()
  await openConfirmation(page, uncertain.id)
  provider.fault = 'connection_reset_after_order'
  await getPlaceButton(page).click()
  await page.getByRole('heading', { name: 'Placement status unknown', level: 2 }).waitFor()
  provider.fault = null
  await page.reload()
  t.equal(countPlaced(uncertain.orderNumber), 1, 'a reload sends the form without effect')
  await page.getByRole('button', { name: 'Check with provider' }).click()
  await page.locator('.message', { hasText: 'The provider has the offset order' }).waitFor()
  t.ok((await ann.call('GET', `${ORDERS}/${uncertain.id}`)).orderSourceId)
})

t.test('shows the progress of an attempt to another administrator', async (t) => {
  const page = await openPage(t)
  const secondPage = await openPage(t, secondContext)
  const { id, orderNumber } = await createOrder()
  await openConfirmation(page, id)
  provider.fault = 'no_response_after_order'
  await getPlaceButton(page).click()
  t.ok(await waitUntil(() => countPlaced(orderNumber) === 1))
  await secondPage.goto(`${url}/admin/orders/${id}`)
  t.equal(await secondPage.locator('#attempt h3').innerText(), 'Placing the order…')
  const unknown = { hasText: 'Placement status unknown' }
  await secondPage.locator('#attempt h3', unknown).waitFor()
  await page.locator('#attempt h3', unknown).waitFor()
  provider.fault = null
  t.equal(await page.getByRole('button', { name: 'Place offset order…' }).count(), 0)
  await page.getByRole('button', { name: 'Enter the ID' }).click()
  await page.locator('#orderSourceId').waitFor()
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByRole('button', { name: 'Check with provider' }).click()
  await page.locator('.verdict', { hasText: 'Matches' }).waitFor()
  t.equal(countPlaced(orderNumber), 1)
})

t.test('aligns the details of a portfolio with its name', async (t) => {
  const page = await openPage(t)
  const { id } = await createOrder()
  await page.goto(`${url}/admin/orders/${id}/fulfilment`)
  for (const fontSize of ['100%', '150%']) {
    await page.evaluate((size) => (document.documentElement.style.fontSize = size), fontSize)
    const edges = await page
      .locator('.portfolio-choice:first-of-type :is(.name, .per, .about)')
      .evaluateAll((parts) => parts.map((part) => Math.round(part.getBoundingClientRect().left)))
    t.ok(
      edges.length >= 3 && new Set(edges).size === 1,
      `left edges with text ${fontSize}: ${edges.join(', ')}`,
    )
  }
})

t.test('places an order on separate pages', async (t) => {
  const page = await openPage(t)
  const { id, orderNumber } = await createOrder()
  await page.goto(`${url}/admin/orders/${id}/fulfilment`)
  await page.getByLabel('Blue Carbon').check()
  await page.getByRole('button', { name: 'Get quote' }).click()
  await getPlaceButton(page).click()
  await page.locator('.verdict', { hasText: 'Matches' }).waitFor()
  t.equal(countPlaced(orderNumber), 1)

  const { id: secondId } = await createOrder()
  provider.fault = 503
  await page.goto(`${url}/admin/orders/${secondId}/fulfilment`)
  await page.getByText('cannot be reached').waitFor()
  provider.fault = null
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('button', { name: 'Get quote' }).waitFor()
})

t.test('a long note does not narrow the columns of the comparison', async (t) => {
  const page = await openPage(t)
  const { orderNumber } = await createOrder()
  provider.ledger.load([
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
  const { id } = await createOrder({ orderSourceId: 'noted' })
  await page.goto(`${url}/admin/orders/${id}`)
  const comparison = page.locator('.comparison')
  await comparison.waitFor()
  await page.waitForFunction(() => !document.querySelector('.htmx-request'))
  const focused = await page.evaluate(() => document.activeElement?.tagName)
  t.equal(focused, 'BODY', 'a record that loads by itself does not take the focus')
  const widths = await comparison
    .locator('tbody tr:first-child > *')
    .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().width))
  t.ok(widths.length > 0 && Math.min(...widths) > 60, `column widths: ${widths.join(', ')}`)
  t.ok(((await comparison.boundingBox())?.height ?? Infinity) < 700)
})

t.test('retries a record that could not be read', async (t) => {
  const page = await openPage(t)
  const { id } = await createOrder({ orderSourceId: '1', co2eKg: 1000 })
  const alert = page.locator('.record .alert')
  provider.fault = 503
  await page.goto(`${url}/admin/orders/${id}`)
  await alert.waitFor()
  t.match(await alert.innerText(), /cannot be reached.*Try again/s)
  provider.fault = null
  await alert.getByRole('button', { name: 'Try again' }).click()
  await page.locator('.verdict').waitFor()
  t.equal(
    await page.locator('.verdict').innerText(),
    'Differs from this order: CO₂e, amount and note',
  )
})

t.test('is accessible in every state', async (t) => {
  const page = await openPage(t)
  const check = (state: string) => checkAllVariants(t, page, state)
  const { id } = await createOrder()
  await page.goto(`${url}/admin/orders/${id}`)
  await check('not placed')
  await page.getByRole('button', { name: 'Place offset order…' }).click()
  await page.getByLabel('Blue Carbon').check()
  await check('portfolios')
  await page.getByRole('button', { name: 'Get quote' }).click()
  await getPlaceButton(page).waitFor()
  await check('confirmation')
  provider.fault = 'no_response_instead_of_order'
  await getPlaceButton(page).click()
  await page.locator('#attempt.unknown').waitFor()
  provider.fault = null
  await check('placement status unknown')
  await page.getByRole('button', { name: 'Check with provider' }).click()
  await page.locator('.check-result').waitFor()
  await check('not found by the check')
  await page.goto(`${url}/admin/orders/${id}/fulfilment/reset`)
  await check('allow another attempt')

  const checkRecord = async (orderSourceId: string, selector: string, state: string) => {
    const { id } = await createOrder({ orderSourceId })
    await page.goto(`${url}/admin/orders/${id}`)
    await page.locator(selector).waitFor()
    await check(state)
    // An ID that the provider does not have makes its lists count as incomplete.
    await ann.call('PATCH', `${ORDERS}/${id}`, { orderSourceId: null })
  }
  await checkRecord('1', '.verdict', 'another amount')
  await checkRecord('no-such', '.record .alert', 'record not found')
  provider.fault = 503
  await checkRecord('1', '.record .alert', 'provider unavailable')
  provider.fault = null
})

t.test('a new order takes the suggested price of a portfolio', async (t) => {
  const page = await openPage(t)
  const browserErrors = recordBrowserErrors(adminSession, url)
  await page.goto(`${url}/admin/orders/new`)
  await page.locator('#customerName').fill('Ann')
  await page.locator('#customerEmail').fill('ann@example.com')
  await page.locator('#type-fuel').check()
  await page.locator('#fuel-quantity').fill('1000')
  await page.waitForFunction(
    () => document.querySelector<HTMLInputElement>('#co2eKg')?.value === '3306.27',
  )
  const waitForAmount = (amount: string) =>
    page.waitForFunction(
      (amount) => document.querySelector<HTMLInputElement>('#amount')?.value === amount,
      amount,
    )
  await page
    .getByLabel('Suggest amount from')
    .selectOption({ label: 'Harbour Mix, US$23.90 per tonne' })
  await waitForAmount('79.02')
  await page.locator('#fuel-quantity').fill('2000')
  await waitForAmount('158.04')
  await checkAllVariants(t, page, 'with a suggested price')
  await page.locator('#amount').fill('160')
  await page.locator('#co2eKg').fill('1000')
  await page.getByText('The portfolio suggests US$23.90. Clear the amount to use it.').waitFor()
  t.equal(await page.locator('#amount').inputValue(), '160', 'keeps a typed amount')
  await page.locator('#amount').fill('')
  await page.getByRole('button', { name: 'Create order' }).click()
  await page.waitForURL(/\/admin\/orders\/\d+$/)
  t.match(await page.locator('.amount-list').innerText(), 'US$23.90')
  t.same(browserErrors.errors, [])
})
