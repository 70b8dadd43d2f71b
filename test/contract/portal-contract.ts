import type { Locator, Page } from 'playwright-core'
import type { Test } from 'tap'
import { checkAccessibility } from '../support/accessibility.js'
import { DESKTOP, PHONE, recordBrowserErrors } from '../support/browser.js'
import { faultyProxy, type Fault } from '../support/faulty-proxy.js'
import type { TestNocoDb } from '../support/nocodb.js'
import { startOrderApi, type OrderApi } from '../support/order-api.js'
import { newOrder } from '../support/order-store.js'
import { adminContext } from '../support/portal.js'
import { sharedBrowser } from '../support/shared-browser.js'
import { waitFor, waitUntilReady } from '../support/wait-for.js'

const ORDERS = '/api/admin/orders'

/** Tests of the portal while NocoDB is unreachable, loading or invalid. */
export function portalContract(t: Test, nocoDb: TestNocoDb): void {
  const getDetail = async ({ call }: OrderApi): Promise<string> =>
    (await call('GET', '/readyz')).body.checks.orders.detail

  async function openPages(
    t: Test,
    { url }: OrderApi,
    options: { viewport: typeof PHONE; colorScheme: 'dark' | 'light' },
  ) {
    const browser = await sharedBrowser()
    const context = await adminContext(t, browser, { url }, { locale: 'en-GB', ...options })
    const problems = recordBrowserErrors(context, url)
    const open = async (path: string): Promise<Page> => {
      const page = await context.newPage()
      await page.goto(url + path)
      return page
    }
    return { open, problems }
  }

  const banner = (page: Page): Locator => page.locator('#freshness p')
  const failure = (page: Page): Locator => page.locator('#messages .failed')

  for (const [device, viewport, colorScheme] of [
    ['phone', PHONE, 'dark'],
    ['desktop', DESKTOP, 'light'],
  ] as const) {
    t.test(`shows the age of the orders while NocoDB is unreachable, on a ${device}`, async (t) => {
      const base = await nocoDb.createBase()
      const proxy = await faultyProxy(t, nocoDb.url)
      const service = await startOrderApi(t, {
        ...base.environment,
        DATABASE_BASE_URL: proxy.url,
      })
      await waitUntilReady(service.url)
      for (const customerName of ['Ann', 'Ben', 'Zoë']) {
        await service.call('POST', ORDERS, newOrder({ customerName }))
      }
      const { open, problems } = await openPages(t, service, { viewport, colorScheme })
      const list = await open('/admin/orders')
      const order = await open('/admin/orders/1')
      await order.getByRole('button', { name: 'Edit Notes' }).click()
      await order.locator('#notes').fill('typed with care')
      const form = await open('/admin/orders/new')
      await form.locator('#customerName').fill('Nora')
      await form.locator('#customerEmail').fill('nora@example.com')
      await form.locator('#co2eKg').fill('12')
      await form.locator('#amount').fill('30')
      const dashboard = await open('/admin?range=7d')
      await dashboard.locator('#card-orders .value').waitFor()
      for (const page of [list, order, form, dashboard]) {
        t.equal(await banner(page).count(), 0, 'shows no banner while the orders are current')
      }

      proxy.getFault = () => 'request_lost'
      await waitFor(async () => (await getDetail(service)).includes('sync failed'))
      await list.bringToFront()
      await list.locator('#q').fill('zoë')
      await list.locator('#result-count').getByText('1 order').waitFor()
      t.match(
        await banner(list).innerText(),
        /^Data from \d\d:\d\d \(.* ago\): NocoDB .*\. Changes cannot be saved until this is resolved\.$/,
      )
      t.match(await banner(list).locator('time').getAttribute('datetime'), /^\d{4}-\d\d-\d\dT.*Z$/)
      await checkAccessibility(t, list, 'an outdated list')

      await order.bringToFront()
      await order.getByRole('button', { name: 'Save' }).click()
      await failure(order).getByText('Nothing was saved').waitFor()
      t.match(await failure(order).innerText(), /What you typed is still here/)
      t.equal(await order.locator('#notes').inputValue(), 'typed with care')
      await banner(order).waitFor()
      await checkAccessibility(t, order, 'an outdated order')

      await form.bringToFront()
      await form.getByRole('button', { name: 'Create order' }).click()
      await failure(form).getByText('Nothing was saved').waitFor()
      t.equal(await form.locator('#customerName').inputValue(), 'Nora')
      await banner(form).waitFor()

      await dashboard.bringToFront()
      await dashboard.getByRole('link', { name: '90 days' }).click()
      await banner(dashboard).waitFor()
      t.equal(await dashboard.locator('#card-orders .value').innerText(), '3')
      await checkAccessibility(t, dashboard, 'an outdated dashboard')
      const fresh = await open('/admin/orders/2')
      await banner(fresh).waitFor()

      proxy.getFault = () => 'none'
      await waitFor(async () => !(await getDetail(service)).includes('sync failed'))
      await order.bringToFront()
      await order.getByRole('button', { name: 'Save' }).click()
      await order.locator('.notes', { hasText: 'typed with care' }).waitFor()
      t.equal(await banner(order).count(), 0, 'hides the banner after the outage')
      t.equal(await failure(order).count(), 0)
      await form.bringToFront()
      await form.getByRole('button', { name: 'Create order' }).click()
      await form.waitForURL(/\/admin\/orders\/\d+$/)
      t.equal((await service.call('GET', ORDERS)).body.totalItems, 4, 'creates the order once')
      t.same(problems.externalRequests, [])
      t.same(
        problems.errors.filter((error) => !error.includes('status of 503')),
        [],
      )
    })
  }

  t.test(
    'reports which orders of a bulk change were not changed because of an outage',
    async (t) => {
      const base = await nocoDb.createBase()
      const proxy = await faultyProxy(t, nocoDb.url)
      const service = await startOrderApi(t, { ...base.environment, DATABASE_BASE_URL: proxy.url })
      await waitUntilReady(service.url)
      for (let i = 0; i < 3; i++) await service.call('POST', ORDERS, newOrder())
      const { open } = await openPages(t, service, { viewport: DESKTOP, colorScheme: 'dark' })
      const list = await open('/admin/orders?sort=orderNumber')
      await list.locator('#select-all').check()
      await list.getByLabel('Set status').selectOption('paid')
      let writes = 0
      proxy.getFault = (method) => {
        if (method === 'PATCH') writes++
        return writes > 1 ? 'request_lost' : 'none'
      }
      await list.getByRole('button', { name: 'Set', exact: true }).click()
      await list.locator('#outcome').waitFor()
      const outcome = await list.locator('#outcome').innerText()
      t.match(outcome, /1 order is now paid\. 2 orders were not changed:/)
      t.match(
        outcome,
        /CW-000002: NocoDB did not respond, so we couldn't confirm that the change was/,
      )
      t.match(outcome, /CW-000003: not attempted/)
      t.notOk(await list.getByLabel('Select CW-000001').isChecked())
      t.ok(
        await list.getByLabel('Select CW-000003').isChecked(),
        'keeps the remaining orders selected',
      )

      proxy.getFault = () => 'none'
      await waitFor(async () => !(await getDetail(service)).includes('sync failed'))
      const { items } = (await service.call('GET', `${ORDERS}?sort=orderNumber`)).body
      t.same(
        items.map(({ status }: any) => status),
        ['paid', 'pending', 'pending'],
      )
    },
  )

  t.test('shows the progress of the first load and then continues automatically', async (t) => {
    const base = await nocoDb.createBase()
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
    proxy.getFault = async (method, path): Promise<Fault> => {
      // After a time-out, pages are smaller.
      if (method === 'GET' && /records\?.*limit=\d{3}/.test(path) && ++pages > 1) await released
      return 'none'
    }
    const service = await startOrderApi(t, { ...base.environment, DATABASE_BASE_URL: proxy.url })
    await waitFor(async () => (await getDetail(service)).includes('1,000 of 1,200'))
    const { open } = await openPages(t, service, { viewport: PHONE, colorScheme: 'light' })
    const list = await open('/admin/orders?sort=orderNumber')
    const dashboard = await open('/admin')
    for (const page of [list, dashboard]) {
      await page.bringToFront()
      const notice = page.locator('[data-progress]')
      await notice.getByText('Orders are loading from NocoDB: 1,000 of 1,200.').waitFor()
      t.equal(await notice.locator('progress').getAttribute('value'), '1000')
      await checkAccessibility(t, page, 'a page while orders are loading')
    }
    release()
    await list.bringToFront()
    await list.locator('#result-count').getByText('1,200 orders').waitFor()
    t.match(list.url(), /sort=orderNumber/)
    await dashboard.bringToFront()
    await dashboard.locator('#card-orders .value').getByText('1,200').waitFor()
  })

  t.test('shows each invalid column of the table', async (t) => {
    const base = await nocoDb.createBase()
    const service = await startOrderApi(t, {
      ...base.environment,
      NOCODB_COLUMNS: 'notes=Remarks,currency=Money',
    })
    await waitFor(async () => (await getDetail(service)).includes('is invalid'))
    const { open } = await openPages(t, service, { viewport: PHONE, colorScheme: 'dark' })
    const page = await open('/admin/orders')
    const notice = page.locator('[data-progress]')
    t.match(
      await notice.innerText(),
      /is invalid \(Money is missing; Remarks is missing\); npm run nocodb:setup adds what/,
    )
    await checkAccessibility(t, page, 'a page with schema errors')
  })
}
