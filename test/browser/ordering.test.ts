import t from 'tap'
import { ACCESSIBILITY_VARIANTS, checkAccessibility } from '../support/accessibility.js'
import { postJson } from '../support/app.js'
import { DESKTOP, PHONE, recordBrowserErrors } from '../support/browser.js'
import { startAutoFulfilment, waitForCertificate } from '../support/guest-orders.js'
import { createGuest, placeOrder } from '../support/guest.js'
import { measurePageWeight } from '../support/page-weight.js'
import { openBrowserContext, sharedBrowser } from '../support/shared-browser.js'
import { TRIPS } from '../support/trips.js'
import { waitFor, waitForEqual } from '../support/wait-for.js'

const { url, ann } = await startAutoFulfilment(t, {
  SERVICE_FEE_PERCENT: '5',
  TERMS_URL: 'https://example.com/terms',
  PAYMENT_INSTRUCTIONS: 'Bank transfer\\nPT50 0002 0123',
})
// The form waits for the provider's prices, a result does not wait long.
await fetch(`${url}/offset?type=custom&amount=1&unit=t`)
const browser = await sharedBrowser()
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

t.test('the pages of ordering are accessible', async (t) => {
  for (const [variant, options] of ACCESSIBILITY_VARIANTS) {
    const context = await browser.newContext({ ...options, locale: 'en-GB' })
    const page = await context.newPage()
    const check = (name: string) => checkAccessibility(t, page, `${name} on ${variant}`)
    await page.goto(`${url}/offset?type=custom&amount=2&unit=t`)
    await check('the form')
    await page.getByRole('button', { name: 'Order and pay' }).click()
    await page.getByText('There is a problem').waitFor()
    await check('the form with errors')
    await page.getByLabel('Name', { exact: true }).fill('مثال '.repeat(20).trim())
    await page.getByLabel('Email').fill('ann@example.com')
    await page.getByLabel('I have read and agree').check()
    await page.getByRole('button', { name: 'Order and pay' }).click()
    await page.getByText('The page of the certificate shows the name').waitFor()
    await check('the form with a name that the PDF cannot show')
    await page.getByRole('button', { name: 'Order and pay' }).click()
    await page.waitForURL(/\/o\//)
    await check('the order')
    await page.getByRole('link', { name: 'Cancel order' }).click()
    await check('the cancellation')

    const { items } = await ann.call('GET', '/api/admin/orders')
    await ann.call('PATCH', `/api/admin/orders/${items[0].id}`, { status: 'paid' })
    await page.goBack()
    const link = page.getByRole('link', { name: 'View the page' })
    await link.waitFor()
    await check('the order with its certificate')
    await link.click()
    await page.getByText('Issued by Clearwake').waitFor()
    await check('the certificate')
    const certificate = page.url()
    await ann.call('PATCH', `/api/admin/orders/${items[0].id}`, { status: 'refunded' })
    await page.goto(`${certificate}?again`)
    await page.getByText('no longer valid').waitFor()
    await check('the withdrawn certificate')
    await context.close()
  }
})

t.test(
  'a certificate is shared from a phone, and shows its QR code only on larger screens',
  async (t) => {
    const guest = createGuest(url)
    const path = await placeOrder(guest, { email: 'share@example.com', consent: 'yes' })
    const { items } = await ann.call('GET', '/api/admin/orders?q=share@example.com')
    await ann.call('PATCH', `/api/admin/orders/${items[0].id}`, { status: 'paid' })
    const certificate = url + (await waitForCertificate(guest, path))
    const { context, page } = await openBrowserContext(t, { viewport: PHONE, locale: 'en-GB' })
    const { errors, externalRequests } = recordBrowserErrors(context, url)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto(certificate)
    const qrCode = page.getByAltText('QR code of this page')
    t.notOk(await qrCode.isVisible())
    await page.evaluate('navigator.share = undefined')
    await page.getByRole('button', { name: 'Share' }).click()
    await page.getByRole('button', { name: 'Link copied' }).waitFor()
    t.equal(await page.evaluate('navigator.clipboard.readText()'), certificate)
    await page.evaluate('navigator.share = async (data) => { document.title = data.url }')
    await page.getByRole('button', { name: 'Share' }).click()
    await page.waitForFunction('document.title.startsWith("http")')
    t.equal(await page.title(), certificate)
    await page.setViewportSize(DESKTOP)
    t.ok(await qrCode.isVisible())
    t.same(errors, [])
    t.same(externalRequests, [])
  },
)

t.test('the order form, the order page and the certificate load at most 60 kB each', async (t) => {
  const guest = createGuest(url)
  const path = await placeOrder(guest, { email: 'weight@example.com', consent: 'yes' })
  const { items } = await ann.call('GET', '/api/admin/orders?q=weight@example.com')
  await ann.call('PATCH', `/api/admin/orders/${items[0].id}`, { status: 'paid' })
  const certificate = await waitForCertificate(guest, path)
  for (const address of ['/offset?type=custom&amount=2&unit=t', path, certificate]) {
    // Without a cache.
    const context = await browser.newContext()
    const { bytes } = await measurePageWeight(await context.newPage(), url + address)
    t.ok(bytes > 5_000 && bytes <= 60_000, `${bytes} bytes: ${address.slice(0, 3)}`)
    await context.close()
  }
})
