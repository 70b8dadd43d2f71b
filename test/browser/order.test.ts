import type { BrowserContext, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { ACCESSIBILITY_VARIANTS, checkAccessibility } from '../support/accessibility.js'
import { ADMIN } from '../support/sign-in.js'
import { DESKTOP, launchBrowser, recordBrowserErrors, PHONE } from '../support/browser.js'
import { newOrder } from '../support/order-store.js'
import { SECOND_ADMIN, startTwoAdmins } from '../support/page-client.js'
import { waitForEqual } from '../support/wait-for.js'

const { url, ann } = await startTwoAdmins(t, { TIME_ZONE: 'Europe/Lisbon' })
const browser = await launchBrowser()
t.teardown(() => browser.close())

const ORDERS = '/api/admin/orders'

const enter = async (given: object = {}): Promise<{ id: string; orderNumber: string }> =>
  ann.call('POST', ORDERS, { ...newOrder(), ...given })

const orderOf = (id: string): Promise<any> => ann.call('GET', `${ORDERS}/${id}`)

const FULL = {
  vesselName: 'Étoile du Nord',
  imoNumber: '8814275',
  calculatorType: 'fuel',
  calculatorData: { fuelType: 'mgo', quantity: 500, unit: 'l' },
  co2eKg: 2000,
  notes: 'first line\nsecond line',
}

/** A browser with an administrator logged in. */
async function portal(
  t: Test,
  options: object = {},
  account = ADMIN,
): Promise<{ context: BrowserContext; page: Page }> {
  const context = await browser.newContext({ viewport: DESKTOP, locale: 'en-GB', ...options })
  t.teardown(() => context.close())
  const page = await context.newPage()
  await page.goto(`${url}/admin/login?returnTo=/admin/orders`)
  await page.locator('#email').fill(account.email)
  await page.locator('#password').fill(account.password)
  await page.locator('main button').click()
  await page.waitForURL(`${url}/admin/orders`)
  return { context, page }
}

/** Complaints, save that an answer was an error, which browsers always tell. */
const silent = ({ errors, externalRequests }: { errors: string[]; externalRequests: string[] }) => [
  ...errors.filter((error) => !/status of (?:4\d\d|503)/.test(error)),
  ...externalRequests,
]

const focused = (page: Page) => page.evaluate(() => document.activeElement?.id)

for (const [device, viewport] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
  t.test(`a group is edited in place on a ${device}, with an error first`, async (t) => {
    const { context, page } = await portal(t, { viewport })
    const browserErrors = recordBrowserErrors(context, url)
    const { id, orderNumber } = await enter(FULL)
    await page.goto(`${url}/admin/orders/${id}`)
    t.match(await page.locator('#trip .alert').innerText(), /2,000\.0 kg CO₂e, 347 kg \(21%\)/)

    await page.getByRole('button', { name: 'Edit Notes' }).click()
    await page.locator('#notes').fill('typed and not sent')
    await page.getByRole('button', { name: 'Edit CO₂e and amount' }).click()
    await page.waitForFunction(() => document.activeElement?.id === 'co2eKg')
    await page.locator('#amount').fill('12,345')
    await page.getByRole('button', { name: 'Save' }).first().click()
    await page.locator('#amount-error').waitFor({ state: 'visible' })
    t.match(await page.locator('#amount-error').innerText(), /two ways: write 12345 or 12\.3[45]\b/)
    await waitForEqual(t, () => focused(page), 'amount', 'the first wrong field has the focus')

    await page.locator('#amount').fill('12345')
    await page.getByRole('button', { name: 'Save' }).first().click()
    await page.locator('.message').waitFor()
    t.equal(await page.locator('.message').innerText(), `Order ${orderNumber} was saved.`)
    t.match(await page.locator('.amount-list').innerText(), /€12,345\.00/)
    t.match(await page.locator('#history').innerText(), /Amount.*€40\.09.*€12,345\.00/s)
    await waitForEqual(
      t,
      () => page.evaluate(() => document.activeElement?.getAttribute('aria-label')),
      'Edit CO₂e and amount',
      'one goes on from where one was',
    )
    t.equal(await page.locator('#notes').inputValue(), 'typed and not sent', 'the other form stays')
    await page.locator('#group-notes').getByRole('button', { name: 'Save' }).click()
    await page.locator('.notes', { hasText: 'typed and not sent' }).waitFor()
    t.match(await orderOf(id), { amountMinor: 1234500, notes: 'typed and not sent', version: 3 })

    await page.getByRole('button', { name: 'Edit Customer' }).click()
    await page.locator('#customerName').fill('Nobody')
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await page.locator('#customerName').waitFor({ state: 'detached' })
    t.match(await page.locator('#group-customer').innerText(), /Ann Example/)
    t.same(silent(browserErrors), [])
  })
}

t.test('two at once: the later one sees what the other did, and takes it', async (t) => {
  const one = await portal(t)
  const other = await portal(t, {}, SECOND_ADMIN)
  const { id } = await enter(FULL)
  for (const { page } of [one, other]) {
    await page.goto(`${url}/admin/orders/${id}`)
    await page.getByRole('button', { name: 'Edit Vessel' }).click()
    await page.locator('#vesselName').waitFor()
  }
  await other.page.locator('#vesselName').fill('Theirs')
  await other.page.getByRole('button', { name: 'Save' }).click()
  await other.page.locator('.message').waitFor()

  await one.page.locator('#vesselName').fill('Mine')
  await one.page.getByRole('button', { name: 'Save' }).click()
  const conflict = one.page.locator('.conflict')
  await conflict.waitFor()
  t.match(await conflict.innerText(), /Vessel.*Étoile du Nord.*Theirs.*colleague@example\.com/s)
  t.equal(await one.page.locator('#vesselName').inputValue(), 'Mine')
  t.equal(await one.page.locator('.current-value').innerText(), 'Current value: Theirs')
  await one.page.getByRole('button', { name: 'Discard my changes' }).click()
  await one.page.locator('#vesselName').waitFor({ state: 'detached' })
  t.match(await one.page.locator('#group-vessel').innerText(), /Theirs/)
  t.match(await one.page.locator('#history').innerText(), /Theirs/, 'all of the page is theirs now')
  t.match(await orderOf(id), { vesselName: 'Theirs', version: 2 })

  await one.page.getByRole('button', { name: 'Edit Vessel' }).click()
  await one.page.locator('#vesselName').fill('Mine again')
  await other.page.getByRole('button', { name: 'Mark as paid' }).click()
  await other.page.locator('.message', { hasText: 'now paid' }).waitFor()
  await one.page.getByRole('button', { name: 'Save' }).click()
  await conflict.waitFor()
  t.match(await conflict.innerText(), /Status.*Pending.*Paid/s)
  await one.page.getByRole('button', { name: 'Overwrite' }).click()
  await one.page.locator('.message').waitFor()
  t.match(await orderOf(id), { vesselName: 'Mine again', status: 'paid', version: 4 })
  t.equal(await one.page.locator('.title .status').innerText(), 'Paid')
})

t.test('an order moves on, and a move that came too late is explained', async (t) => {
  const { context, page } = await portal(t)
  const browserErrors = recordBrowserErrors(context, url)
  const { id, orderNumber } = await enter()
  await page.goto(`${url}/admin/orders/${id}`)
  await page.getByRole('button', { name: 'Mark as paid' }).click()
  await page.locator('.message').waitFor()
  t.match(await page.locator('.message').innerText(), `Order ${orderNumber} is now paid.`)
  await waitForEqual(t, () => focused(page), 'order-title', 'the focus does not get lost')
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.locator('.message', { hasText: 'is pending again' }).waitFor()
  await page.getByRole('button', { name: 'Mark as paid' }).click()
  await page.locator('.message', { hasText: 'is now paid' }).waitFor()
  t.same(await page.locator('.status-actions :is(button, a)').allInnerTexts(), [
    'Start processing',
    'Mark as fulfilled',
    'Mark as refunded',
    'Cancel order…',
  ])
  await ann.call('PATCH', `${ORDERS}/${id}`, { status: 'refunded' })
  await page.getByRole('button', { name: 'Start processing' }).click()
  await page.locator('#notice').waitFor()
  t.match(await page.locator('#notice').innerText(), /has changed since you opened it/)
  t.same(await page.locator('.status-actions :is(button, a)').allInnerTexts(), ['Cancel order…'])
  t.same(silent(browserErrors), [])
})

t.test('cancelling asks first, by keyboard too, and can be undone', async (t) => {
  const { context, page } = await portal(t)
  const browserErrors = recordBrowserErrors(context, url)
  const { id, orderNumber } = await enter({ ...FULL, status: 'processing' })
  await page.goto(`${url}/admin/orders/${id}`)
  await page.locator('#cancel-order').focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: `Cancel order ${orderNumber}?` })
  await dialog.waitFor()
  t.match(await dialog.innerText(), /Ann Example, Étoile du Nord: 2,000\.0 kg CO₂e, €40\.09/)
  await waitForEqual(
    t,
    () => page.evaluate(() => document.activeElement?.textContent),
    'Keep order',
    'what changes nothing has the focus',
  )
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await waitForEqual(t, () => focused(page), 'cancel-order')
  t.equal(page.url(), `${url}/admin/orders/${id}`, 'Escape closes the question only')
  t.match(await orderOf(id), { status: 'processing' })

  await page.keyboard.press('Space')
  await dialog.waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  const message = page.getByRole('status').filter({ hasText: 'was cancelled' })
  await message.waitFor()
  await dialog.waitFor({ state: 'detached' })
  t.match(await orderOf(id), { status: 'cancelled' })
  await message.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('it is processing again').waitFor()
  t.equal(await page.locator('.title .status').innerText(), 'Processing')
  t.match(
    await page.locator('#history').innerText(),
    /Cancelled.*Processing.*Processing.*Cancelled/s,
  )
  t.same(silent(browserErrors), [])
})

t.test('an Undo that is pressed twice is done once, and told once', async (t) => {
  const { page } = await portal(t)
  const { id } = await enter({ status: 'paid' })
  await page.goto(`${url}/admin/orders/${id}`)
  await page.locator('#cancel-order').click()
  await page.getByRole('button', { name: 'Cancel order', exact: true }).click()
  await page.route('**/restore*', async (route) => {
    await page.waitForTimeout(300)
    await route.continue()
  })
  await page.getByRole('button', { name: 'Undo' }).dblclick()
  await page.locator('.message', { hasText: 'was restored' }).waitFor()
  await page.waitForTimeout(800)
  t.match(await page.locator('.message').innerText(), /was restored\. It is paid again/)
})

t.test('an Undo that comes too late says so where one looks', async (t) => {
  const { page } = await portal(t, { viewport: PHONE })
  const { id } = await enter({ status: 'paid' })
  await page.goto(`${url}/admin/orders/${id}`)
  await page.getByRole('button', { name: 'Mark as fulfilled' }).click()
  const undo = page.getByRole('button', { name: 'Undo' })
  await undo.waitFor()
  await ann.call('PATCH', `${ORDERS}/${id}`, { notes: 'by somebody else' })
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
  await undo.click()
  const notice = page.locator('#notice', { hasText: 'has changed since you opened it' })
  await notice.waitFor()
  await waitForEqual(
    t,
    () => notice.evaluate((it) => it.getBoundingClientRect().top >= 0),
    true,
    'it is in sight',
  )
  t.match(await orderOf(id), { status: 'fulfilled' })
})

t.test('what was saved without an answer is known again when it is sent once more', async (t) => {
  const { context, page } = await portal(t)
  const loseAnswers = (path: string) =>
    page.route(path, async (route) => {
      await route.fetch()
      await route.abort()
    })
  const { id } = await enter()
  await page.goto(`${url}/admin/orders/${id}`)
  await page.getByRole('button', { name: 'Edit Notes' }).click()
  await page.locator('#notes').fill('saved, though nobody saw it')
  await loseAnswers('**/edit?*')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('We couldn’t confirm that your changes were saved').waitFor()
  await page.unroute('**/edit?*')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('.message', { hasText: 'was saved.' }).waitFor()
  t.equal(await page.locator('.conflict').count(), 0)
  t.match(await orderOf(id), { version: 2 })

  await page.goto(`${url}/admin/orders/new`)
  await page.locator('#customerName').fill('Once Only')
  await page.locator('#customerEmail').fill('once@example.com')
  await page.locator('#co2eKg').fill('10')
  await page.locator('#amount').fill('10')
  await loseAnswers('**/admin/orders')
  await page.getByRole('button', { name: 'Create order' }).click()
  await page.getByText('We couldn’t confirm that your changes were saved').waitFor()
  await page.unroute('**/admin/orders')
  await page.getByRole('button', { name: 'Create order' }).click()
  await page.waitForURL(/\/admin\/orders\/\d+$/)
  t.match(await ann.call('GET', `${ORDERS}?q=once@example.com`), { totalItems: 1 })

  await page.goto(`${url}/admin/orders/new`)
  await context.setOffline(true)
  await page.getByRole('radio', { name: 'Fuel' }).check()
  await page.getByText('No connection').waitFor()
  await context.setOffline(false)
  await page.locator('#emissions').getByText('Still needed').waitFor()
})

t.test('Escape closes an edit in which nothing was typed', async (t) => {
  const { page } = await portal(t)
  const { id } = await enter()
  await page.goto(`${url}/admin/orders/${id}?at=0`)
  await page.getByRole('button', { name: 'Edit Notes' }).click()
  await page.locator('#notes').fill('kept')
  await page.keyboard.press('Escape')
  await page.waitForTimeout(300)
  t.equal(await page.locator('#notes').inputValue(), 'kept')
  await page.locator('#notes').fill('')
  await page.keyboard.press('Escape')
  await page.locator('#notes').waitFor({ state: 'detached' })
  t.match(page.url(), `/admin/orders/${id}`, 'one stays with the order')
})

t.test('on a phone what failed does not cover what to press again', async (t) => {
  const { context, page } = await portal(t, { viewport: PHONE })
  const { id } = await enter(FULL)
  await page.goto(`${url}/admin/orders/${id}`)
  await page.getByRole('button', { name: 'Edit Offset order' }).click()
  await page.locator('#orderSourceId').fill('off_2')
  await context.clearCookies()
  await page.getByRole('button', { name: 'Save' }).click()
  const told = page.locator('#messages .message')
  await told.getByText('Your session has expired').waitFor()
  await page.waitForFunction(() => {
    const bottom = document.querySelector('.form-actions')?.getBoundingClientRect().bottom
    const top = document.querySelector('#messages .message')?.getBoundingClientRect().top
    return bottom !== undefined && top !== undefined && bottom <= top
  })
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
  const [history, message] = await Promise.all([
    page.locator('#history').boundingBox(),
    told.boundingBox(),
  ])
  t.ok(history && message && history.y + history.height <= message.y, 'nor the end of the page')
})

t.test('keys lead through the list and back to where one was in it', async (t) => {
  const { page } = await portal(t)
  const names = ['Zeta 1', 'Zeta 2', 'Zeta 3']
  const ids: string[] = []
  for (const customerName of names) ids.push((await enter({ customerName })).id)
  await page.goto(`${url}/admin/orders?q=zeta&sort=customerName`)
  await page.locator('.row-link').nth(1).click()
  // The keys are heard once the page's scripts have run.
  const shows = async (name: string) => {
    await page.locator('.subtitle', { hasText: name }).waitFor()
    await page.waitForLoadState()
  }
  await shows('Zeta 2')
  t.equal(await page.locator('.position').innerText(), '2 of 3')
  await page.keyboard.press('j')
  await shows('Zeta 3')
  t.equal(await page.locator('#to-next').count(), 0)
  await page.keyboard.press('ArrowLeft')
  await shows('Zeta 2')
  await page.keyboard.press('k')
  await shows('Zeta 1')
  await page.getByRole('button', { name: 'Edit Notes' }).click()
  await page.locator('#notes').pressSequentially('jkj')
  await page.keyboard.press('Escape')
  await shows('Zeta 1')
  t.equal(await page.locator('#notes').inputValue(), 'jkj', 'letters are letters where one types')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('.message').waitFor()
  await page.keyboard.press('Escape')
  await page.waitForURL(/\/admin\/orders\?q=zeta&sort=customerName#row-/)
  t.equal(await page.locator('.row-link').count(), 3)
  await page.waitForFunction(() => document.activeElement?.matches('.row-link'))
  await waitForEqual(
    t,
    () => page.evaluate(() => document.activeElement?.closest('tr')?.id),
    `row-${ids[0]}`,
    'one goes on from the row',
  )
})

t.test('what was typed is not left behind without a question', async (t) => {
  const { page } = await portal(t)
  const { id } = await enter()
  await page.goto(`${url}/admin/orders/${id}?at=0`)
  await page.getByRole('button', { name: 'Edit Notes' }).click()
  await page.locator('#notes').fill('unsaved')
  const request = page.waitForEvent('dialog')
  const leaving = page
    .getByRole('link', { name: 'Back to the list' })
    .click()
    .catch(() => {})
  const question = await request
  t.equal(question.type(), 'beforeunload')
  await question.dismiss()
  await leaving
  t.equal(await page.locator('#notes').inputValue(), 'unsaved')
})

t.test('without a connection, or a session, what was typed stays', async (t) => {
  const { context, page } = await portal(t)
  const { id } = await enter()
  await page.goto(`${url}/admin/orders/${id}`)
  await page.getByRole('button', { name: 'Edit Notes' }).click()
  await page.locator('#notes').fill('still here')
  await context.setOffline(true)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('We couldn’t confirm that your changes were saved').waitFor()
  await context.setOffline(false)
  const cookies = await context.cookies()
  await context.clearCookies()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Your session has expired').waitFor()
  t.equal(await page.locator('#notes').inputValue(), 'still here')
  await context.addCookies(cookies)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('.message', { hasText: 'was saved' }).waitFor()
  t.match(await orderOf(id), { notes: 'still here' })
})

t.test('a session that has ended leads nobody away from what was typed', async (t) => {
  const { context, page } = await portal(t)
  const { id } = await enter()
  await page.goto(`${url}/admin/orders/${id}`)
  await page.getByRole('button', { name: 'Edit Notes' }).click()
  await page.locator('#notes').fill('typed with care')
  const cookies = await context.cookies()
  await context.clearCookies()
  await page.getByRole('button', { name: 'Edit Vessel' }).click()
  await page.getByText('Your session has expired').waitFor()
  t.equal(page.url(), `${url}/admin/orders/${id}`)
  t.equal(await page.locator('#notes').inputValue(), 'typed with care')
  await context.addCookies(cookies)
  await page.getByRole('button', { name: 'Edit Vessel' }).click()
  await page.locator('#vesselName').waitFor()
  await page.getByRole('button', { name: 'Save' }).last().click()
  await page.locator('.message', { hasText: 'was saved' }).waitFor()

  await context.clearCookies()
  await page.getByRole('button', { name: 'Edit Customer' }).click()
  await page.waitForURL(/\/admin\/login\?returnTo=/)
})

t.test('a form takes nothing while it is being saved, and goes on if it was not', async (t) => {
  const { page } = await portal(t)
  const { id } = await enter()
  await page.goto(`${url}/admin/orders/${id}`)
  await page.getByRole('button', { name: 'Edit Notes' }).click()
  await page.locator('#notes').fill('saved')
  let response = () => {}
  const answered = new Promise<void>((resolve) => (response = resolve))
  await page.route('**/edit?*', async (route) => {
    await answered
    await route.abort()
  })
  await page.locator('#notes').focus()
  const form = page.locator('#group-notes form')
  await form.evaluate((element: HTMLFormElement) => element.requestSubmit())
  await page.locator('form[aria-busy=true]').waitFor()
  await page.waitForFunction(() => document.activeElement === document.body)
  await page.keyboard.type(' and lost')
  t.equal(await page.locator('#notes').inputValue(), 'saved')
  response()
  await page.getByText('We couldn’t confirm that your changes were saved').waitFor()
  t.equal(await form.getAttribute('aria-busy'), null)
  await waitForEqual(t, () => focused(page), 'notes', 'one goes on from where one was')
  await page.keyboard.type(' later')
  await page.unroute('**/edit?*')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('.message', { hasText: 'was saved' }).waitFor()
  t.match((await orderOf(id)).notes, /later/)
})

for (const [device, viewport] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
  t.test(`an order is entered by hand with a calculator on a ${device}`, async (t) => {
    const { context, page } = await portal(t, { viewport })
    const browserErrors = recordBrowserErrors(context, url)
    await page.goto(`${url}/admin/orders/new`)
    await waitForEqual(t, () => focused(page), 'customerName')
    await page.getByRole('button', { name: 'Create order' }).click()
    await page.locator('#customerName-error').waitFor({ state: 'visible' })
    await waitForEqual(t, () => focused(page), 'customerName')
    t.equal(await page.locator('.error:not(:empty)').count(), 4)
    t.match(
      await page.locator('.order-alert').innerText(),
      /^Fix 4 errors; the order was not created\.$/,
      'in one sentence',
    )

    await page.locator('#customerName').fill('Ζωή')
    t.equal(await page.locator('#customerName-error').innerText(), '', 'what is mended is not told')
    t.equal(await page.locator('#customerName').getAttribute('aria-invalid'), null)
    t.match(await page.locator('.order-alert').innerText(), /Fix 3 errors/)
    await page.locator('#customerEmail').fill('zoe@example.com')
    await page.locator('#vesselName').fill('Aurora')
    await page.getByRole('radio', { name: 'Distance' }).check()
    await page.locator('#distance-distance').fill('120')
    await page.locator('#distance-speedKn').fill('10')
    await page.locator('#emissions').getByText('Still needed: fuel consumption').waitFor()
    await page.locator('#distance-consumption').pressSequentially('60', { delay: 30 })
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>('#co2eKg')?.value === '2380.514',
    )
    await waitForEqual(t, () => focused(page), 'distance-consumption')
    await page.locator('#distance-speedKn').fill('lots')
    await page.locator('#distance-speedKn-error').waitFor({ state: 'visible' })
    t.equal(await page.locator('#distance-speedKn').getAttribute('aria-invalid'), 'true')
    await page.locator('#distance-speedKn').fill('10')
    await page.locator('.figure').waitFor()
    await page.locator('#co2eKg').fill('2500')
    await page.locator('#distance-distance').fill('240')
    await page.getByText('The trip emits 4,761.0 kg').waitFor()
    t.equal(await page.locator('#co2eKg').inputValue(), '2500', 'a hand beats the sum')
    await page.getByRole('button', { name: 'Create order' }).click()
    await page.waitForFunction(() => document.activeElement?.id === 'amount')
    t.equal(
      await page.locator('.error:not(:empty)').count(),
      1,
      'one field is still to be filled in',
    )
    t.equal(await page.locator('#distance-distance').inputValue(), '240', 'nothing is lost')
    t.equal(await page.locator('#currency').inputValue(), 'USD', 'the usual one')
    await page.locator('#currency').selectOption('EUR')
    await page.locator('#amount').fill('62,50')
    await page.getByRole('button', { name: 'Create order' }).click()
    await page.waitForURL(/\/admin\/orders\/\d+$/)
    t.match(await page.locator('.message').innerText(), /was created\./)
    t.match(await page.locator('#order').innerText(), /Ζωή.*2,500.*€62\.50.*240\snautical mi/s)
    t.same(silent(browserErrors), [])
  })
}

t.test('the labels of the calculators fit at every width', async (t) => {
  const { page } = await portal(t)
  await page.goto(`${url}/admin/orders/new`)
  for (const width of [320, 390, 460, 600, 840, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    const labels = await page
      .locator('.segmented label span')
      .evaluateAll((spans) =>
        spans.map(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth),
      )
    t.strictSame(labels, [true, true, true, true], `${width} px`)
  }
})

t.test('all of it works with scripts off', async (t) => {
  const { page } = await portal(t, { javaScriptEnabled: false, viewport: PHONE })
  await page.goto(`${url}/admin/orders/new`)
  t.match(await page.locator('#emissions').innerText(), /Without JavaScript, leave CO₂e empty/)
  await page.locator('#customerName').fill('Ann')
  await page.locator('#customerEmail').fill('ann@example.com')
  await page.locator('label', { hasText: 'Fuel' }).first().click()
  await page.locator('#fuel-quantity').fill('1000')
  await page.getByRole('button', { name: 'Create order' }).click()
  t.equal(await page.locator('#amount-error').innerText(), 'Enter an amount')
  t.equal(await page.locator('#co2eKg').inputValue(), '3306.27', 'the sum is made on the way')
  await page.locator('#amount').fill('80')
  await page.locator('#currency').selectOption('NOK')
  await page.getByRole('button', { name: 'Create order' }).click()
  t.match(await page.locator('.message').innerText(), /was created/)

  await page.getByRole('button', { name: 'Edit Customer' }).click()
  await page.locator('#customerEmail').fill('nobody')
  await page.getByRole('button', { name: 'Save' }).click()
  t.match(await page.locator('#customerEmail-error').innerText(), /Must be an email address/)
  await page.locator('#customerEmail').fill('ann@example.org')
  await page.getByRole('button', { name: 'Save' }).click()
  t.match(await page.locator('.message').innerText(), /was saved/)
  await page.getByRole('button', { name: 'Mark as paid' }).click()
  t.match(await page.locator('.message').innerText(), /is now paid/)
  await page.locator('#cancel-order').click()
  await page.getByRole('button', { name: 'Cancel order', exact: true }).click()
  await page.getByRole('button', { name: 'Undo' }).click()
  t.match(await page.locator('.message').innerText(), /It is paid again/)
})

t.test('an order prints as a sheet of its own', async (t) => {
  const { page } = await portal(t)
  const { id } = await enter(FULL)
  await page.goto(`${url}/admin/orders/${id}?at=0`)
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  for (const hidden of ['.masthead', '.place', '.moves', '.edit', '#messages']) {
    t.equal(await page.locator(hidden).first().isVisible(), false, hidden)
  }
  t.match(await page.locator('#order').innerText(), /Ann Example.*2,000.*first line/s)
  t.equal(
    await page.locator('.group-amounts').evaluate((card) => getComputedStyle(card).backgroundColor),
    'rgb(255, 255, 255)',
  )
  const pages = async () =>
    ((await page.pdf()).toString('latin1').match(/\/Type\s*\/Page\b/g) ?? []).length
  t.equal(await pages(), 1, 'one page is enough for what is usual')

  await page.emulateMedia({ media: 'screen' })
  await page.getByRole('button', { name: 'Edit Notes' }).click()
  await page.locator('#notes').waitFor()
  await page.emulateMedia({ media: 'print' })
  t.equal(await page.locator('#notes').isVisible(), true, 'what is being edited is on it')
  t.equal(await page.getByRole('button', { name: 'Save' }).isVisible(), false)
  await page.locator('#notes').fill('a line\n'.repeat(150))
  t.ok((await pages()) > 2, 'what is longer than a page goes on on the next')
})

t.test('on a phone the moves of an order stand in full rows', async (t) => {
  const { page } = await portal(t, { viewport: PHONE })
  for (const status of ['pending', 'paid', 'processing', 'fulfilled', 'refunded']) {
    const { id } = await enter({ status })
    await page.goto(`${url}/admin/orders/${id}`)
    const card = await page.locator('.group-amounts').boundingBox()
    const boxes = await page
      .locator('.status-actions :is(button, .button)')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()))
    for (const y of new Set(boxes.map(({ y }: DOMRect) => y))) {
      const row: DOMRect[] = boxes.filter((box: DOMRect) => box.y === y)
      const edges = [row[0]?.left, row.at(-1)?.right].map((edge) => Math.round(edge ?? 0))
      t.same(edges, [card?.x, (card?.x ?? 0) + (card?.width ?? 0)], status)
    }
  }
})

for (const [device, options] of ACCESSIBILITY_VARIANTS) {
  t.test(`every state is accessible on ${device}`, async (t) => {
    const { page } = await portal(t, options)
    const { id } = await enter({ ...FULL, customerName: 'م/ي "السفينة" & <Søn>'.repeat(3) })
    await ann.call('PATCH', `${ORDERS}/${id}`, { status: 'paid', notes: 'x'.repeat(200) })
    const { id: bare } = await enter({ amountMinor: 1_000_000_000_000, co2eKg: 123456.789012 })
    const check = (name: string) => checkAccessibility(t, page, name)
    const open = (path: string) => page.goto(`${url}/admin/orders/${path}`)
    await open(`${id}?at=1`)
    await page.evaluate(() => document.querySelectorAll('details').forEach((d) => (d.open = true)))
    await check('all that an order may have')
    await page.getByRole('button', { name: 'Edit CO₂e and amount' }).click()
    await page.getByRole('button', { name: 'Edit Notes' }).click()
    await page.getByRole('button', { name: 'Edit Vessel' }).click()
    await page.locator('#imoNumber').fill('1')
    await page.locator('#group-vessel').getByRole('button', { name: 'Save' }).click()
    await page.locator('#imoNumber-error').waitFor({ state: 'visible' })
    await check('forms, one with an error')
    await ann.call('PATCH', `${ORDERS}/${id}`, { vesselName: 'Theirs' })
    await page.locator('#imoNumber').fill('9811000')
    await page.locator('#group-vessel').getByRole('button', { name: 'Save' }).click()
    await page.locator('.conflict').waitFor()
    await check('a conflict')
    await open(bare)
    await check('the least that an order may have')
    await page.locator('#cancel-order').click()
    await page.getByRole('dialog').waitFor()
    await check('the question before cancelling')
    await page.getByRole('button', { name: 'Cancel order', exact: true }).click()
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    await check('a cancelled order')
    await open('new')
    await page.getByRole('radio', { name: 'Fuel' }).check()
    await page.locator('#fuel-quantity').fill('500')
    await page.locator('.figure').waitFor()
    await check('a new order')
    await page.getByRole('button', { name: 'Create order' }).click()
    await page.locator('#customerName-error').waitFor({ state: 'visible' })
    await check('a new order with errors')
    await open('999999')
    await check('not_found')
  })
}
