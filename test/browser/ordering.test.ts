import t from 'tap'
import { postJson } from '../support/app.js'
import { DESKTOP, PHONE, recordBrowserErrors } from '../support/browser.js'
import { startAutoFulfilment } from '../support/guest-orders.js'
import { createGuest, placeOrder } from '../support/guest.js'
import { openBrowserContext } from '../support/shared-browser.js'
import { TRIPS } from '../support/trips.js'
import { waitFor, waitForEqual } from '../support/wait-for.js'

const { url, ann } = await startAutoFulfilment(t, {
  SERVICE_FEE_PERCENT: '5',
  TERMS_URL: 'https://example.com/terms',
  PAYMENT_INSTRUCTIONS: 'Bank transfer\\nPT50 0002 0123',
})
// The form waits for the provider's prices, a result does not wait long.
await fetch(`${url}/offset?type=custom&amount=1&unit=t`)
const [trip] = TRIPS

t.test('a guest scans, orders and sees the order, on a phone', async (t) => {
  const { context, page } = await openBrowserContext(t, { viewport: PHONE, locale: 'en-GB' })
  const { errors, externalRequests } = recordBrowserErrors(context, url)
  await page.goto((await postJson(`${url}/api/qr-code/generate`, trip)).body.url)
  await page.getByRole('link', { name: 'Buy credits for US$41.49' }).click()
  await page.getByRole('heading', { name: 'Buy carbon credits' }).waitFor()
  t.match(await page.locator('.lead').innerText(), trip.vessel.name)

  const total = page.locator('#total strong')
  t.equal(await total.innerText(), 'US$41.49')
  await page.getByLabel('Name', { exact: true }).fill('Ann Example')
  await page.getByText('Change', { exact: true }).click()
  await page.getByRole('radio', { name: /Blue Carbon/ }).check()
  await page.locator('#total strong', { hasText: 'US$66.83' }).waitFor()
  await page.getByRole('radio', { name: 'Percentage' }).check()
  await page.getByLabel('Share of the trip').fill('201')
  await page.getByText('Enter a whole percentage from 1 to 200').waitFor()
  await page.getByText('Correct the amount to see the price.').waitFor()
  await page.getByLabel('Share of the trip').fill('200')
  await page.locator('#total strong', { hasText: 'US$133.67' }).waitFor()
  t.match(
    (await page.locator('#portfolio-1-price').textContent()) ?? '',
    'US$82.97',
    'of all portfolios',
  )

  await page.getByLabel('Email').fill('ann@gmial.com')
  await page.getByLabel('Email').blur()
  await page.getByText('Did you mean ann@gmail.com?').waitFor()
  t.equal(await total.innerText(), 'US$133.67')
  await page.getByRole('button', { name: 'Use this address' }).click()
  await waitForEqual(t, () => page.getByLabel('Email').inputValue(), 'ann@gmail.com')
  await page.getByText('Did you mean').waitFor({ state: 'hidden' })
  await page.getByLabel('Email').fill('')

  // By keyboard from here.
  await page.getByLabel('Email').focus()
  await page.keyboard.type('ann@example.com')
  await page.getByLabel('I have read and agree').focus()
  await page.keyboard.press('Space')
  await page.getByRole('button', { name: 'Order and pay' }).focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/o\/[\w-]{22}$/)
  t.match(await page.getByRole('heading', { name: /How to pay/ }).innerText(), 'US$133.67')
  const order = await ann.call('GET', '/api/admin/orders/1')
  t.match(order, { amountMinor: 13_367, checkout: { portfolioId: 2, sharePercent: 200 } })

  const orderUrl = page.url()
  await page.goBack()
  await page.getByRole('heading', { name: 'Buy carbon credits' }).waitFor()
  t.equal((await ann.call('GET', '/api/admin/orders')).totalItems, 1)
  await page.goto(orderUrl)
  await page.getByRole('link', { name: 'Cancel order' }).click()
  await page.getByRole('button', { name: 'Cancel order' }).click()
  await page.getByRole('heading', { name: 'Your order is cancelled' }).waitFor()
  t.same(errors, [])
  t.same(externalRequests, [])
})

t.test('what a guest typed is kept while they edit the trip', async (t) => {
  const { page } = await openBrowserContext(t, { viewport: PHONE, locale: 'en-GB' })
  await page.goto((await postJson(`${url}/api/qr-code/generate`, trip)).body.url)
  await page.getByRole('link', { name: /Buy credits/ }).click()
  await page.getByLabel('Name', { exact: true }).fill('Ann Example')
  await page.getByText('Company or other name').click()
  await page.getByLabel('Company').fill('Example Ltd')
  await page.getByRole('link', { name: 'Edit trip' }).click()
  t.match(await page.title(), `Trip of ${trip.vessel.name}`)
  await page.locator('#guests-on-board').fill('8')
  await page.getByRole('link', { name: 'Buy credits for US$5.19' }).click()
  await waitForEqual(t, () => page.getByLabel('Name', { exact: true }).inputValue(), 'Ann Example')
  t.equal(await page.getByLabel('Company').inputValue(), 'Example Ltd')
  await page.reload()
  t.equal(await page.evaluate("sessionStorage.getItem('order-details')"), null, 'is kept once')
})

t.test('the order form fits a phone, and its bar covers no field in focus', async (t) => {
  const { context, page } = await openBrowserContext(t, { viewport: PHONE, locale: 'en-GB' })
  const { errors, externalRequests } = recordBrowserErrors(context, url)
  await page.goto((await postJson(`${url}/api/qr-code/generate`, trip)).body.url)
  await page.getByRole('link', { name: 'Buy credits for US$41.49' }).click()
  const bar = page.locator('.order-bar')
  const top = async () => (await bar.boundingBox())?.y ?? 0
  const consent = await page.getByLabel('I have read and agree').boundingBox()
  t.ok(consent && consent.y + consent.height <= (await top()), 'all fields in one screen')

  await page.getByText('Change', { exact: true }).last().click()
  const card = page.locator('.portfolios > li', { hasText: 'Carbon to Stone' })
  await card.scrollIntoViewIfNeeded()
  const { width = 0 } = (await card.boundingBox()) ?? {}
  await card.click({ position: { x: width - 8, y: 8 } })
  await page.locator('#total strong', { hasText: 'US$697.29' }).waitFor()
  t.equal(await page.locator('#chosen-portfolio .name').innerText(), 'Carbon to Stone')
  t.notOk(await card.isVisible(), 'the list closes')

  await page.locator('summary', { hasText: 'Company or other name' }).click()
  await page.evaluate(() => scrollTo(0, 0))
  await page.locator('.chosen-portfolio summary').focus()
  for (let i = 0; i < 16; i++) {
    await page.keyboard.press('Tab')
    const focused = page.locator(':focus')
    if (await focused.evaluate((element) => element.closest('.order-bar, footer') !== null)) break
    const { y = 0, height = 0 } = (await focused.boundingBox()) ?? {}
    const name = await focused.evaluate((element) => element.id || element.textContent)
    t.ok(y >= 0 && y + height <= (await top()) + 1, `${name} ends at ${y + height}`)
  }
  await page.evaluate(() => (document.documentElement.style.fontSize = '200%'))
  t.equal(await bar.evaluate((element) => getComputedStyle(element).position), 'static')
  await page.evaluate(() => (document.documentElement.style.fontSize = ''))

  // Errors, and the way back from the next page.
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.getByRole('heading', { name: 'There is a problem' }).waitFor()
  t.ok(await page.locator('.error-summary').evaluate((summary) => summary.matches(':focus')))
  await page.getByRole('link', { name: 'Enter your email address' }).click()
  t.equal(await page.locator(':focus').getAttribute('id'), 'email')
  t.equal(await page.locator('#email-error').innerText(), 'Enter your email address')
  await page.getByLabel('Name', { exact: true }).first().fill('Ben Example')
  await page.getByLabel('Email').fill('ben@example.com')
  t.equal(await page.locator('#email-error').innerText(), '', 'corrected')
  await page.getByLabel('I have read and agree').check()
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.waitForURL(/\/o\/[\w-]{22}$/)
  await page.goBack()
  await page.getByRole('heading', { name: 'Buy carbon credits' }).waitFor()
  const { items } = await ann.call('GET', '/api/admin/orders?q=ben@example.com')
  t.equal(items.length, 1)
  t.same(errors, [])
  t.same(externalRequests, [])
})

t.test('the order page showed the old status until it was reloaded', async (t) => {
  const guest = createGuest(url)
  const path = await placeOrder(guest, { email: 'cleo@example.com', consent: 'yes' })
  const { context, page } = await openBrowserContext(t, { viewport: PHONE, locale: 'en-GB' })
  const { errors } = recordBrowserErrors(context, url)
  await page.goto(url + path)
  await page.getByRole('heading', { name: 'Waiting for your bank transfer' }).waitFor()
  await page.setViewportSize(DESKTOP)
  const [left, right] = await Promise.all(
    [page.locator('.order-steps'), page.locator('.receipt')].map((one) =>
      page.locator('.guest-order > div', { has: one }).boundingBox(),
    ),
  )
  t.ok(left && right && left.x < right.x && left.y === right.y, 'two columns')
  await page.getByRole('link', { name: 'Cancel order' }).focus()

  // An outage does not stop it.
  await page.route('**/o/**', (route) => route.fulfill({ status: 503, body: 'unavailable' }))
  await page.getByText(/We could not check for updates\. Last checked at \d/).waitFor()
  await page.unroute('**/o/**')
  const focused = page.locator('a:focus', { hasText: 'Cancel order' })
  await page.waitForResponse((response) => response.url().includes('refresh=2'))
  await page.getByText('This page updates by itself.').waitFor()
  await focused.waitFor({ timeout: 5_000 })

  // A hidden page pauses; it checks at once when it is seen again.
  let requests = 0
  page.on('request', () => requests++)
  const setHidden = (isHidden: boolean) =>
    page.evaluate((isHidden) => {
      Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }, isHidden)
  await setHidden(true)
  await page.waitForTimeout(6_000)
  t.equal(requests, 0, 'does not refresh while hidden')
  await setHidden(false)
  await waitFor(async () => requests > 0)

  const { items } = await ann.call('GET', '/api/admin/orders')
  await ann.call('PATCH', `/api/admin/orders/${items[0].id}`, { status: 'paid' })
  await page.getByRole('heading', { name: 'Your certificate is ready, Ann.' }).waitFor()
  const certificate = await page.getByRole('link', { name: 'View the page' }).getAttribute('href')
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Share' }).click()
  await page.getByRole('button', { name: 'Link copied' }).waitFor()
  t.equal(await page.evaluate(() => navigator.clipboard.readText()), `${url}${certificate ?? ''}`)
  t.equal(await page.locator('[hx-get]').count(), 0, 'does not refresh a final order')
  t.same(
    errors.filter((error) => !error.includes('503')),
    [],
  )
})
