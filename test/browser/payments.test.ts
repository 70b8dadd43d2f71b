import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { ACCESSIBILITY_VARIANTS, checkAccessibility } from '../support/accessibility.js'
import { postJson } from '../support/app.js'
import { PHONE, recordBrowserErrors } from '../support/browser.js'
import { startTwoAdmins } from '../support/page-client.js'
import { openBrowserContext, sharedBrowser } from '../support/shared-browser.js'
import { ADMIN } from '../support/sign-in.js'
import { getSessionId, sendWebhooks, startStripe } from '../support/stripe.js'
import { TRIPS } from '../support/trips.js'
import { waitForEqual } from '../support/wait-for.js'

const { stripe, environment } = await startStripe(t)
const { url, ann } = await startTwoAdmins(t, {
  ...environment,
  CURRENCY: 'EUR',
  PRICE_PER_TONNE: '24.50',
})
sendWebhooks(stripe, url)
const browser = await sharedBrowser()
const [trip] = TRIPS

async function openPhone(t: Test) {
  const { context, page } = await openBrowserContext(t, { viewport: PHONE, locale: 'en-GB' })
  return { page, errors: recordBrowserErrors(context, url).errors }
}

/** Orders, up to the page of Stripe; returns the session. */
async function order(page: Page): Promise<string> {
  await page.goto(`${url}/offset?type=custom&amount=2&unit=t`)
  await page.getByLabel('Name', { exact: true }).fill('Ann Example')
  await page.getByLabel('Email').fill('ann@example.com')
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.waitForURL(/\/c\/pay\//)
  return getSessionId(page.url())
}

const getLatest = async () => (await ann.call('GET', '/api/admin/orders?pageSize=1')).items[0]

t.test('a guest scans and pays on four screens', async (t) => {
  const { page, errors } = await openPhone(t)
  const screens: string[] = []
  page.on('framenavigated', (frame) => {
    const { pathname, hash } = new URL(frame.url())
    if (pathname !== 'blank' && hash === '' && pathname !== screens.at(-1)) screens.push(pathname)
  })
  await page.goto((await postJson(`${url}/api/qr-code/generate`, trip)).body.url)
  await page
    .getByRole('link', { name: /^Buy credits/ })
    .first()
    .click()
  await page.getByLabel('Name', { exact: true }).fill('Ann Example')
  await page.getByLabel('Email').fill('ann@example.com')
  t.match(await page.locator('.order-summary').innerText(), /Stripe’s payment page/)
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.getByRole('button', { name: /^Pay €/ }).click()
  await page.getByRole('heading', { name: 'Your credits are being bought' }).waitFor()
  t.equal(screens.length, 4, screens.join(', '))
  t.match(await getLatest(), { status: 'paid', checkout: { paymentMethod: 'stripe' } })
  t.same(errors, [], 'the policy of the page allows the redirect')

  await page.goBack()
  t.match(await page.locator('main').innerText(), /expired|Buy carbon credits/)
  t.equal((await ann.call('GET', '/api/admin/orders')).totalItems, 1)
})

t.test('after an error, the browser asked to send the form again', async (t) => {
  const { page } = await openPhone(t)
  await page.goto(`${url}/offset?type=custom&amount=2&unit=t`)
  await page.getByLabel('Name', { exact: true }).fill('Ann Example')
  await page.getByRole('button', { name: 'Order and pay' }).click()
  const summary = page.getByRole('alert').filter({ hasText: 'There is a problem' })
  await summary.waitFor()
  t.ok(await summary.evaluate((element) => element === document.activeElement), 'has the focus')
  await page.getByLabel('Email').fill('ann@example.com')
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.waitForURL(/\/c\/pay\//)
  await page.goBack()
  await page.getByRole('heading', { name: 'Buy carbon credits' }).waitFor()
})

t.test('a guest stops, comes back and pays; another cancels', async (t) => {
  const { page, errors } = await openPhone(t)
  const session = await order(page)
  await page.getByRole('link', { name: 'Cancel' }).click()
  await page.getByText('Nothing has been charged.').waitFor()
  await page.getByRole('button', { name: 'Pay €49.00' }).click()
  await page.waitForURL(/\/c\/pay\//)
  t.equal(getSessionId(page.url()), session, 'the same session')
  await page.getByRole('button', { name: /which arrives/ }).click()
  await page.getByRole('heading', { name: /being processed|being bought/ }).waitFor()
  await waitForEqual(t, async () => (await getLatest()).status, 'paid')

  const other = await openPhone(t)
  const second = await order(other.page)
  await other.page.getByRole('link', { name: 'Cancel' }).click()
  await other.page.getByRole('link', { name: 'Cancel order' }).click()
  await other.page.getByRole('button', { name: 'Cancel order' }).click()
  await other.page.getByRole('heading', { name: 'Your order is cancelled' }).waitFor()
  t.equal(stripe.ledger.getSession(second).status, 'expired')
  await other.page.goto(`${stripe.url}/c/pay/${second}`)
  t.match(await other.page.locator('main').innerText(), /This page has expired/)
  t.same([...errors, ...other.errors], [])
})

t.test('a session expires; the order is paid by another one, and refunded', async (t) => {
  const { page } = await openPhone(t)
  const session = await order(page)
  const { pathname } = new URL(stripe.ledger.getSession(session).cancel_url)
  stripe.ledger.expire(session)
  const { id } = await getLatest()
  const getPayment = async () =>
    (await ann.call('GET', `/api/admin/orders/${id}/payments`)).items[0]
  await waitForEqual(t, async () => (await getPayment()).status, 'expired')
  await page.goto(url + pathname)
  await page.getByText('The payment page has expired').waitFor()
  await page.getByRole('button', { name: 'Pay €49.00' }).click()
  await page.getByRole('button', { name: /^Pay €49/ }).click()
  await page.getByRole('heading', { name: 'Your credits are being bought' }).waitFor()

  const admin = await browser.newPage({ viewport: PHONE, locale: 'en-GB' })
  await admin.goto(`${url}/admin/login`)
  await admin.getByLabel('Email').fill(ADMIN.email)
  await admin.getByLabel('Password', { exact: true }).fill(ADMIN.password)
  await admin.getByRole('button', { name: 'Sign in' }).click()
  await admin.waitForURL(/\/admin$/)
  await admin.goto(`${url}/admin/orders/${id}`)
  await admin.getByRole('button', { name: 'Refund €49.00…' }).click()
  await admin.locator('dialog').getByRole('button', { name: 'Refund €49.00' }).click()
  await admin.getByText(/The payment of order CW-\d+ was refunded/).waitFor()
  t.match(await admin.locator('#payments').innerText(), /Refunded/)
  await page.reload()
  await page.getByRole('heading', { name: 'Your payment was refunded' }).waitFor()
  t.equal(stripe.ledger.refunds.length, 1)
  await admin.close()
})

t.test('the pages of payments are accessible', async (t) => {
  for (const [variant, options] of ACCESSIBILITY_VARIANTS) {
    const context = await browser.newContext({ ...options, locale: 'en-GB' })
    const page = await context.newPage()
    await order(page)
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.getByText('Nothing has been charged.').waitFor()
    await checkAccessibility(t, page, `the unpaid order on ${variant}`)
    await context.close()
  }
})
