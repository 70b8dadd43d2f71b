import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import t from 'tap'
import { ACCESSIBILITY_VARIANTS, checkAccessibility } from '../support/accessibility.js'
import { DESKTOP, launchBrowser, recordBrowserErrors, PHONE } from '../support/browser.js'
import { adminContext, manyOrders, startPortal } from '../support/portal.js'
import { waitForEqual } from '../support/wait-for.js'

const service = await startPortal(t, manyOrders(130))
const empty = await startPortal(t, [])
const browser = await launchBrowser()
t.teardown(() => browser.close())

const LIST = `${service.url}/admin/orders`

/** Order numbers as they stand there, from top to bottom. */
const listed = (page: Page) => page.locator('.row-link').allInnerTexts()
const chips = async (page: Page) =>
  (await page.locator('.chip').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))
const badge = (page: Page) => page.locator('.filter-menu .count').innerText()
const found = (page: Page) => page.locator('.result-count').innerText()
const settled = (page: Page) => page.waitForFunction(() => !document.querySelector('.htmx-request'))

t.test('the list narrows as one types, and the address says so', async (t) => {
  const context = await adminContext(t, browser, service, { viewport: DESKTOP })
  const browserErrors = recordBrowserErrors(context, service.url)
  const page = await context.newPage()
  await page.goto(LIST)
  t.equal(await found(page), '130 orders')
  await page.keyboard.press('/')
  await page.keyboard.type('zoë')
  await page.locator('.chip', { hasText: 'zoë' }).waitFor()
  t.equal(await found(page), '43 orders')
  await waitForEqual(
    t,
    () => page.evaluate(() => document.activeElement?.id),
    'q',
    'the focus stays in the field',
  )
  t.strictSame(await chips(page), ['Search zoë'])
  const rows = await listed(page)
  await page.reload()
  t.strictSame(await listed(page), rows, 'reloading shows the same')
  t.equal(await page.locator('#q').inputValue(), 'zoë')
  await page.locator('.chip').click()
  await page.waitForFunction(
    () => document.querySelector('.result-count')?.textContent === '130 orders',
  )
  t.equal(await page.locator('#q').inputValue(), '', 'the field follows')
  t.strictSame(browserErrors, { errors: [], externalRequests: [] })
})

t.test('filters become chips, and columns sort', async (t) => {
  const context = await adminContext(t, browser, service, { viewport: DESKTOP })
  const browserErrors = recordBrowserErrors(context, service.url)
  const page = await context.newPage()
  await page.goto(LIST)
  await page.locator('.filter-menu > summary').click()
  await page.getByLabel('Paid', { exact: true }).check()
  await page.waitForURL(/status=paid/)
  await page.getByLabel('Fulfilled', { exact: true }).check()
  await page.waitForURL(/status=paid&status=fulfilled/)
  await page.getByLabel('Currency').selectOption('EUR')
  await page.waitForURL(/currency=EUR/)
  await settled(page)
  t.strictSame(await chips(page), ['Status Paid', 'Status Fulfilled', 'Currency EUR'])
  t.equal(await badge(page), '3', 'how many filters there are is told where they are')
  t.ok(await page.getByLabel('Paid', { exact: true }).isVisible(), 'the panel stays open')
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Amount' }).click()
  await page.waitForURL(/sort=-amountMinor/)
  await settled(page)
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
  t.notOk(await page.getByLabel('Paid', { exact: true }).isChecked(), 'the filter follows its chip')
  await page.getByRole('link', { name: 'Clear all' }).click()
  await page.waitForFunction(
    () => document.querySelector('.result-count')?.textContent === '130 orders',
  )
  t.strictSame(browserErrors, { errors: [], externalRequests: [] })
})

t.test('back and forward through ten changes show the right rows each time', async (t) => {
  const context = await adminContext(t, browser, service, { viewport: DESKTOP })
  const page = await context.newPage()
  await page.goto(LIST)
  await page.locator('.filter-menu > summary').click()
  const steps: (() => Promise<unknown>)[] = [
    () => page.getByLabel('Paid', { exact: true }).check(),
    async () => {
      await page.getByLabel('Pending', { exact: true }).check()
      await page.keyboard.press('Escape')
    },
    () => page.getByRole('link', { name: 'Order', exact: true }).click(),
    () => page.getByRole('link', { name: 'Next' }).click(),
    () => page.getByRole('link', { name: '50', exact: true }).click(),
    () => page.locator('#q').fill('ann'),
    async () => {
      await page.locator('.filter-menu > summary').click()
      await page.getByLabel('Currency').selectOption('EUR')
      await page.keyboard.press('Escape')
    },
    () => page.getByRole('link', { name: 'Remove filter Search: ann' }).click(),
    () => page.getByRole('link', { name: 'Customer' }).click(),
    () => page.getByRole('link', { name: 'Clear all' }).click(),
  ]
  const seen = [{ url: page.url(), rows: await listed(page), filters: '' }]
  for (const [index, step] of steps.entries()) {
    const before = page.url()
    await step()
    await page.waitForURL((url) => url.href !== before)
    await settled(page)
    const opened = await context.newPage()
    await opened.goto(page.url())
    const rows = await listed(page)
    t.strictSame(await listed(opened), rows, `step ${index + 1}: the address opens the same`)
    await opened.close()
    seen.push({ url: page.url(), rows, filters: await badge(page) })
  }
  const check = async ({ url, rows, filters }: (typeof seen)[number], words: string) => {
    await page.waitForURL(url)
    await page
      .waitForFunction(
        (expected) =>
          [...document.querySelectorAll('.row-link, .filter-menu .count')]
            .map((part) => part.textContent.trim())
            .join() === expected,
        [filters, ...rows].join(),
      )
      .catch(() => {})
    t.strictSame(await listed(page), rows, words)
    t.equal(await badge(page), filters, words)
  }
  for (const state of seen.slice(0, -1).reverse()) {
    await page.goBack()
    await check(state, `back to ${state.url}`)
  }
  for (const state of seen.slice(1)) {
    await page.goForward()
    await check(state, `forward to ${state.url}`)
  }
})

t.test('of two answers on their way the one asked for last is shown', async (t) => {
  const context = await adminContext(t, browser, service, { viewport: DESKTOP })
  const page = await context.newPage()
  await page.goto(LIST)
  let go = (): void => {}
  const held = new Promise<void>((resolve) => (go = resolve))
  await page.route(/q=ann/, async (route) => {
    await held
    await route.continue().catch(() => {})
  })
  const asked = page.waitForRequest(/q=ann/)
  await page.locator('#q').fill('ann')
  const slow = await asked
  const over = page.waitForEvent('requestfailed', (request) => request === slow)
  await page.getByRole('link', { name: 'Customer', exact: true }).click()
  await page.waitForURL(/sort=customerName/)
  await over
  go()
  await settled(page)
  t.strictSame(await chips(page), [])
  t.equal(await found(page), '130 orders')
  t.equal(await page.locator('#q').inputValue(), '', 'the field and the list agree')
  t.match(page.url(), /\?sort=customerName$/)
})

t.test('rows are walked and chosen by keyboard', async (t) => {
  const context = await adminContext(t, browser, service, { viewport: DESKTOP })
  const page = await context.newPage()
  await page.goto(`${LIST}?sort=orderNumber`)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  const focused = () => page.evaluate(() => document.activeElement?.textContent)
  await waitForEqual(t, focused, 'CW-000002')
  await page.keyboard.press('Space')
  t.ok(await page.getByLabel('Select CW-000002').isChecked())
  t.equal(await page.locator('#selected-count').innerText(), '1')
  await page.keyboard.press('ArrowUp')
  await waitForEqual(t, focused, 'CW-000001')
  await page.keyboard.press('Escape')
  await waitForEqual(t, () => page.evaluate(() => document.activeElement?.id), 'q')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/admin\/orders\/1\?at=0&sort=orderNumber/)
})

t.test('several orders change at once, and what was refused is said', async (t) => {
  const own = await startPortal(t, manyOrders(12))
  for (const javaScriptEnabled of [true, false]) {
    const context = await adminContext(t, browser, own, { viewport: DESKTOP, javaScriptEnabled })
    const page = await context.newPage()
    const from = javaScriptEnabled ? 1 : 7
    await page.goto(`${own.url}/admin/orders?sort=orderNumber`)
    const number = (offset: number) => `CW-${String(from + offset).padStart(6, '0')}`
    // Pending, paid and refunded: the last one stays as it is.
    for (const offset of [0, 1, 4]) await page.getByLabel(`Select ${number(offset)}`).check()
    await page.getByLabel('Set status').selectOption('fulfilled')
    await page.getByRole('button', { name: 'Set', exact: true }).click()
    const message = page.locator('#messages .message')
    await message.waitFor()
    t.match(await message.innerText(), /2 orders are now fulfilled\. 1 order was not changed:/)
    t.match(
      await message.innerText(),
      new RegExp(`${number(4)} is refunded and can only be cancelled`),
    )
    t.match(await page.locator(`#row-${from} .status`).innerText(), 'Fulfilled')
    t.equal((await listed(page))[0], 'CW-000001', 'the list is the one it was')

    await page.getByLabel(`Select ${number(4)}`).uncheck()
    await page.getByLabel(`Select ${number(0)}`).check()
    await page.getByLabel(`Select ${number(1)}`).check()
    await page.getByRole('button', { name: 'Cancel orders…' }).click()
    await page.getByRole('heading', { name: 'Cancel 2 orders?' }).waitFor()
    t.match(await page.locator('.confirm-list').innerText(), number(0), 'it names them')
    await page.getByRole('button', { name: 'Cancel 2 orders' }).click()
    await message.waitFor()
    t.match(await message.innerText(), '2 orders are now cancelled.')
    t.match(await page.locator(`#row-${from} .status`).innerText(), 'Cancelled')
    await message.getByRole('button', { name: 'Undo' }).click()
    await message.filter({ hasText: 'Change undone for 2 orders.' }).waitFor()
    t.match(await page.locator(`#row-${from} .status`).innerText(), 'Fulfilled')
    t.equal((await listed(page))[0], 'CW-000001', 'the list is the one it was')
  }
})

t.test('a change of several that is pressed twice is sent once', async (t) => {
  const own = await startPortal(t, manyOrders(12))
  const context = await adminContext(t, browser, own, { viewport: DESKTOP })
  const page = await context.newPage()
  await page.goto(`${own.url}/admin/orders?sort=orderNumber`)
  for (const number of [1, 2, 3]) await page.getByLabel(`Select CW-00000${number}`).check()
  await page.getByRole('button', { name: 'Cancel orders…' }).click()
  let sent = 0
  await page.route('**/orders/bulk', async (route) => {
    sent++
    await page.waitForTimeout(300)
    await route.continue()
  })
  await page.getByRole('button', { name: 'Cancel 3 orders' }).dblclick()
  await page.locator('#outcome').waitFor()
  await page.waitForTimeout(800)
  t.equal(sent, 1)
  t.equal(await page.locator('#outcome p').innerText(), '3 orders are now cancelled.')
})

t.test('a change of several without an answer is known again when sent once more', async (t) => {
  const own = await startPortal(t, manyOrders(12))
  const context = await adminContext(t, browser, own, { viewport: DESKTOP })
  const page = await context.newPage()
  await page.goto(`${own.url}/admin/orders?sort=orderNumber`)
  for (const number of [1, 2]) await page.getByLabel(`Select CW-00000${number}`).check()
  await page.getByLabel('Set status').selectOption('fulfilled')
  await page.route('**/orders/bulk', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await page.getByRole('button', { name: 'Set', exact: true }).click()
  await page.getByText('We couldn’t confirm that your changes were saved').waitFor()
  await page.unroute('**/orders/bulk')
  await page.getByRole('button', { name: 'Set', exact: true }).click()
  await page.locator('#outcome').waitFor()
  t.equal(await page.locator('#outcome').innerText(), '2 orders already had this status.')
})

t.test('a year that is typed is asked for once, when it is whole', async (t) => {
  const context = await adminContext(t, browser, service, { viewport: DESKTOP, locale: 'en-GB' })
  const page = await context.newPage()
  await page.goto(LIST)
  await page.locator('.filter-menu > summary').click()
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().startsWith(LIST)) asked.push(request.url())
  })
  await page.getByLabel('Placed from').focus()
  await page.keyboard.type('01012026', { delay: 30 })
  await page.waitForURL(/from=2026-01-01/)
  t.equal(asked.length, 1, asked.join(' '))
})

t.test('who is chosen stays chosen where still listed, and who is not is told', async (t) => {
  const context = await adminContext(t, browser, service, { viewport: DESKTOP })
  const page = await context.newPage()
  await page.goto(`${LIST}?sort=orderNumber`)
  for (const number of [1, 2]) await page.getByLabel(`Select CW-00000${number}`).check()
  await page.locator('#q').fill('CW-000001')
  await page.getByText('1 selected order is not on this page').waitFor()
  t.ok(await page.getByLabel('Select CW-000001').isChecked())
  t.equal(await page.locator('#selected-count').innerText(), '1')
})

t.test('an export holds what is listed and shows how far it is', async (t) => {
  const context = await adminContext(t, browser, service, { viewport: DESKTOP })
  const browserErrors = recordBrowserErrors(context, service.url)
  const page = await context.newPage()
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

t.test('views are saved in this browser', async (t) => {
  const context = await adminContext(t, browser, service, { viewport: DESKTOP })
  const page = await context.newPage()
  await page.goto(`${LIST}?status=paid`)
  await page.getByText('Views', { exact: true }).click()
  const above = await page.locator('#save-view').evaluate((form) => {
    const panel = form.parentElement ?? form
    const { paddingTop, borderTopWidth } = getComputedStyle(panel)
    const top = panel.getBoundingClientRect().top + parseFloat(paddingTop)
    return Math.round(form.getBoundingClientRect().top - top - parseFloat(borderTopWidth))
  })
  t.equal(above, 0, 'no room is kept for a list of none')
  await page.getByLabel('Save this view as').fill('<b>To fulfil</b>')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.goto(`${LIST}?status=pending`)
  await page.getByText('Views', { exact: true }).click()
  await page.getByLabel('Save this view as').fill('<b>To fulfil</b>')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The view “<b>To fulfil</b>” was replaced').waitFor()
  const other = await context.newPage()
  await other.goto(`${LIST}?currency=EUR`)
  await other.getByText('Views', { exact: true }).click()
  await other.getByLabel('Save this view as').fill('Euros')
  await other.getByRole('button', { name: 'Save' }).click()
  await other.close()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.goto(LIST)
  await page.getByText('Views', { exact: true }).click()
  await page.getByRole('link', { name: '<b>To fulfil</b>' }).click()
  await page.waitForURL(/status=paid/)
  t.equal(await found(page), '22 orders')
  await page.getByText('Views', { exact: true }).click()
  await page.getByRole('button', { name: 'Remove view <b>To fulfil</b>' }).click()
  t.strictSame(
    await page.locator('#saved-views a').allInnerTexts(),
    ['Euros'],
    'what another tab has saved stays',
  )
  await waitForEqual(t, () => page.evaluate(() => document.activeElement?.textContent), 'Views')
})

t.test('a session that has ended leads to the login and back', async (t) => {
  const context = await adminContext(t, browser, service, { viewport: DESKTOP })
  const page = await context.newPage()
  await page.goto(`${LIST}?status=paid`)
  await context.clearCookies()
  await page.locator('#q').fill('ann')
  await page.waitForURL(/\/admin\/login\?returnTo=.*&ended/)
  await page.getByText('Your session has expired').waitFor()
  await page.getByLabel('Email').fill('admin@example.com')
  await page.getByLabel('Password').fill('clearwake demo only')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL((address) => address.href.startsWith(LIST))
  t.same(await chips(page), ['Search ann', 'Status Paid'], 'with what was searched for')

  await page.goto(LIST)
  await context.clearCookies()
  await page.getByRole('link', { name: 'CSV' }).click()
  await page.getByText('Your session has expired').waitFor()
})

t.test('with scripts off the list is searched, filtered, sorted and paged', async (t) => {
  const context = await adminContext(t, browser, service, {
    viewport: DESKTOP,
    javaScriptEnabled: false,
  })
  const page = await context.newPage()
  await page.goto(LIST)
  await page.locator('.filter-menu > summary').click()
  await page.locator('#q').fill('zoë')
  await page.getByLabel('Pending', { exact: true }).check()
  await page.getByRole('button', { name: 'Apply' }).click()
  t.equal(await found(page), 'No orders', 'each third order is Zoë’s, each sixth is pending')
  await page.getByRole('link', { name: 'Clear all' }).click()
  await page.getByRole('link', { name: 'Order', exact: true }).click()
  await page.getByRole('link', { name: 'Next' }).click()
  t.equal((await listed(page))[0], 'CW-000026')
})

t.test('the list fits screens of every width, however long its names are', async (t) => {
  const long = manyOrders(20).map((order, index) => ({
    ...order,
    orderNumber: index === 0 ? `INVOICE-${'7'.repeat(50)}` : order.orderNumber,
    customerName: index % 2 ? 'Maximiliana Featherstonehaugh of the Isles' : 'W'.repeat(80),
    customerEmail: `${'long.'.repeat(10)}address@long-domain-name.example.com`,
    vesselName: index % 3 ? 'Queen Alexandrina of the Southern Seas' : 'X'.repeat(80),
    co2eKg: 12_345_678.9,
    amountMinor: 9_876_543_210,
  }))
  const own = await startPortal(t, long)
  const context = await adminContext(t, browser, own)
  const page = await context.newPage()
  await page.goto(`${own.url}/admin/orders`)
  for (const width of [320, 360, 600, 768, 833, 860, 1024, 1026, 1060, 1130, 1153, 1280, 1920]) {
    await page.setViewportSize({ width, height: 800 })
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    t.equal(overflow, 0, `${width} wide`)
    const isCutBluntly = await page.locator('.orders thead tr').evaluate((row) => {
      const { display, maskImage } = getComputedStyle(row)
      return display === 'flex' && row.scrollWidth > row.clientWidth && maskImage === 'none'
    })
    t.notOk(isCutBluntly, `${width} wide: what is beyond the edge of the heads fades out`)
  }
})

t.test('on a narrow screen the list is sorted and chosen as a whole too', async (t) => {
  for (const javaScriptEnabled of [true, false]) {
    const context = await adminContext(t, browser, service, { viewport: PHONE, javaScriptEnabled })
    const page = await context.newPage()
    await page.goto(LIST)
    await page.getByRole('link', { name: 'Order', exact: true }).click()
    await page.waitForURL(/sort=orderNumber/)
    await page.locator('#row-1').waitFor()
    t.equal((await listed(page))[0], 'CW-000001')
    if (!javaScriptEnabled) continue
    await page.getByLabel('Select all on this page').check()
    t.equal(await page.locator('#selected-count').innerText(), '25')
  }
})

t.test('a late response to an earlier request does not replace a newer one', async (t) => {
  const context = await adminContext(t, browser, service, { viewport: DESKTOP })
  const page = await context.newPage()
  await page.goto(LIST)
  let lateEnds = (): void => {}
  const late = new Promise<void>((resolve) => (lateEnds = resolve))
  await page.route(/sort=customerName/, async (route) => {
    await page.waitForTimeout(1000)
    await route.continue().catch(() => {})
    lateEnds()
  })
  const sent = page.waitForRequest(/sort=customerName/)
  await page.getByRole('link', { name: 'Customer' }).click()
  await sent
  await page.getByRole('link', { name: 'Order', exact: true }).click()
  await page.waitForURL(/sort=orderNumber/)
  await late
  await page.waitForTimeout(500)
  t.match(page.url(), /sort=orderNumber/)
  t.equal((await listed(page))[0], 'CW-000001')
})

t.test('another page is read from its top, and the focus stays near', async (t) => {
  const context = await adminContext(t, browser, service, { viewport: DESKTOP })
  const page = await context.newPage()
  const focused = () => page.evaluate(() => document.activeElement?.id)
  const clickTo = async (selector: string, address: RegExp) => {
    await page.locator(selector).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(address)
    await settled(page)
  }
  await page.goto(LIST)
  await clickTo('#page-next', /page=2$/)
  await waitForEqual(t, focused, 'page-next')
  const top = await page.evaluate(
    () => document.getElementById('list')?.getBoundingClientRect().top,
  )
  t.ok(top !== undefined && top > -1 && top < 400, `the list starts at ${top}`)
  await clickTo('#page-6', /page=6$/)
  await waitForEqual(t, focused, 'page-6', 'the focus is on the page that was asked for')
  await page.goto(`${LIST}?page=5`)
  await clickTo('#page-next', /page=6$/)
  await waitForEqual(t, focused, 'page-6', 'there is no next page')
  await page.goto(`${LIST}?status=paid&status=pending`)
  await clickTo('#filter-paid', /status=pending$/)
  await waitForEqual(t, focused, 'result-count', 'a second Enter does nothing')
  await clickTo('#clear-filters', /orders$/)
  await waitForEqual(t, focused, 'result-count')
})

t.test('what came of several orders is seen from the end of the list', async (t) => {
  const own = await startPortal(t, manyOrders(24))
  const context = await adminContext(t, browser, own, { viewport: DESKTOP })
  const page = await context.newPage()
  const focused = () => page.evaluate(() => document.activeElement?.id)
  await page.goto(`${own.url}/admin/orders?sort=orderNumber`)
  // Paid, and refunded: that one stays as it is.
  for (const number of ['CW-000020', 'CW-000023']) await page.getByLabel(`Select ${number}`).check()
  t.equal(await page.getByLabel('Set status').inputValue(), '', 'no status is at hand')
  await page.getByRole('button', { name: 'Cancel orders…' }).click()
  await page.getByRole('heading', { name: 'Cancel 2 orders?' }).waitFor()
  await page.waitForFunction(() => document.activeElement?.id === 'keep')
  await page.keyboard.press('Escape')
  await page.locator('#row-20').waitFor()
  await settled(page)
  t.equal(await page.locator('#selected-count').innerText(), '2', 'the choice is kept')
  await waitForEqual(t, focused, 'cancel-selected')
  await page.getByLabel('Set status').selectOption('fulfilled')
  await page.getByRole('button', { name: 'Set', exact: true }).click()
  await page.locator('#outcome').waitFor()
  await page.waitForFunction(() => document.activeElement?.id === 'outcome')
  const top = await page.evaluate(
    () => document.getElementById('outcome')?.getBoundingClientRect().top,
  )
  t.ok(top !== undefined && top >= 0 && top < 800, `it is in sight, at ${top}`)
  t.equal(await page.locator('#selected-count').innerText(), '1')
  t.ok(await page.getByLabel('Select CW-000023').isChecked(), 'what was refused stays chosen')
})

t.test('an export that fails is told in plain words', async (t) => {
  const context = await adminContext(t, browser, service, { viewport: DESKTOP })
  const page = await context.newPage()
  await page.goto(LIST)
  const told = page.locator('#messages .failed')
  await page.route(/api\/admin\/orders\/export/, (route) => route.abort())
  await page.getByRole('link', { name: 'CSV' }).click()
  await told.waitFor()
  t.equal(
    await told.innerText(),
    'The export failed. The connection was lost. Try again in a few seconds.',
  )
  await page.unroute(/api\/admin\/orders\/export/)
  await page.route(/api\/admin\/orders\/export/, (route) =>
    route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }),
  )
  await page.getByRole('link', { name: 'Excel' }).click()
  await page.getByText('The export failed').waitFor()
  t.equal(await told.innerText(), 'The export failed. Try again in a few seconds.')
})

for (const [device, options] of ACCESSIBILITY_VARIANTS) {
  t.test(`the list is accessible in every state on ${device}`, async (t) => {
    const states = {
      full: LIST,
      filtered: `${LIST}?q=ann&status=paid&status=pending&currency=EUR&from=2020-01-01`,
      'no match': `${LIST}?q=nobody+at+all`,
      'past the end': `${LIST}?page=99`,
      'wrong address': `${LIST}?status=lost&from=tomorrow`,
      empty: `${empty.url}/admin/orders`,
    }
    const contexts = {
      [service.url]: await adminContext(t, browser, service, options),
      [empty.url]: await adminContext(t, browser, empty, options),
    }
    for (const [name, address] of Object.entries(states)) {
      const context = contexts[new URL(address).origin]
      if (context === undefined) throw new Error(address)
      const browserErrors = recordBrowserErrors(context, new URL(address).origin)
      const page = await context.newPage()
      await page.goto(address)
      const [first] = await page.locator('[name=order]').all()
      await first?.check()
      await page.evaluate(() =>
        document.querySelectorAll('details').forEach((d) => (d.open = true)),
      )
      await checkAccessibility(t, page, name)
      t.strictSame(browserErrors.errors, [], name)
      await page.close()
    }
  })
}
