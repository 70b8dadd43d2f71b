import { readFileSync } from 'node:fs'
import type { BrowserContextOptions, Page, Request } from 'playwright-core'
import t, { type Test } from 'tap'
import { DESKTOP, PHONE, recordBrowserErrors } from '../support/browser.js'
import { adminContext, manyOrders, startPortal } from '../support/portal.js'
import { openBrowserContext, openPageOf, sharedBrowser } from '../support/shared-browser.js'
import { waitForEqual } from '../support/wait-for.js'
import { checkAllVariants } from './check-all-variants.js'

const service = await startPortal(t, manyOrders(130))
/** Its orders are changed; every test changes other ones. */
const bulkService = await startPortal(t, manyOrders(24))
const browser = await sharedBrowser()

/** Signed in; shared by the tests that change neither cookies nor the connection. */
const sharedContext = await adminContext(t, browser, service, {
  viewport: DESKTOP,
  locale: 'en-GB',
})
const session = await sharedContext.storageState()
const bulkContext = await adminContext(t, browser, bulkService, { viewport: DESKTOP })

const LIST = `${service.url}/admin/orders`
const BULK_LIST = `${bulkService.url}/admin/orders?sort=orderNumber`

const openPage = (t: Test, context = sharedContext) => openPageOf(t, context)

/** A page in a browser context of its own. */
const openContext = (t: Test, options: BrowserContextOptions = {}) =>
  openBrowserContext(t, { viewport: DESKTOP, storageState: session, ...options })

const getOrderNumbers = (page: Page) => page.locator('.row-link').allInnerTexts()
const getChips = async (page: Page) =>
  (await page.locator('.chip').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))
const openFilter = (page: Page, name: string) =>
  page.locator('.filter > summary', { hasText: name }).click()
const getFilterCounts = async (page: Page) =>
  (await page.locator('.filter .count').allInnerTexts()).join()
const getResultCount = (page: Page) => page.locator('.result-count').innerText()
const getFocusedId = (page: Page) => page.evaluate(() => document.activeElement?.id)
const getFocusedText = (page: Page) => page.evaluate(() => document.activeElement?.textContent)

const waitForRequests = (page: Page) =>
  page.waitForFunction(() => !document.querySelector('.htmx-request'))
const waitForAllOrders = (page: Page) =>
  page.waitForFunction(() => document.querySelector('.result-count')?.textContent === '130 orders')

const getTop = (page: Page, id: string) =>
  page.evaluate((id) => document.getElementById(id)?.getBoundingClientRect().top ?? NaN, id)

const selectOrders = async (page: Page, ...orderNumbers: string[]) => {
  for (const orderNumber of orderNumbers) await page.getByLabel(`Select ${orderNumber}`).check()
}

async function setStatus(page: Page, status: string): Promise<void> {
  await page.getByLabel('Set status').selectOption(status)
  await page.getByRole('button', { name: 'Set', exact: true }).click()
}

/** Holds requests until they are released, and records them. */
async function holdRequests(page: Page, url: RegExp) {
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  const requests: Request[] = []
  await page.route(url, async (route) => {
    requests.push(route.request())
    await released
    await route.continue().catch(() => undefined)
  })
  return { requests, release }
}

t.test('searches while the user types, and updates the URL', async (t) => {
  const browserErrors = recordBrowserErrors(sharedContext, service.url)
  const page = await openPage(t)
  await page.goto(LIST)
  t.equal(await getResultCount(page), '130 orders')
  await page.keyboard.press('/')
  await page.keyboard.type('zoë')
  await page.locator('.chip', { hasText: 'zoë' }).waitFor()
  t.equal(await getResultCount(page), '43 orders')
  await waitForEqual(t, () => getFocusedId(page), 'q', 'keeps the focus')
  t.strictSame(await getChips(page), ['Search zoë'])
  const rows = await getOrderNumbers(page)
  await page.reload()
  t.strictSame(await getOrderNumbers(page), rows, 'shows the same after a reload')
  t.equal(await page.locator('#q').inputValue(), 'zoë')
  await page.locator('.chip').click()
  await waitForAllOrders(page)
  t.equal(await page.locator('#q').inputValue(), '', 'clears the search field')
  t.strictSame(browserErrors, { errors: [], externalRequests: [] })
})

t.test('filters, removes filters and sorts by column', async (t) => {
  const browserErrors = recordBrowserErrors(sharedContext, service.url)
  const page = await openPage(t)
  const paid = page.locator('input[name=status][value=paid]')
  await page.goto(LIST)
  await openFilter(page, 'Status')
  await paid.check()
  await page.waitForURL(/status=paid/)
  await page.getByLabel('Fulfilled', { exact: true }).check()
  await page.waitForURL(/status=paid&status=fulfilled/)
  t.ok(await paid.isVisible(), 'keeps the popover open')
  await openFilter(page, 'Currency')
  t.notOk(await paid.isVisible(), 'opens one popover at a time')
  await page.getByLabel('Currency', { exact: true }).selectOption('EUR')
  await page.waitForURL(/currency=EUR/)
  await waitForRequests(page)
  t.strictSame(await getChips(page), ['Status Paid', 'Status Fulfilled', 'Currency EUR'])
  t.equal(await getFilterCounts(page), '2,,,,,1,')
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Amount' }).click()
  await page.waitForURL(/sort=-amountMinor/)
  await waitForRequests(page)
  t.equal(await page.locator('[aria-sort]').getAttribute('aria-sort'), 'descending')
  const amounts = (await page.locator('td.amount-cell').allInnerTexts()).map((text) =>
    Number(text.replace(/[^\d.]/g, '')),
  )
  t.ok(amounts.length > 5)
  t.strictSame(
    amounts,
    amounts.toSorted((a, b) => b - a),
  )
  await page.getByRole('link', { name: 'Remove filter Status: Paid' }).click()
  await page.waitForFunction(() => document.querySelectorAll('.chip').length === 2)
  t.notOk(await paid.isChecked())
  await page.getByRole('link', { name: 'Clear all' }).click()
  await waitForAllOrders(page)
  t.strictSame(browserErrors, { errors: [], externalRequests: [] })
})

t.test('back and forward restore each of ten lists', async (t) => {
  const page = await openPage(t)
  await page.goto(LIST)
  await openFilter(page, 'Status')
  const steps: (() => Promise<unknown>)[] = [
    () => page.locator('input[name=status][value=paid]').check(),
    async () => {
      await page.getByLabel('Pending', { exact: true }).check()
      await page.keyboard.press('Escape')
    },
    () => page.getByRole('link', { name: 'Order', exact: true }).click(),
    () => page.getByRole('link', { name: 'Next' }).click(),
    () => page.getByRole('link', { name: '50', exact: true }).click(),
    () => page.locator('#q').fill('ann'),
    async () => {
      await openFilter(page, 'Currency')
      await page.getByLabel('Currency', { exact: true }).selectOption('EUR')
      await page.keyboard.press('Escape')
    },
    () => page.getByRole('link', { name: 'Remove filter Search: ann' }).click(),
    () => page.getByRole('link', { name: 'Customer' }).click(),
    () => page.getByRole('link', { name: 'Clear all' }).click(),
  ]
  const readState = async (page: Page) => ({
    url: page.url(),
    rows: await getOrderNumbers(page),
    filters: await getFilterCounts(page),
  })
  const states = [await readState(page)]
  for (const step of steps) {
    const previousUrl = page.url()
    await step()
    await page.waitForURL(({ href }) => href !== previousUrl)
    await waitForRequests(page)
    states.push(await readState(page))
  }

  const readStateWhenShown = async ({ url, rows, filters }: (typeof states)[number]) => {
    await page.waitForURL(url)
    await page
      .waitForFunction(
        (expected) =>
          [...document.querySelectorAll('.row-link, .filter .count')]
            .map((part) => part.textContent.trim())
            .join() === expected,
        [filters, ...rows].join(),
      )
      .catch(() => undefined)
    return readState(page)
  }
  const earlierStates = states.slice(0, -1).reverse()
  const backStates: typeof states = []
  for (const state of earlierStates) {
    await page.goBack()
    backStates.push(await readStateWhenShown(state))
  }
  t.strictSame(backStates, earlierStates, 'back')
  const laterStates = states.slice(1)
  const forwardStates: typeof states = []
  for (const state of laterStates) {
    await page.goForward()
    forwardStates.push(await readStateWhenShown(state))
  }
  t.strictSame(forwardStates, laterStates, 'forward')

  // Opened last: browsers slow down the scripts of background tabs.
  const newTab = await openPage(t)
  const openedStates: typeof states = []
  for (const { url } of states) {
    await newTab.goto(url)
    openedStates.push(await readState(newTab))
  }
  t.strictSame(openedStates, states, 'in a new tab')
})

t.test('a newer request cancels an earlier one', async (t) => {
  const page = await openPage(t)
  await page.goto(LIST)
  const startSlowRequest = async (url: RegExp, start: () => Promise<unknown>) => {
    const { release } = await holdRequests(page, url)
    const [request] = await Promise.all([page.waitForRequest(url), start()])
    const cancelled = page.waitForEvent('requestfailed', (failed) => failed === request)
    return { release, cancelled }
  }
  const search = await startSlowRequest(/q=ann/, () => page.locator('#q').fill('ann'))
  await page.getByRole('link', { name: 'Customer', exact: true }).click()
  await page.waitForURL(/sort=customerName/)
  await search.cancelled
  search.release()
  await waitForRequests(page)
  t.strictSame(await getChips(page), [])
  t.equal(await getResultCount(page), '130 orders')
  t.equal(await page.locator('#q').inputValue(), '', 'the search field matches the list')
  t.match(page.url(), /\?sort=customerName$/)

  const sort = await startSlowRequest(/sort=-co2eKg/, () =>
    page.getByRole('link', { name: 'CO₂e' }).click(),
  )
  await page.getByRole('link', { name: 'Order', exact: true }).click()
  await page.waitForURL(/sort=orderNumber/)
  await sort.cancelled
  sort.release()
  await waitForRequests(page)
  t.match(page.url(), /sort=orderNumber/)
  t.equal((await getOrderNumbers(page))[0], 'CW-000001')
})

t.test('the text of a row could not be selected', async (t) => {
  const page = await openPage(t)
  await page.goto(LIST)
  const email = page.locator('.customer-cell small').first()
  const { x = 0, y = 0, width = 0, height = 0 } = (await email.boundingBox()) ?? {}
  const address = page.url()
  await page.mouse.move(x + 1, y + height / 2)
  await page.mouse.down()
  await page.mouse.move(x + width - 1, y + height / 2, { steps: 5 })
  await page.mouse.up()
  t.match(await page.evaluate(() => String(getSelection())), /@/)
  t.equal(page.url(), address, 'the order was not opened')
  await page.locator('.status-cell').first().click()
  await page.waitForURL(/\/admin\/orders\/\d+/)
})

t.test('selects and opens rows by keyboard', async (t) => {
  const page = await openPage(t)
  await page.goto(`${LIST}?sort=orderNumber`)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await waitForEqual(t, () => getFocusedText(page), 'CW-000002')
  await page.keyboard.press('Space')
  t.ok(await page.getByLabel('Select CW-000002').isChecked())
  t.equal(await page.locator('#selected-count').innerText(), '1')
  await page.keyboard.press('ArrowUp')
  await waitForEqual(t, () => getFocusedText(page), 'CW-000001')
  await page.keyboard.press('Escape')
  await waitForEqual(t, () => getFocusedId(page), 'q')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/admin\/orders\/1\?at=0&sort=orderNumber/)
})

for (const javaScriptEnabled of [true, false]) {
  const firstId = javaScriptEnabled ? 1 : 7
  const scripting = javaScriptEnabled ? 'with' : 'without'
  t.test(`changes several orders and reports rejected ones ${scripting} JavaScript`, async (t) => {
    const { page } = await openContext(t, {
      javaScriptEnabled,
      storageState: await bulkContext.storageState(),
    })
    const toNumber = (offset: number) => `CW-${String(firstId + offset).padStart(6, '0')}`
    const [pending, paid, refunded] = [toNumber(0), toNumber(1), toNumber(4)]
    const message = page.locator('#messages .message')
    const status = page.locator(`#row-${firstId} .status`)
    await page.goto(BULK_LIST)
    await selectOrders(page, pending, paid, refunded)
    await setStatus(page, 'fulfilled')
    await message.waitFor()
    t.match(await message.innerText(), /2 orders are now fulfilled\. 1 order was not changed:/)
    t.match(await message.innerText(), `${refunded}: refunded; can only be cancelled`)
    t.match(await status.innerText(), 'Fulfilled')
    t.equal((await getOrderNumbers(page))[0], 'CW-000001', 'keeps the order of the list')

    await page.getByLabel(`Select ${refunded}`).uncheck()
    await selectOrders(page, pending, paid)
    await page.getByRole('button', { name: 'Cancel orders…' }).click()
    await page.getByRole('heading', { name: 'Cancel 2 orders?' }).waitFor()
    t.match(await page.locator('.confirm-list').innerText(), pending)
    await page.getByRole('button', { name: 'Cancel 2 orders' }).click()
    await message.waitFor()
    t.match(await message.innerText(), '2 orders are now cancelled.')
    t.match(await status.innerText(), 'Cancelled')
    await message.getByRole('button', { name: 'Undo', exact: true }).click()
    await message.filter({ hasText: 'Change undone for 2 orders.' }).waitFor()
    t.match(await status.innerText(), 'Fulfilled')
    t.equal((await getOrderNumbers(page))[0], 'CW-000001', 'keeps the order of the list')
  })
}

t.test('sends one request for a double click on a bulk action', async (t) => {
  const page = await openPage(t, bulkContext)
  await page.goto(BULK_LIST)
  await selectOrders(page, 'CW-000013', 'CW-000014', 'CW-000015')
  await page.getByRole('button', { name: 'Cancel orders…' }).click()
  const { requests, release } = await holdRequests(page, /\/orders\/bulk$/)
  await page.getByRole('button', { name: 'Cancel 3 orders' }).dblclick()
  release()
  await page.locator('#outcome').waitFor()
  await waitForRequests(page)
  t.equal(requests.length, 1)
  t.equal(await page.locator('#outcome p').innerText(), '3 orders are now cancelled.')
})

t.test('recognises a repeated bulk request whose response was lost', async (t) => {
  const page = await openPage(t, bulkContext)
  await page.goto(BULK_LIST)
  await selectOrders(page, 'CW-000019', 'CW-000021')
  await page.route('**/orders/bulk', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await setStatus(page, 'fulfilled')
  const message = page.getByText('We couldn’t confirm that your changes were saved')
  await message.waitFor()
  const box = await message.boundingBox()
  const bar = await page.locator('.bulk-bar').boundingBox()
  t.ok(
    box && bar && (box.y + box.height <= bar.y || box.y >= bar.y + bar.height),
    'the message once covered the bulk bar',
  )
  await page.unroute('**/orders/bulk')
  await page.getByRole('button', { name: 'Set', exact: true }).click()
  await page.locator('#outcome').waitFor()
  t.equal(await page.locator('#outcome').innerText(), '2 orders already had this status.')
})

t.test('shows the outcome of a bulk action from the end of the list', async (t) => {
  const page = await openPage(t, bulkContext)
  await page.goto(BULK_LIST)
  // A paid order, and a refunded one that cannot be fulfilled.
  await selectOrders(page, 'CW-000020', 'CW-000023')
  t.equal(await page.getByLabel('Set status').inputValue(), '', 'no status is preselected')
  await page.getByRole('button', { name: 'Cancel orders…' }).click()
  await page.getByRole('heading', { name: 'Cancel 2 orders?' }).waitFor()
  await page.waitForFunction(() => document.activeElement?.id === 'keep')
  await page.keyboard.press('Escape')
  await page.locator('#row-20').waitFor()
  await waitForRequests(page)
  t.equal(await page.locator('#selected-count').innerText(), '2', 'keeps the selection')
  await waitForEqual(t, () => getFocusedId(page), 'cancel-selected')
  await setStatus(page, 'fulfilled')
  await page.locator('#outcome').waitFor()
  await page.waitForFunction(() => document.activeElement?.id === 'outcome')
  const top = await getTop(page, 'outcome')
  t.ok(top >= 0 && top < 800, `the outcome is in view, at ${top} px`)
  t.equal(await page.locator('#selected-count').innerText(), '1')
  t.ok(await page.getByLabel('Select CW-000023').isChecked(), 'rejected orders stay selected')
})

t.test('filters by a typed date only once its year is complete', async (t) => {
  const page = await openPage(t)
  await page.goto(LIST)
  await openFilter(page, 'Dates')
  const requests: string[] = []
  page.on('request', (request) => {
    if (request.url().startsWith(LIST)) requests.push(request.url())
  })
  await page.getByLabel('Placed from').focus()
  await page.keyboard.type('01012026', { delay: 30 })
  await page.waitForURL(/from=2026-01-01/)
  t.equal(requests.length, 1, requests.join(' '))
})

t.test('another search deselects the orders that it does not list', async (t) => {
  const page = await openPage(t)
  await page.goto(`${LIST}?sort=orderNumber`)
  await selectOrders(page, 'CW-000001', 'CW-000002')
  await page.locator('#q').fill('CW-000001')
  await page.getByText('1 selected order is not on this page').waitFor()
  t.ok(await page.getByLabel('Select CW-000001').isChecked())
  t.equal(await page.locator('#selected-count').innerText(), '1')
})

t.test('keeps the selection across pages, sort orders and a look at an order', async (t) => {
  const page = await openPage(t)
  const getSelection = () => page.locator('.bulk-bar p').innerText()
  await page.goto(`${LIST}?sort=orderNumber`)
  await selectOrders(page, 'CW-000001', 'CW-000002')
  await page.getByRole('link', { name: 'Next' }).click()
  await page.locator('#row-26').waitFor()
  t.equal(await getSelection(), '2 selected, 2 on other pages')
  await selectOrders(page, 'CW-000026')
  t.equal(await getSelection(), '3 selected, 2 on other pages')
  await page.getByRole('link', { name: 'CW-000027' }).click()
  await page.getByRole('link', { name: 'Back to the list' }).click()
  await page.locator('#row-26').waitFor()
  t.equal(await getSelection(), '3 selected, 2 on other pages', 'after a look at an order')
  await page.getByRole('button', { name: 'Cancel orders…' }).click()
  await page.getByRole('heading', { name: 'Cancel 3 orders?' }).waitFor()
  t.match(await page.locator('.confirm-list').innerText(), /CW-000001[^]*CW-000002[^]*CW-000026/)
  await page.getByRole('button', { name: 'Keep orders' }).click()
  await page.locator('#row-26').waitFor()
  await waitForRequests(page)
  t.equal(await getSelection(), '3 selected, 2 on other pages', 'after keeping them')
  await page.getByRole('link', { name: 'Previous' }).click()
  await page.locator('#row-1').waitFor()
  t.ok(await page.getByLabel('Select CW-000001').isChecked())
  t.equal(await getSelection(), '3 selected, 1 on other pages')
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  t.notOk(await page.locator('.bulk-bar').isVisible())
  await page.goto(`${service.url}/admin`)
  await page.goto(`${LIST}?sort=orderNumber`)
  t.notOk(await page.locator('.bulk-bar').isVisible(), 'a new visit starts without a selection')
})

for (const javaScriptEnabled of [true, false]) {
  const scripting = javaScriptEnabled ? 'with' : 'without'
  t.test(`changes all matching orders at once ${scripting} JavaScript`, async (t) => {
    const manyService = await startPortal(t, manyOrders(60))
    const context = await adminContext(t, browser, manyService, {
      viewport: DESKTOP,
      javaScriptEnabled,
    })
    const page = await context.newPage()
    await page.goto(`${manyService.url}/admin/orders?currency=EUR&pageSize=10`)
    await page.locator('[name=order]').first().check()
    await page.getByLabel('All 20 matching').check()
    if (javaScriptEnabled) t.equal(await page.locator('#selected-count').innerText(), '20')
    await setStatus(page, 'fulfilled')
    await page.getByRole('heading', { name: 'Mark 20 orders as fulfilled?' }).waitFor()
    t.match(
      await page.locator('.confirm').innerText(),
      'Current status: 10 pending and 10 fulfilled. You can undo this.',
    )
    if (javaScriptEnabled) await checkAllVariants(t, page, 'confirmation')
    await page.getByRole('button', { name: 'Mark as fulfilled' }).click()
    await page.locator('#outcome').waitFor()
    t.match(
      await page.locator('#outcome').innerText(),
      '10 orders are now fulfilled. 10 orders already had this status.',
    )
    t.notOk(await page.locator('.bulk-bar').isVisible(), 'nothing stays selected')
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await page.getByText('Change undone for 10 orders.').waitFor()
  })
}

t.test('shows the orders of last month in two clicks', async (t) => {
  const page = await openPage(t)
  await page.goto(LIST)
  await openFilter(page, 'Dates')
  await page.getByRole('link', { name: 'Last month' }).click()
  await page.waitForURL(/from=\d{4}-\d\d-01&to=\d{4}-\d\d-(28|29|30|31)$/)
  await waitForRequests(page)
  t.notOk(await page.locator('#from').isVisible(), 'closes the popover')
  t.match(await page.locator('#from').inputValue(), /-01$/)
})

t.test('exports the listed orders and reports their number', async (t) => {
  const browserErrors = recordBrowserErrors(sharedContext, service.url)
  const page = await openPage(t)
  await page.goto(`${LIST}?status=paid`)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'CSV' }).click(),
  ])
  t.match(download.suggestedFilename(), /^orders-\d{4}-\d{2}-\d{2}\.csv$/)
  const lines = readFileSync(await download.path(), 'utf8')
    .trim()
    .split('\r\n')
  t.equal(lines.length, 1 + 22)
  await page
    .locator('#messages')
    .getByText(/is ready: 22 orders, \d+ kB/)
    .waitFor()
  t.strictSame(browserErrors.errors, [])
})

t.test('reports a failed export', async (t) => {
  const page = await openPage(t)
  await page.goto(LIST)
  const message = page.locator('#messages .failed')
  await page.route(/api\/admin\/orders\/export/, (route) => route.abort())
  await page.getByRole('link', { name: 'CSV' }).click()
  await message.waitFor()
  t.equal(
    await message.innerText(),
    'The export failed. The connection was lost. Try again in a few seconds.',
  )
  await page.unroute(/api\/admin\/orders\/export/)
  await page.route(/api\/admin\/orders\/export/, (route) =>
    route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }),
  )
  await page.getByRole('link', { name: 'Excel' }).click()
  await waitForEqual(t, () => message.innerText(), 'The export failed. Try again in a few seconds.')
})

t.test('saves, opens and removes views, which all administrators share', async (t) => {
  const { page } = await openContext(t)
  const openViews = (on: Page) => on.getByText('Views', { exact: true }).click()
  const saveView = async (name: string) => {
    await openViews(page)
    await page.getByLabel('Save this list as').fill(name)
    await page.getByRole('button', { name: 'Save', exact: true }).click()
  }
  await page.goto(LIST)
  await page.locator('#q').fill('ann')
  await page.waitForURL(/q=ann/)
  await saveView('<b>Ann</b>')
  await page.getByText('The view was saved.').waitFor()
  t.match(page.url(), /q=ann/, 'stays on the list')
  await page.goto(`${LIST}?status=pending`)
  await saveView('<b>Ann</b>')
  await page.getByText('A view with this name already exists').waitFor()

  const { page: other } = await openContext(t)
  await other.goto(LIST)
  await openViews(other)
  await other.getByRole('link', { name: '<b>Ann</b>' }).click()
  await other.waitForURL(/q=ann/)
  await openViews(other)
  t.equal(
    await other.getByRole('link', { name: '<b>Ann</b>' }).getAttribute('aria-current'),
    'true',
    'the current view is marked',
  )
  await other.getByRole('button', { name: 'Remove view <b>Ann</b>' }).click()
  await other.getByText('The view was removed.').waitFor()
  await page.reload()
  await openViews(page)
  t.equal(await page.locator('#views a').count(), 0)
})

t.test('redirects an expired session to sign-in and back', async (t) => {
  const { context, page } = await openContext(t)
  await page.goto(`${LIST}?status=paid`)
  await context.clearCookies()
  await page.locator('#q').fill('ann')
  await page.waitForURL(/\/admin\/login\?returnTo=.*&ended/)
  await page.getByText('Your session has expired').waitFor()
  await page.getByLabel('Email').fill('admin@example.com')
  await page.getByLabel('Password').fill('clearwake demo only')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(({ href }) => href.startsWith(LIST))
  t.same(await getChips(page), ['Search ann', 'Status Paid'])

  await page.goto(LIST)
  await context.clearCookies()
  await page.getByRole('link', { name: 'CSV' }).click()
  await page.getByText('Your session has expired').waitFor()
})

t.test('searches, filters, sorts and pages without JavaScript', async (t) => {
  const { page } = await openContext(t, { javaScriptEnabled: false })
  await page.goto(LIST)
  await page.locator('#q').fill('zoë')
  await openFilter(page, 'Status')
  await page.getByLabel('Pending', { exact: true }).check()
  await page.getByRole('button', { name: 'Apply' }).click()
  t.equal(await getResultCount(page), 'No orders', 'no pending order is of Zoë')
  await page.getByRole('link', { name: 'Clear all' }).click()
  await page.getByRole('link', { name: 'Order', exact: true }).click()
  await page.getByRole('link', { name: 'Next' }).click()
  t.equal((await getOrderNumbers(page))[0], 'CW-000026')
})

t.test('fits every screen width with long values', async (t) => {
  const orders = manyOrders(20).map((order, index) => ({
    ...order,
    orderNumber: index === 0 ? `INVOICE-${'7'.repeat(50)}` : order.orderNumber,
    customerName: index % 2 ? 'Maximiliana Featherstonehaugh of the Isles' : 'W'.repeat(80),
    customerEmail: `${'long.'.repeat(10)}address@long-domain-name.example.com`,
    vesselName: index % 3 ? 'Queen Alexandrina of the Southern Seas' : 'X'.repeat(80),
    co2eKg: 12_345_678.9,
    amountMinor: 9_876_543_210,
  }))
  const longService = await startPortal(t, orders)
  const context = await adminContext(t, browser, longService)
  const page = await context.newPage()
  await page.goto(`${longService.url}/admin/orders`)
  t.equal(await page.locator('.row-link').count(), 20)
  const failures: object[] = []
  for (const width of [320, 360, 600, 768, 833, 860, 1024, 1026, 1060, 1130, 1153, 1280, 1920]) {
    await page.setViewportSize({ width, height: 800 })
    const result = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement
      const head = document.querySelector('.orders thead tr')
      if (head === null) throw new Error('no table head')
      const { display, maskImage } = getComputedStyle(head)
      return {
        overflow: scrollWidth - clientWidth,
        isCutOff: display === 'flex' && head.scrollWidth > head.clientWidth && maskImage === 'none',
      }
    })
    if (result.overflow !== 0 || result.isCutOff) failures.push({ width, ...result })
  }
  t.same(failures, [])
})

t.test('sorts and selects the whole page on a phone', async (t) => {
  for (const javaScriptEnabled of [true, false]) {
    const { page } = await openContext(t, { viewport: PHONE, javaScriptEnabled })
    await page.goto(LIST)
    await page.getByRole('link', { name: 'Order', exact: true }).click()
    await page.waitForURL(/sort=orderNumber/)
    await page.locator('#row-1').waitFor()
    t.equal((await getOrderNumbers(page))[0], 'CW-000001')
    if (!javaScriptEnabled) continue
    await page.getByLabel('Select all on this page').check()
    t.equal(await page.locator('#selected-count').innerText(), '25')
  }
})

t.test('paging scrolls to the top of the list and keeps the focus close', async (t) => {
  const page = await openPage(t)
  const pressEnter = async (selector: string, url: RegExp) => {
    await page.locator(selector).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(url)
    await waitForRequests(page)
  }
  await page.goto(LIST)
  await pressEnter('#page-next', /page=2$/)
  await waitForEqual(t, () => getFocusedId(page), 'page-next')
  const top = await getTop(page, 'list')
  t.ok(top > -1 && top < 400, `the list starts at ${top} px`)
  await pressEnter('#page-6', /page=6$/)
  await waitForEqual(t, () => getFocusedId(page), 'page-6')
  await page.goto(`${LIST}?page=5`)
  await pressEnter('#page-next', /page=6$/)
  await waitForEqual(t, () => getFocusedId(page), 'page-6', 'on the last page')
  await page.goto(`${LIST}?status=paid&status=pending`)
  await pressEnter('#filter-paid', /status=pending$/)
  await waitForEqual(t, () => getFocusedId(page), 'result-count', 'after removing a filter')
  await pressEnter('#clear-filters', /orders$/)
  await waitForEqual(t, () => getFocusedId(page), 'result-count', 'after removing all filters')
})

t.test('is accessible in every state', async (t) => {
  const empty = await startPortal(t, [])
  const emptyContext = await adminContext(t, browser, empty)
  const states = {
    full: LIST,
    filtered: `${LIST}?q=ann&status=paid&status=pending&currency=EUR&from=2020-01-01`,
    'no match': `${LIST}?q=no+such+order`,
    'past the end': `${LIST}?page=99`,
    'invalid query': `${LIST}?q=CW-00001&status=lost&from=tomorrow`,
    empty: `${empty.url}/admin/orders`,
  }
  const pages = {
    [service.url]: await openPage(t),
    [empty.url]: await emptyContext.newPage(),
  }
  const errors = [
    recordBrowserErrors(sharedContext, service.url).errors,
    recordBrowserErrors(emptyContext, empty.url).errors,
  ]
  for (const [state, url] of Object.entries(states)) {
    const page = pages[new URL(url).origin]
    if (page === undefined) throw new Error(url)
    await page.goto(url)
    const [firstOrder] = await page.locator('[name=order]').all()
    await firstOrder?.check()
    await page.evaluate(() =>
      document.querySelectorAll('details').forEach((details) => (details.open = true)),
    )
    await checkAllVariants(t, page, state)
  }
  t.same(errors.flat(), [])
})

t.test('shows at least 14 orders at 900 px, below a header that stays in view', async (t) => {
  const page = await openPage(t)
  await page.goto(LIST)
  const countVisible = (): Promise<number> =>
    page
      .locator('.orders tbody tr')
      .evaluateAll(
        (rows) => rows.filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length,
      )
  t.ok((await countVisible()) >= 14, `${await countVisible()} orders`)
  await page.locator('.orders tbody tr').last().scrollIntoViewIfNeeded()
  t.ok(await page.locator('#sort-Customer').isVisible())
  const box = await page.locator('#sort-Customer').boundingBox()
  t.ok((box?.y ?? -1) >= 0, 'the header is in the window')
})

t.test('shows progress while the list is searched, sorted or paged', async (t) => {
  const { page } = await openContext(t)
  await page.goto(LIST)
  const waitForOpacity = (isDimmed: boolean) =>
    page.waitForFunction((isDimmed) => {
      const list = document.getElementById('list')
      return list !== null && getComputedStyle(list).opacity < '0.5' === isDimmed
    }, isDimmed)
  for (const load of [
    () => page.fill('#q', 'a'),
    () => page.getByRole('link', { name: 'Vessel', exact: true }).click(),
    () => page.getByRole('link', { name: 'Next', exact: true }).click(),
  ]) {
    const held = await holdRequests(page, /\/admin\/orders\?/)
    await load()
    await waitForOpacity(true)
    const bar = await page.evaluate(() => getComputedStyle(document.body, '::before').position)
    t.equal(bar, 'fixed', 'a progress bar at the top of the window')
    held.release()
    await waitForRequests(page)
    await waitForOpacity(false)
    await page.unrouteAll()
    t.ok(held.requests.length > 0)
  }
})
