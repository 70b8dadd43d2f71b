import type { Locator, Page } from 'playwright-core'
import type { Test } from 'tap'
import { DESKTOP, launchBrowser, listen, PHONE } from '../support/browser.js'
import { faultyProxy, type Fault } from '../support/faulty-proxy.js'
import { checkLooks } from '../support/accessibility.js'
import type { TestNocoDb } from '../support/nocodb.js'
import { startOrderApi, type OrderApi } from '../support/order-api.js'
import { newOrder } from '../support/order-store.js'
import { adminContext } from '../support/portal.js'
import { until, untilReady } from '../support/until.js'

const ORDERS = '/api/admin/orders'

/** A page waits so long for what it shows, ms, on a busy machine too. */
const PATIENCE_MS = 60_000

/** What administrators see in their browsers of a NocoDB that is away, loading or set up wrongly. */
export function portalContract(t: Test, nocoDb: TestNocoDb): void {
  const detailOf = async ({ call }: OrderApi): Promise<string> =>
    (await call('GET', '/readyz')).body.checks.orders.detail

  async function openPages(
    t: Test,
    { url }: OrderApi,
    options: { viewport: typeof PHONE; colorScheme: 'dark' | 'light' },
  ) {
    const browser = await launchBrowser()
    t.teardown(() => browser.close())
    const context = await adminContext(t, browser, { url }, { locale: 'en-GB', ...options })
    context.setDefaultTimeout(PATIENCE_MS)
    const complaints = listen(context, url)
    const open = async (path: string): Promise<Page> => {
      const page = await context.newPage()
      await page.goto(url + path)
      return page
    }
    return { open, complaints }
  }

  const banner = (page: Page): Locator => page.locator('#freshness p')
  const failure = (page: Page): Locator => page.locator('#messages .failed')

  for (const [device, viewport, colorScheme] of [
    ['phone', PHONE, 'dark'],
    ['desktop', DESKTOP, 'light'],
  ] as const) {
    t.test(`while NocoDB is away pages say how old they are, on a ${device}`, async (t) => {
      const base = await nocoDb.ordersBase()
      const proxy = await faultyProxy(t, nocoDb.url)
      const service = await startOrderApi(t, {
        ...base.environment,
        DATABASE_BASE_URL: proxy.url,
      })
      await untilReady(service.url)
      for (const customerName of ['Ann', 'Ben', 'Zoë']) {
        await service.call('POST', ORDERS, newOrder({ customerName }))
      }
      const { open, complaints } = await openPages(t, service, { viewport, colorScheme })
      const list = await open('/admin/orders')
      const order = await open('/admin/orders/1')
      await order.getByRole('button', { name: 'Edit Notes' }).click()
      await order.locator('#notes').fill('typed with care')
      const entry = await open('/admin/orders/new')
      await entry.locator('#customerName').fill('Nora')
      await entry.locator('#customerEmail').fill('nora@example.com')
      await entry.locator('#co2eKg').fill('12')
      await entry.locator('#amount').fill('30')
      const dashboard = await open('/admin?range=7d')
      await dashboard.locator('#card-orders .value').waitFor()
      for (const page of [list, order, entry, dashboard]) {
        t.equal(await banner(page).count(), 0, 'nothing is said while all is well')
      }

      proxy.faultOf = () => 'cuts before'
      await until(async () => (await detailOf(service)).includes('since then'))
      await list.bringToFront()
      await list.locator('#q').fill('zoë')
      await list.locator('#found').getByText('1 order').waitFor()
      t.match(
        await banner(list).innerText(),
        /^Shown as of \d\d:\d\d \(.* ago\): NocoDB .*\. Until that is over, changes cannot be saved\.$/,
      )
      t.match(await banner(list).locator('time').getAttribute('datetime'), /^\d{4}-\d\d-\d\dT.*Z$/)
      await checkLooks(t, list, 'a list as of some time ago')

      await order.bringToFront()
      await order.getByRole('button', { name: 'Save' }).click()
      await failure(order).getByText('nothing was changed').waitFor()
      t.match(await failure(order).innerText(), /What you typed is still here/)
      t.equal(await order.locator('#notes').inputValue(), 'typed with care')
      await banner(order).waitFor()
      await checkLooks(t, order, 'an order as of some time ago')

      await entry.bringToFront()
      await entry.getByRole('button', { name: 'Enter the order' }).click()
      await failure(entry).getByText('nothing was changed').waitFor()
      t.equal(await entry.locator('#customerName').inputValue(), 'Nora')
      await banner(entry).waitFor()

      await dashboard.bringToFront()
      await dashboard.getByRole('link', { name: '90 days' }).click()
      await banner(dashboard).waitFor()
      t.equal(await dashboard.locator('#card-orders .value').innerText(), '3')
      await checkLooks(t, dashboard, 'a dashboard as of some time ago')
      const fresh = await open('/admin/orders/2')
      await banner(fresh).waitFor()

      proxy.faultOf = () => 'none'
      await until(async () => !(await detailOf(service)).includes('since then'))
      await order.bringToFront()
      await order.getByRole('button', { name: 'Save' }).click()
      await order.locator('.notes', { hasText: 'typed with care' }).waitFor()
      t.equal(await banner(order).count(), 0, 'what is over is not told any more')
      t.equal(await failure(order).count(), 0)
      await entry.bringToFront()
      await entry.getByRole('button', { name: 'Enter the order' }).click()
      await entry.waitForURL(/\/admin\/orders\/\d+$/)
      t.equal((await service.call('GET', ORDERS)).body.totalItems, 4, 'entered once')
      t.same(complaints.strangers, [])
      t.same(
        complaints.errors.filter((error) => !error.includes('status of 503')),
        [],
      )
    })
  }

  t.test('of several orders, it is told which ones an outage has left as they are', async (t) => {
    const base = await nocoDb.ordersBase()
    const proxy = await faultyProxy(t, nocoDb.url)
    const service = await startOrderApi(t, { ...base.environment, DATABASE_BASE_URL: proxy.url })
    await untilReady(service.url)
    for (let i = 0; i < 3; i++) await service.call('POST', ORDERS, newOrder())
    const { open } = await openPages(t, service, { viewport: DESKTOP, colorScheme: 'dark' })
    const list = await open('/admin/orders?sort=orderNumber')
    await list.locator('#choose-all').check()
    await list.getByLabel('Set status').selectOption('paid')
    let writes = 0
    proxy.faultOf = (method) => {
      if (method === 'PATCH') writes++
      return writes > 1 ? 'cuts before' : 'none'
    }
    await list.getByRole('button', { name: 'Set', exact: true }).click()
    await list.locator('#outcome').waitFor()
    const told = await list.locator('#outcome').innerText()
    t.match(told, /1 order is paid now\. 2 orders were left as they are:/)
    t.match(told, /CW-000002 – NocoDB does not answer, so it is not known whether the change was/)
    t.match(told, /CW-000003 was not tried/)
    t.notOk(await list.getByLabel('Choose CW-000001').isChecked())
    t.ok(await list.getByLabel('Choose CW-000003').isChecked(), 'what is left stays chosen')

    proxy.faultOf = () => 'none'
    await until(async () => !(await detailOf(service)).includes('since then'))
    const { items } = (await service.call('GET', `${ORDERS}?sort=orderNumber`)).body
    t.same(
      items.map(({ status }: any) => status),
      ['paid', 'pending', 'pending'],
    )
  })

  t.test('the first load shows how far it is, and the page goes on by itself', async (t) => {
    const base = await nocoDb.ordersBase()
    const row = {
      CustomerName: 'Ann',
      CustomerEmail: 'ann@example.com',
      Co2eKg: 1,
      AmountMinor: 1,
      Currency: 'EUR',
    }
    const records = `/api/v2/tables/${base.tableId}/records`
    for (let i = 0; i < 12; i++) await nocoDb.api('POST', records, Array(100).fill(row))
    const proxy = await faultyProxy(t, nocoDb.url)
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    t.teardown(release)
    let pages = 0
    proxy.faultOf = async (method, path): Promise<Fault> => {
      if (method === 'GET' && /records\?.*limit=1000/.test(path) && ++pages > 1) await released
      return 'none'
    }
    const service = await startOrderApi(t, { ...base.environment, DATABASE_BASE_URL: proxy.url })
    await until(async () => (await detailOf(service)).includes('1,000 of 1,200'))
    const { open } = await openPages(t, service, { viewport: PHONE, colorScheme: 'light' })
    const list = await open('/admin/orders?sort=orderNumber')
    const dashboard = await open('/admin')
    for (const page of [list, dashboard]) {
      await page.bringToFront()
      const told = page.locator('[data-waiting]')
      await told.getByText('The orders are being taken in from NocoDB: 1,000 of 1,200.').waitFor()
      t.equal(await told.locator('progress').getAttribute('value'), '1000')
      await checkLooks(t, page, 'a page that waits for the orders')
    }
    release()
    await list.bringToFront()
    await list.locator('#found').getByText('1,200 orders').waitFor()
    t.match(list.url(), /sort=orderNumber/)
    await dashboard.bringToFront()
    await dashboard.locator('#card-orders .value').getByText('1,200').waitFor()
  })

  t.test('a table that does not fit is told on the page, column by column', async (t) => {
    const base = await nocoDb.ordersBase()
    const service = await startOrderApi(t, {
      ...base.environment,
      NOCODB_COLUMNS: 'notes=Remarks,currency=Money',
    })
    await until(async () => (await detailOf(service)).includes('does not fit'))
    const { open } = await openPages(t, service, { viewport: PHONE, colorScheme: 'dark' })
    const page = await open('/admin/orders')
    const told = page.locator('[data-waiting]')
    t.match(
      await told.innerText(),
      /does not fit \(Money is missing; Remarks is missing\), and npm run nocodb:setup adds what/,
    )
    await checkLooks(t, page, 'a page that says what the table lacks')
  })
}
