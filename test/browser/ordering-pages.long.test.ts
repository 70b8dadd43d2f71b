import t from 'tap'
import { ACCESSIBILITY_VARIANTS, checkAccessibility } from '../support/accessibility.js'
import { DESKTOP, PHONE, recordBrowserErrors } from '../support/browser.js'
import { startAutoFulfilment, waitForCertificate } from '../support/guest-orders.js'
import { createGuest, placeOrder } from '../support/guest.js'
import { measurePageWeight } from '../support/page-weight.js'
import { openBrowserContext, sharedBrowser } from '../support/shared-browser.js'

const { url, ann } = await startAutoFulfilment(t, {
  SERVICE_FEE_PERCENT: '5',
  TERMS_URL: 'https://example.com/terms',
  PAYMENT_INSTRUCTIONS: 'Bank transfer\\nPT50 0002 0123',
})
// The form waits for the provider's prices, a result does not wait long.
await fetch(`${url}/offset?type=custom&amount=1&unit=t`)
const browser = await sharedBrowser()

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
