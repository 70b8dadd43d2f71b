import type { Page } from 'playwright-core'
import t from 'tap'
import { DESKTOP, PHONE, recordBrowserErrors } from '../support/browser.js'
import { adminContext, manyOrders, startPortal } from '../support/portal.js'
import { startPostgres } from '../support/postgres.js'
import { sharedBrowser } from '../support/shared-browser.js'
import { waitUntil } from '../support/wait-for.js'
import { checkAllVariants } from './check-all-variants.js'

const postgres = await startPostgres(t)
const service = await startPortal(t, manyOrders(60), {
  DATABASE_URL: await postgres.createDatabase(),
})
const browser = await sharedBrowser()

const LIST = `${service.url}/admin/orders`
const getError = (page: Page) => page.locator('#messages .failed')

async function restartPostgres(): Promise<void> {
  await postgres.start()
  const isReady = async () => (await fetch(`${service.url}/readyz`)).ok
  if (!(await waitUntil(isReady, { everyMs: 50 }))) throw new Error('the service is not ready')
}

t.test('keeps lists, forms and figures while PostgreSQL is unavailable', async (t) => {
  const context = await adminContext(t, browser, service, { viewport: PHONE })
  const browserErrors = recordBrowserErrors(context, service.url)
  const list = await context.newPage()
  await list.goto(`${LIST}?sort=orderNumber&pageSize=50`)
  const order = await context.newPage()
  await order.goto(`${LIST}/1`)
  await order.getByRole('button', { name: 'Edit Notes' }).click()
  await order.locator('#notes').fill('not yet saved')
  const newOrder = await context.newPage()
  await newOrder.goto(`${LIST}/new`)
  await newOrder.locator('#customerName').fill('Zoë')
  const dashboard = await context.newPage()
  await dashboard.goto(`${service.url}/admin?range=7d`)
  const orderCount = dashboard.locator('#card-orders .value')
  const orderCountBefore = await orderCount.innerText()

  await postgres.kill()
  await list.bringToFront()
  await list.locator('#q').fill('ann')
  await getError(list).waitFor()
  t.match(await getError(list).innerText(), /database is not responding/)
  t.equal(await list.locator('#q').inputValue(), 'ann')
  t.equal(await list.locator('.row-link').count(), 50, 'keeps the list')
  t.notMatch(list.url(), /q=ann/, 'keeps the URL')
  await checkAllVariants(t, list, 'an error over the list')

  await list.setViewportSize(PHONE)
  await list.getByLabel('Select CW-000040').check()
  await list.getByLabel('Set status').selectOption('paid')
  await list.getByRole('button', { name: 'Set', exact: true }).click()
  await getError(list).getByText('What you typed is still here').waitFor()
  const isInView = await getError(list).evaluate((message) => {
    const { top, bottom } = message.getBoundingClientRect()
    return top >= 0 && bottom <= innerHeight
  })
  t.ok(isInView, 'shows the error at the end of the list')
  t.ok(await list.getByLabel('Select CW-000040').isChecked(), 'keeps the selection')

  await order.bringToFront()
  await order.getByRole('button', { name: 'Save' }).click()
  await getError(order).waitFor()
  t.equal(await order.locator('#notes').inputValue(), 'not yet saved')
  await checkAllVariants(t, order, 'an error on an order')
  await newOrder.bringToFront()
  await newOrder.getByRole('button', { name: 'Create order' }).click()
  await getError(newOrder).waitFor()
  t.equal(await newOrder.locator('#customerName').inputValue(), 'Zoë')
  await dashboard.bringToFront()
  await dashboard.getByRole('link', { name: '90 days' }).click()
  await getError(dashboard).waitFor()
  t.equal(await orderCount.innerText(), orderCountBefore)
  t.match(dashboard.url(), /range=7d/)
  t.equal(await dashboard.locator('#ranges [aria-current]').innerText(), '7 days')

  const errorPage = await context.newPage()
  await errorPage.goto(`${LIST}?status=paid`)
  await errorPage.getByRole('heading', { name: 'Temporarily unavailable' }).waitFor()
  await checkAllVariants(t, errorPage, 'an error page')

  await restartPostgres()
  await errorPage.getByRole('link', { name: 'Try again' }).click()
  await errorPage.waitForURL(`${LIST}?status=paid`)
  await errorPage.getByRole('heading', { name: 'Orders' }).waitFor()

  await list.bringToFront()
  await list.getByRole('button', { name: 'Set', exact: true }).click()
  await list.getByText('was not changed').or(list.getByText('is now paid')).waitFor()
  await getError(list).waitFor({ state: 'detached' })
  await order.bringToFront()
  await order.getByRole('button', { name: 'Save' }).click()
  await order.locator('.notes', { hasText: 'not yet saved' }).waitFor()
  await getError(order).waitFor({ state: 'detached' })
  await dashboard.bringToFront()
  await dashboard.getByRole('link', { name: '90 days' }).click()
  await dashboard.waitForURL(/range=90d/)
  t.same(browserErrors.externalRequests, [])
  t.same(
    browserErrors.errors.filter((error) => !error.includes('status of 503')),
    [],
  )
})

t.test('keeps the list without a connection, and retries', async (t) => {
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

t.test('reports error pages of proxies instead of showing them', async (t) => {
  const context = await adminContext(t, browser, service, { viewport: PHONE })
  const page = await context.newPage()
  const alert = page.getByRole('alert')
  const failRequests = (path: string) =>
    page.route(path, (route) =>
      route.fulfill({
        status: 502,
        contentType: 'text/html',
        body: '<html><body><h1>502 Bad Gateway</h1></body></html>',
      }),
    )
  await page.goto(LIST)
  await failRequests('**/admin/orders?*')
  await page.locator('#q').fill('ann')
  await alert.getByText('cannot be reached (error 502)').waitFor()
  t.equal(await page.locator('.row-link').count(), 25, 'keeps the list')
  t.equal(page.url(), LIST, 'keeps the URL')
  t.equal(await page.getByText('Bad Gateway').count(), 0)

  await page.unroute('**/admin/orders?*')
  await page.goto(`${LIST}/3`)
  await page.getByRole('button', { name: 'Edit Notes' }).click()
  await page.locator('#notes').fill('not yet saved')
  await failRequests('**/admin/orders/3/edit*')
  await page.getByRole('button', { name: 'Save' }).click()
  await alert.getByText('It’s safe to retry').waitFor()
  t.equal(await page.locator('#notes').inputValue(), 'not yet saved')
  await page.unroute('**/admin/orders/3/edit*')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('.notes', { hasText: 'not yet saved' }).waitFor()
  await getError(page).waitFor({ state: 'detached' })
})

t.test('recovers from an outage without JavaScript', async (t) => {
  const context = await adminContext(t, browser, service, {
    viewport: DESKTOP,
    javaScriptEnabled: false,
  })
  const form = await context.newPage()
  await form.goto(`${LIST}/2/edit?group=notes`)
  await form.locator('#notes').fill('sent again')
  const list = await context.newPage()
  await list.goto(`${LIST}?status=paid`)

  await postgres.kill()
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Reload this page to submit it again').waitFor()
  await list.getByRole('link', { name: 'Excel' }).click()
  await list.getByRole('heading', { name: 'Temporarily unavailable' }).waitFor()

  await restartPostgres()
  await form.reload()
  await form.locator('.notes', { hasText: 'sent again' }).waitFor()
  const [download] = await Promise.all([
    list.waitForEvent('download'),
    list.getByRole('link', { name: 'Try again' }).click(),
  ])
  t.match(download.suggestedFilename(), /^orders-[\d-]+\.xlsx$/)
  await list.getByRole('link', { name: 'Go to orders' }).click()
  await list.getByRole('heading', { name: 'Orders' }).waitFor()
})
