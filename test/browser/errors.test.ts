import type { Page } from 'playwright-core'
import t from 'tap'
import { DESKTOP, launchBrowser, recordBrowserErrors, PHONE } from '../support/browser.js'
import { checkAccessibility } from '../support/accessibility.js'
import { adminContext, manyOrders, startPortal } from '../support/portal.js'
import { testRedis } from '../support/redis.js'
import { waitUntil } from '../support/wait-for.js'

const redis = await testRedis(t)
await redis.start()
const service = await startPortal(t, manyOrders(60), { REDIS_URL: redis.url })
const browser = await launchBrowser()
t.teardown(() => browser.close())

const LIST = `${service.url}/admin/orders`
const failure = (page: Page) => page.locator('#messages .failed')

/** Starts Redis, and waits until the service has found it. */
async function redisIsBack(): Promise<void> {
  await redis.start()
  const isFound = async () => (await fetch(`${service.url}/readyz`)).ok
  if (!(await waitUntil(isFound, { everyMs: 50 }))) throw new Error('Redis is not found again')
}

for (const [device, viewport, colorScheme] of [
  ['phone', PHONE, 'dark'],
  ['desktop', DESKTOP, 'light'],
] as const) {
  t.test(`while Redis is away nothing typed is lost on a ${device}, ${colorScheme}`, async (t) => {
    const context = await adminContext(t, browser, service, { viewport, colorScheme })
    const browserErrors = recordBrowserErrors(context, service.url)
    const list = await context.newPage()
    await list.goto(`${LIST}?sort=orderNumber&pageSize=50`)
    const order = await context.newPage()
    await order.goto(`${LIST}/1`)
    await order.getByRole('button', { name: 'Edit Notes' }).click()
    await order.locator('#notes').fill('typed with care')
    const entry = await context.newPage()
    await entry.goto(`${LIST}/new`)
    await entry.locator('#customerName').fill('Zoë')
    const dashboard = await context.newPage()
    await dashboard.goto(`${service.url}/admin?range=7d`)

    await redis.kill()
    await list.bringToFront()
    await list.locator('#q').fill('ann')
    await failure(list).waitFor()
    t.match(await failure(list).innerText(), /administrators|try again/i)
    t.equal(await list.locator('#q').inputValue(), 'ann')
    t.equal(await list.locator('.row-link').count(), 50, 'the list is still there')
    t.notMatch(list.url(), /q=ann/, 'and its address')
    await checkAccessibility(t, list, 'a message over the list')

    await list.getByLabel('Select CW-000040').check()
    await list.getByLabel('Set status').selectOption('paid')
    await list.getByRole('button', { name: 'Set', exact: true }).click()
    await failure(list).getByText('What you typed is still here').waitFor()
    t.ok(await failure(list).evaluate(isInView), 'it is seen from far down the list')
    t.ok(await list.getByLabel('Select CW-000040').isChecked(), 'what was chosen stays chosen')

    await order.bringToFront()
    await order.getByRole('button', { name: 'Save' }).click()
    await failure(order).waitFor()
    t.equal(await order.locator('#notes').inputValue(), 'typed with care')
    await checkAccessibility(t, order, 'a message on an order')
    await entry.bringToFront()
    await entry.getByRole('button', { name: 'Create order' }).click()
    await failure(entry).waitFor()
    t.equal(await entry.locator('#customerName').inputValue(), 'Zoë')
    await dashboard.bringToFront()
    const orders = await dashboard.locator('#card-orders .value').innerText()
    await dashboard.getByRole('link', { name: '90 days' }).click()
    await failure(dashboard).waitFor()
    t.equal(await dashboard.locator('#card-orders .value').innerText(), orders)
    t.match(dashboard.url(), /range=7d/)
    t.equal(await dashboard.locator('#ranges [aria-current]').innerText(), '7 days')

    const page = await context.newPage()
    await page.goto(`${LIST}?status=paid`)
    await page.getByRole('heading', { name: 'Temporarily unavailable' }).waitFor()
    await checkAccessibility(t, page, 'an error as a page')

    await redisIsBack()
    await page.getByRole('link', { name: 'Try again' }).click()
    await page.waitForURL(`${LIST}?status=paid`)
    await page.getByRole('heading', { name: 'Orders' }).waitFor()

    await list.bringToFront()
    await list.getByRole('button', { name: 'Set', exact: true }).click()
    await list.getByText('was not changed').or(list.getByText('is now paid')).waitFor()
    await failure(list).waitFor({ state: 'detached' })
    await order.bringToFront()
    await order.getByRole('button', { name: 'Save' }).click()
    await order.locator('.notes', { hasText: 'typed with care' }).waitFor()
    await failure(order).waitFor({ state: 'detached' })
    await order.getByRole('button', { name: 'Edit Notes' }).click()
    await order.locator('#notes').fill('')
    await order.getByRole('button', { name: 'Save' }).click()
    await order.getByText('No notes').waitFor()
    await dashboard.bringToFront()
    await dashboard.getByRole('link', { name: '90 days' }).click()
    await dashboard.waitForURL(/range=90d/)
    t.same(browserErrors.externalRequests, [])
    t.same(
      browserErrors.errors.filter((error) => !error.includes('status of 503')),
      [],
    )
  })
}

function isInView(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect()
  return top >= 0 && bottom <= innerHeight
}

t.test('without a connection the list stays, and says that it is from before', async (t) => {
  const context = await adminContext(t, browser, service, { viewport: PHONE })
  const page = await context.newPage()
  await page.goto(LIST)
  await context.setOffline(true)
  await page.locator('#q').fill('ann')
  await page.getByRole('alert').getByText('No connection').waitFor()
  t.equal(await page.locator('.row-link').count(), 25)
  await context.setOffline(false)
  await page.waitForURL(/q=ann/)
  await page.getByText('20 orders').waitFor()
  t.equal(await page.getByText('No connection').count(), 0)
})

t.test('an error page of a proxy is told, and never put in the place of a part', async (t) => {
  const context = await adminContext(t, browser, service, { viewport: PHONE })
  const page = await context.newPage()
  const told = page.getByRole('alert').getByText('cannot be reached (error 502)')
  const proxy = {
    status: 502,
    contentType: 'text/html',
    body: '<html><body><h1>502 Bad Gateway</h1></body></html>',
  }
  await page.goto(LIST)
  const fail = (path: string) => page.route(path, (route) => route.fulfill(proxy))
  await fail('**/admin/orders?*')
  await page.locator('#q').fill('ann')
  await told.waitFor()
  t.equal(await page.locator('.row-link').count(), 25, 'the list stays')
  t.equal(page.url(), LIST, 'and so does its address')
  t.equal(await page.getByText('Bad Gateway').count(), 0)

  await page.unroute('**/admin/orders?*')
  await page.goto(`${LIST}/3`)
  await page.getByRole('button', { name: 'Edit Notes' }).click()
  await page.locator('#notes').fill('typed with care')
  await fail('**/admin/orders/3/edit*')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').getByText('It’s safe to retry').waitFor()
  t.equal(await page.locator('#notes').inputValue(), 'typed with care')
  await page.unroute('**/admin/orders/3/edit*')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('.notes', { hasText: 'typed with care' }).waitFor()
  await told.waitFor({ state: 'detached' })
})

t.test('with scripts off a form that failed is sent again by reloading', async (t) => {
  const context = await adminContext(t, browser, service, {
    viewport: PHONE,
    javaScriptEnabled: false,
  })
  const page = await context.newPage()
  await page.goto(`${LIST}/2/edit?group=notes`)
  await page.locator('#notes').fill('sent twice')
  await redis.kill()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Reload this page to send it again').waitFor()
  await redisIsBack()
  await page.reload()
  await page.locator('.notes', { hasText: 'sent twice' }).waitFor()
})

t.test('an export that cannot be had leads back to the list', async (t) => {
  const context = await adminContext(t, browser, service, {
    viewport: DESKTOP,
    javaScriptEnabled: false,
  })
  const page = await context.newPage()
  await page.goto(`${LIST}?status=paid`)
  await redis.kill()
  await page.getByRole('link', { name: 'Excel' }).click()
  await page.getByRole('heading', { name: 'Temporarily unavailable' }).waitFor()
  await redisIsBack()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Try again' }).click(),
  ])
  t.match(download.suggestedFilename(), /^orders-[\d-]+\.xlsx$/)
  await page.getByRole('link', { name: 'Go to orders' }).click()
  await page.getByRole('heading', { name: 'Orders' }).waitFor()
})
