import t from 'tap'
import { ACCESSIBILITY_VARIANTS, checkAccessibility } from '../support/accessibility.js'
import { DESKTOP, PHONE, recordBrowserErrors } from '../support/browser.js'
import { createGuest, placeOrder } from '../support/guest.js'
import { startTwoAdmins } from '../support/page-client.js'
import { openBrowserContext, sharedBrowser } from '../support/shared-browser.js'

const { url, app } = await startTwoAdmins(t, {
  CURRENCY: 'EUR',
  PRICE_PER_TONNE: '24.50',
  PAYMENT_IBAN: 'PT50 0002 0123 1234 5678 9015 4',
  PAYMENT_BIC: 'CGDIPTPL',
  PAYMENT_ACCOUNT_NAME: 'Harbour Example, with a name as long as the names of accounts can be',
  PAYMENT_INSTRUCTIONS: 'Or pay at the harbour office.',
})
const path = await placeOrder(createGuest(url))
const browser = await sharedBrowser()

t.test('a guest copies the payment details, on a phone', async (t) => {
  const { context, page } = await openBrowserContext(t, { viewport: PHONE, locale: 'en-GB' })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const { errors, externalRequests } = recordBrowserErrors(context, url)
  await page.goto(url + path)
  await page.getByRole('heading', { name: 'Pay by bank transfer' }).waitFor()
  const readClipboard = () => page.evaluate(() => navigator.clipboard.readText())
  const status = page.locator('[data-copy-status]')
  for (const [label, value] of [
    ['IBAN', 'PT50000201231234567890154'],
    ['Amount', '49.00'],
    ['Reference', 'CW-000001'],
  ] as const) {
    const button = page.getByRole('button', { name: `Copy ${label}` })
    await button.scrollIntoViewIfNeeded()
    const box = await button.boundingBox()
    await button.focus()
    await page.keyboard.press('Enter')
    await status.filter({ hasText: `${label} copied` }).waitFor({ state: 'attached' })
    t.equal(await readClipboard(), value)
    const copied = page.getByRole('button', { name: `Copied ${label}` })
    t.same(await copied.boundingBox(), box, 'nothing moves')
  }
  // The page follows the order, and replaces the section.
  await page.waitForResponse((response) => response.url().includes('refresh=2'))
  await page.getByRole('button', { name: 'Copy BIC' }).click()
  await status.filter({ hasText: 'BIC copied' }).waitFor({ state: 'attached' })
  const code = page.getByRole('img', { name: /QR code for a transfer of €49\.00 to Harbour/ })
  t.ok(await code.isVisible())

  for (const width of [320, DESKTOP.width]) {
    await page.setViewportSize({ width, height: 800 })
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    t.equal(overflow, 0, `fits ${width} px`)
  }
  t.same(errors, [])
  t.same(externalRequests, [])
})

t.test('without scripts there are no copy buttons', async (t) => {
  const { page } = await openBrowserContext(t, { javaScriptEnabled: false })
  await page.goto(url + path)
  t.ok(await page.getByText('PT50 0002 0123 1234 5678 9015 4').isVisible())
  t.equal(await page.getByRole('button', { name: /Copy/ }).count(), 0)
})

t.test('the section is accessible, also when the payment is overdue', async (t) => {
  for (const [variant, options] of ACCESSIBILITY_VARIANTS) {
    const context = await browser.newContext({ ...options, locale: 'en-GB' })
    const page = await context.newPage()
    await page.goto(url + path)
    await checkAccessibility(t, page, `the payment details on ${variant}`)
    await context.close()
  }
  await app.database.query(`UPDATE orders SET placed_at = ${Date.parse('2026-01-01')}`)
  const { page } = await openBrowserContext(t, { viewport: PHONE })
  await page.goto(url + path)
  await page.getByText('This payment was due on 15 January 2026').waitFor()
  await checkAccessibility(t, page, 'an overdue payment')
})
