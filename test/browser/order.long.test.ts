import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { DESKTOP, PHONE, recordBrowserErrors } from '../support/browser.js'
import { newOrder } from '../support/order-store.js'
import { SECOND_ADMIN, startTwoAdmins } from '../support/page-client.js'
import { adminContext } from '../support/portal.js'
import { openBrowserContext, openPageOf, sharedBrowser } from '../support/shared-browser.js'
import { waitForEqual } from '../support/wait-for.js'
import { checkAllVariants } from './check-all-variants.js'

const service = await startTwoAdmins(t, { TIME_ZONE: 'Europe/Lisbon' })
const { url, ann } = service
const browser = await sharedBrowser()

/** Signed in as ADMIN; shared by the tests that change neither cookies nor the connection. */
const sharedContext = await adminContext(t, browser, service, {
  viewport: DESKTOP,
  locale: 'en-GB',
})
const session = await sharedContext.storageState()

async function openPage(t: Test, viewport = DESKTOP): Promise<Page> {
  const page = await openPageOf(t, sharedContext)
  if (viewport !== DESKTOP) await page.setViewportSize(viewport)
  return page
}

/** A browser context of its own, signed in as ADMIN. */
const openContext = (t: Test, options: object = {}) =>
  openBrowserContext(t, {
    ...{ viewport: DESKTOP, locale: 'en-GB', storageState: session },
    ...options,
  })

const ORDERS = '/api/admin/orders'

const createOrder = async (fields: object = {}): Promise<{ id: string; orderNumber: string }> =>
  ann.call('POST', ORDERS, { ...newOrder(), ...fields })

const getOrder = (id: string): Promise<any> => ann.call('GET', `${ORDERS}/${id}`)

const COMPLETE_ORDER = {
  vesselName: 'Étoile du Nord',
  imoNumber: '8814275',
  calculatorType: 'fuel',
  calculatorData: { fuelType: 'mgo', quantity: 500, unit: 'l' },
  co2eKg: 2000,
  notes: 'first line\nsecond line',
}

/** Browser errors without failed requests, which every browser logs. */
const getUnexpectedErrors = ({
  errors,
  externalRequests,
}: {
  errors: string[]
  externalRequests: string[]
}) => [...errors.filter((error) => !/status of (?:4\d\d|503)/.test(error)), ...externalRequests]

const getFocusedId = (page: Page) => page.evaluate(() => document.activeElement?.id)

const waitForRequests = (page: Page) =>
  page.waitForFunction(() => !document.querySelector('.htmx-request'))

/** Holds requests until they are released, and records them. */
async function holdRequests(page: Page, path: string) {
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  const requests: string[] = []
  await page.route(path, async (route) => {
    requests.push(route.request().url())
    await released
    await route.continue()
  })
  return { requests, release }
}

/** Lets the service handle requests, and drops its responses. */
const dropResponses = (page: Page, path: string) =>
  page.route(path, async (route) => {
    await route.fetch()
    await route.abort()
  })

t.test('edits groups in place and reports invalid fields', async (t) => {
  const page = await openPage(t, PHONE)
  const browserErrors = recordBrowserErrors(sharedContext, url)
  const { id, orderNumber } = await createOrder(COMPLETE_ORDER)
  await page.goto(`${url}/admin/orders/${id}`)
  t.match(await page.locator('#trip .alert').innerText(), /2,000\.0 kg CO₂e, 347 kg \(21%\)/)

  await page.getByRole('button', { name: 'Edit Notes' }).click()
  await page.locator('#notes').fill('not yet saved')
  await page.getByRole('button', { name: 'Edit CO₂e and amount' }).click()
  await page.waitForFunction(() => document.activeElement?.id === 'co2eKg')
  await page.locator('#amount').fill('12,345')
  await page.getByRole('button', { name: 'Save' }).first().click()
  await page.locator('#amount-error').waitFor({ state: 'visible' })
  t.match(await page.locator('#amount-error').innerText(), /Enter 12345 or 12\.3[45]\b/)
  await waitForEqual(t, () => getFocusedId(page), 'amount', 'focuses the first invalid field')

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
    'restores the focus',
  )
  t.equal(await page.locator('#notes').inputValue(), 'not yet saved', 'keeps the other form')
  await page.locator('#group-notes').getByRole('button', { name: 'Save' }).click()
  await page.locator('.notes', { hasText: 'not yet saved' }).waitFor()
  t.match(await getOrder(id), { amountMinor: 1234500, notes: 'not yet saved', version: 3 })

  await page.getByRole('button', { name: 'Edit Customer' }).click()
  await page.locator('#customerName').fill('Another Name')
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.locator('#customerName').waitFor({ state: 'detached' })
  t.match(await page.locator('#group-customer').innerText(), /Ann Example/)
  t.same(getUnexpectedErrors(browserErrors), [])
})

t.test('shows conflicting changes, and discards or overwrites them', async (t) => {
  const page = await openPage(t)
  const options = { viewport: DESKTOP, locale: 'en-GB' }
  const { context: secondContext, page: secondPage } = await openBrowserContext(t, options)
  await secondContext.request.post(`${url}/api/admin/login`, { data: SECOND_ADMIN })
  const { id } = await createOrder(COMPLETE_ORDER)
  for (const editor of [page, secondPage]) {
    await editor.goto(`${url}/admin/orders/${id}`)
    await editor.getByRole('button', { name: 'Edit Vessel' }).click()
    await editor.locator('#vesselName').waitFor()
  }
  await secondPage.locator('#vesselName').fill('Theirs')
  await secondPage.getByRole('button', { name: 'Save' }).click()
  await secondPage.locator('.message').waitFor()

  await page.locator('#vesselName').fill('Mine')
  await page.getByRole('button', { name: 'Save' }).click()
  const conflict = page.locator('.conflict')
  await conflict.waitFor()
  t.match(await conflict.innerText(), /Vessel.*Étoile du Nord.*Theirs.*colleague@example\.com/s)
  t.equal(await page.locator('#vesselName').inputValue(), 'Mine')
  t.equal(await page.locator('.current-value').innerText(), 'Current value: Theirs')
  await page.getByRole('button', { name: 'Discard my changes' }).click()
  await page.locator('#vesselName').waitFor({ state: 'detached' })
  t.match(await page.locator('#group-vessel').innerText(), /Theirs/)
  t.match(await page.locator('#history').innerText(), /Theirs/, 'updates the whole page')
  t.match(await getOrder(id), { vesselName: 'Theirs', version: 2 })

  await page.getByRole('button', { name: 'Edit Vessel' }).click()
  await page.locator('#vesselName').fill('Mine again')
  await secondPage.getByRole('button', { name: 'Mark as paid' }).click()
  await secondPage.locator('.message', { hasText: 'now paid' }).waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await conflict.waitFor()
  t.match(await conflict.innerText(), /Status.*Pending.*Paid/s)
  await page.getByRole('button', { name: 'Overwrite' }).click()
  await page.locator('.message').waitFor()
  t.match(await getOrder(id), { vesselName: 'Mine again', status: 'paid', version: 4 })
  t.equal(await page.locator('.title .status').innerText(), 'Paid')
})

t.test('changes the status, and explains a conflicting change', async (t) => {
  const page = await openPage(t)
  const browserErrors = recordBrowserErrors(sharedContext, url)
  const { id, orderNumber } = await createOrder()
  const actions = page.locator(':is(.status-actions, .next-step) :is(button, a)')
  await page.goto(`${url}/admin/orders/${id}`)
  await page.getByRole('button', { name: 'Mark as paid' }).click()
  await page.locator('.message').waitFor()
  t.match(await page.locator('.message').innerText(), `Order ${orderNumber} is now paid.`)
  await waitForEqual(t, () => getFocusedId(page), 'order-title', 'moves the focus to the title')
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await page.locator('.message', { hasText: 'is pending again' }).waitFor()
  await page.getByRole('button', { name: 'Mark as paid' }).click()
  await page.locator('.message', { hasText: 'is now paid' }).waitFor()
  t.same(await actions.allInnerTexts(), [
    'Mark as fulfilled',
    'Mark as refunded',
    'Cancel order…',
    'Start processing',
  ])
  await ann.call('PATCH', `${ORDERS}/${id}`, { status: 'refunded' })
  await page.getByRole('button', { name: 'Start processing' }).click()
  await page.locator('#notice').waitFor()
  t.match(await page.locator('#notice').innerText(), /has changed since you opened it/)
  t.same(await actions.allInnerTexts(), ['Cancel order…'])
  t.same(getUnexpectedErrors(browserErrors), [])
})

t.test('confirms a cancellation by keyboard, and undoes it', async (t) => {
  const page = await openPage(t)
  const browserErrors = recordBrowserErrors(sharedContext, url)
  const { id, orderNumber } = await createOrder({ ...COMPLETE_ORDER, status: 'processing' })
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
    'focuses the safe choice',
  )
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await waitForEqual(t, () => getFocusedId(page), 'cancel-order')
  t.equal(page.url(), `${url}/admin/orders/${id}`, 'Escape closes only the dialog')
  t.match(await getOrder(id), { status: 'processing' })

  await page.keyboard.press('Space')
  await dialog.waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  const message = page.getByRole('status').filter({ hasText: 'was cancelled' })
  await message.waitFor()
  await dialog.waitFor({ state: 'detached' })
  t.match(await getOrder(id), { status: 'cancelled' })
  await message.getByRole('button', { name: 'Undo', exact: true }).click()
  await page.getByText('it is processing again').waitFor()
  t.equal(await page.locator('.title .status').innerText(), 'Processing')
  t.match(
    await page.locator('#history').innerText(),
    /Cancelled.*Processing.*Processing.*Cancelled/s,
  )
  t.same(getUnexpectedErrors(browserErrors), [])
})

t.test('sends one request for a double click on Undo', async (t) => {
  const page = await openPage(t)
  const { id } = await createOrder({ status: 'paid' })
  await page.goto(`${url}/admin/orders/${id}`)
  await page.locator('#cancel-order').click()
  await page.getByRole('button', { name: 'Cancel order', exact: true }).click()
  const { requests, release } = await holdRequests(page, '**/restore*')
  await page.getByRole('button', { name: 'Undo', exact: true }).dblclick()
  release()
  await page.locator('.message', { hasText: 'was restored' }).waitFor()
  await waitForRequests(page)
  t.equal(requests.length, 1)
  t.match(await page.locator('.message').innerText(), /was restored\. It is paid again/)
})

t.test('scrolls to the notice of a late Undo', async (t) => {
  const page = await openPage(t, PHONE)
  const { id } = await createOrder({ status: 'paid' })
  await page.goto(`${url}/admin/orders/${id}`)
  await page.getByRole('button', { name: 'Mark as fulfilled' }).click()
  const undo = page.getByRole('button', { name: 'Undo', exact: true })
  await undo.waitFor()
  await ann.call('PATCH', `${ORDERS}/${id}`, { notes: 'changed meanwhile' })
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
  await undo.click()
  const notice = page.locator('#notice', { hasText: 'has changed since you opened it' })
  await notice.waitFor()
  await waitForEqual(
    t,
    () => notice.evaluate((element) => element.getBoundingClientRect().top >= 0),
    true,
    'the notice is in view',
  )
  t.match(await getOrder(id), { status: 'fulfilled' })
})

t.test('recognises a repeated request whose response was lost', async (t) => {
  const { context, page } = await openContext(t)
  const { id } = await createOrder()
  const unconfirmed = page.getByText('We couldn’t confirm that your changes were saved')
  await page.goto(`${url}/admin/orders/${id}`)
  await page.getByRole('button', { name: 'Edit Notes' }).click()
  await page.locator('#notes').fill('saved without a response')
  await dropResponses(page, '**/edit?*')
  await page.getByRole('button', { name: 'Save' }).click()
  await unconfirmed.waitFor()
  await page.unroute('**/edit?*')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('.message', { hasText: 'was saved.' }).waitFor()
  t.equal(await page.locator('.conflict').count(), 0)
  t.match(await getOrder(id), { version: 2 })

  await page.goto(`${url}/admin/orders/new`)
  await page.locator('#customerName').fill('Once Only')
  await page.locator('#customerEmail').fill('once@example.com')
  await page.locator('#co2eKg').fill('10')
  await page.locator('#amount').fill('10')
  await dropResponses(page, '**/admin/orders')
  await page.getByRole('button', { name: 'Create order' }).click()
  await unconfirmed.waitFor()
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

t.test('closes a form with Escape only without unsaved changes', async (t) => {
  const page = await openPage(t)
  const { id } = await createOrder()
  await page.goto(`${url}/admin/orders/${id}?at=0`)
  await page.getByRole('button', { name: 'Edit Notes' }).click()
  await page.locator('#notes').fill('kept')
  await page.keyboard.press('Escape')
  t.equal(await page.locator('.htmx-request').count(), 0, 'sends no request')
  t.equal(await page.locator('#notes').inputValue(), 'kept')
  await page.locator('#notes').fill('')
  await page.keyboard.press('Escape')
  await page.locator('#notes').waitFor({ state: 'detached' })
  t.match(page.url(), `/admin/orders/${id}`, 'stays on the order')
})

t.test('an error message on a phone covers neither buttons nor content', async (t) => {
  const { context, page } = await openContext(t, { viewport: PHONE })
  const { id } = await createOrder(COMPLETE_ORDER)
  await page.goto(`${url}/admin/orders/${id}`)
  await page.getByRole('button', { name: 'Edit Offset order' }).click()
  await page.locator('#orderSourceId').fill('off_2')
  await context.clearCookies()
  await page.getByRole('button', { name: 'Save' }).click()
  const message = page.locator('#messages .message')
  await message.getByText('Your session has expired').waitFor()
  await page.waitForFunction(() => {
    const bottom = document.querySelector('.form-actions')?.getBoundingClientRect().bottom
    const top = document.querySelector('#messages .message')?.getBoundingClientRect().top
    return bottom !== undefined && top !== undefined && bottom <= top
  })
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
  const [historyBox, messageBox] = await Promise.all([
    page.locator('#history').boundingBox(),
    message.boundingBox(),
  ])
  t.ok(
    historyBox && messageBox && historyBox.y + historyBox.height <= messageBox.y,
    'the end of the page is visible',
  )
})

t.test('keyboard shortcuts move between orders and back to the list', async (t) => {
  const page = await openPage(t)
  const ids: string[] = []
  for (const customerName of ['Zeta 1', 'Zeta 2', 'Zeta 3']) {
    ids.push((await createOrder({ customerName })).id)
  }
  await page.goto(`${url}/admin/orders?q=zeta&sort=customerName`)
  await page.locator('.row-link').nth(1).click()
  // Shortcuts work once the scripts of the page have run.
  const waitForOrder = async (name: string) => {
    await page.locator('.subtitle', { hasText: name }).waitFor()
    await page.waitForLoadState()
  }
  await waitForOrder('Zeta 2')
  t.equal(await page.locator('.position').innerText(), '2 of 3')
  await page.keyboard.press('j')
  await waitForOrder('Zeta 3')
  t.equal(await page.locator('#to-next').count(), 0)
  await page.keyboard.press('ArrowLeft')
  await waitForOrder('Zeta 2')
  await page.keyboard.press('k')
  await waitForOrder('Zeta 1')
  await page.getByRole('button', { name: 'Edit Notes' }).click()
  await page.locator('#notes').pressSequentially('jkj')
  await page.keyboard.press('Escape')
  await waitForOrder('Zeta 1')
  t.equal(await page.locator('#notes').inputValue(), 'jkj', 'no shortcuts in text fields')
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
    'focuses the row of the order',
  )
})

t.test('asks before leaving a page with unsaved changes', async (t) => {
  const page = await openPage(t)
  const { id } = await createOrder()
  await page.goto(`${url}/admin/orders/${id}?at=0`)
  await page.getByRole('button', { name: 'Edit Notes' }).click()
  await page.locator('#notes').fill('unsaved')
  const dialogOpened = page.waitForEvent('dialog')
  const navigation = page
    .getByRole('link', { name: 'Back to the list' })
    .click()
    .catch(() => undefined)
  const dialog = await dialogOpened
  t.equal(dialog.type(), 'beforeunload')
  await dialog.dismiss()
  await navigation
  t.equal(await page.locator('#notes').inputValue(), 'unsaved')
})

t.test('keeps unsaved changes without a connection or a session', async (t) => {
  const { context, page } = await openContext(t)
  const { id } = await createOrder()
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
  t.match(await getOrder(id), { notes: 'still here' })
})

t.test('redirects an expired session to sign-in only without unsaved changes', async (t) => {
  const { context, page } = await openContext(t)
  const { id } = await createOrder()
  await page.goto(`${url}/admin/orders/${id}`)
  await page.getByRole('button', { name: 'Edit Notes' }).click()
  await page.locator('#notes').fill('unsaved')
  const cookies = await context.cookies()
  await context.clearCookies()
  await page.getByRole('button', { name: 'Edit Vessel' }).click()
  await page.getByText('Your session has expired').waitFor()
  t.equal(page.url(), `${url}/admin/orders/${id}`)
  t.equal(await page.locator('#notes').inputValue(), 'unsaved')
  await context.addCookies(cookies)
  await page.getByRole('button', { name: 'Edit Vessel' }).click()
  await page.locator('#vesselName').waitFor()
  await page.getByRole('button', { name: 'Save' }).last().click()
  await page.locator('.message', { hasText: 'was saved' }).waitFor()

  await context.clearCookies()
  await page.getByRole('button', { name: 'Edit Customer' }).click()
  await page.waitForURL(/\/admin\/login\?returnTo=/)
})

t.test('a form ignores input while it is being saved', async (t) => {
  const page = await openPage(t)
  const { id } = await createOrder()
  await page.goto(`${url}/admin/orders/${id}`)
  await page.getByRole('button', { name: 'Edit Notes' }).click()
  await page.locator('#notes').fill('saved')
  let abort = (): void => undefined
  const aborted = new Promise<void>((resolve) => (abort = resolve))
  await page.route('**/edit?*', async (route) => {
    await aborted
    await route.abort()
  })
  await page.locator('#notes').focus()
  const form = page.locator('#group-notes form')
  await form.evaluate((element: HTMLFormElement) => element.requestSubmit())
  await page.locator('form[aria-busy=true]').waitFor()
  await page.waitForFunction(() => document.activeElement === document.body)
  await page.keyboard.type(' and lost')
  t.equal(await page.locator('#notes').inputValue(), 'saved')
  abort()
  await page.getByText('We couldn’t confirm that your changes were saved').waitFor()
  t.equal(await form.getAttribute('aria-busy'), null)
  await waitForEqual(t, () => getFocusedId(page), 'notes', 'restores the focus after a failure')
  await page.keyboard.type(' later')
  await page.unroute('**/edit?*')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('.message', { hasText: 'was saved' }).waitFor()
  t.match((await getOrder(id)).notes, /later/)
})

t.test('creates an order with a calculator', async (t) => {
  const page = await openPage(t, PHONE)
  const browserErrors = recordBrowserErrors(sharedContext, url)
  const fieldErrors = page.locator('.error:not(:empty)')
  await page.goto(`${url}/admin/orders/new`)
  await waitForEqual(t, () => getFocusedId(page), 'customerName')
  await page.getByRole('button', { name: 'Create order' }).click()
  await page.locator('#customerName-error').waitFor({ state: 'visible' })
  await waitForEqual(t, () => getFocusedId(page), 'customerName')
  t.equal(await fieldErrors.count(), 4)
  t.equal(
    await page.locator('.order-alert').innerText(),
    'Fix 4 errors; the order was not created.',
  )

  await page.locator('#customerName').fill('Ζωή')
  t.equal(await page.locator('#customerName-error').innerText(), '', 'removes corrected errors')
  t.equal(await page.locator('#customerName').getAttribute('aria-invalid'), null)
  t.match(await page.locator('.order-alert').innerText(), /Fix 3 errors/)
  await page.locator('#customerEmail').fill('zoe@example.com')
  await page.locator('#vesselName').fill('Aurora')
  await page.getByRole('radio', { name: 'Distance' }).check()
  await page.locator('#distance-distance').fill('120')
  await page.locator('#distance-speedKn').fill('10')
  await page.locator('#emissions').getByText('Still needed: fuel per hour or mile').waitFor()
  await page.locator('#distance-consumption').pressSequentially('60', { delay: 30 })
  await page.waitForFunction(
    () => document.querySelector<HTMLInputElement>('#co2eKg')?.value === '2380.514',
  )
  await waitForEqual(t, () => getFocusedId(page), 'distance-consumption')
  await page.locator('#distance-speedKn').fill('lots')
  await page.locator('#distance-speedKn-error').waitFor({ state: 'visible' })
  t.equal(await page.locator('#distance-speedKn').getAttribute('aria-invalid'), 'true')
  await page.locator('#distance-speedKn').fill('10')
  await page.locator('.figure').waitFor()
  await page.locator('#co2eKg').fill('2500')
  await page.locator('#distance-distance').fill('240')
  await page.getByText('The trip emits 4,761.0 kg').waitFor()
  t.equal(await page.locator('#co2eKg').inputValue(), '2500', 'keeps a value entered by hand')
  await page.getByRole('button', { name: 'Create order' }).click()
  await page.waitForFunction(() => document.activeElement?.id === 'amount')
  t.equal(await fieldErrors.count(), 1, 'only the amount is missing')
  t.equal(await page.locator('#distance-distance').inputValue(), '240')
  t.equal(await page.locator('#currency').inputValue(), 'USD', 'the default currency')
  await page.locator('#currency').selectOption('EUR')
  await page.locator('#amount').fill('62,50')
  await page.getByRole('button', { name: 'Create order' }).click()
  await page.waitForURL(/\/admin\/orders\/\d+$/)
  t.match(await page.locator('.message').innerText(), /was created\./)
  t.match(await page.locator('#order').innerText(), /Ζωή.*2,500.*€62\.50.*240\snautical mi/s)
  t.same(getUnexpectedErrors(browserErrors), [])
})

t.test('calculator labels are not truncated at any width', async (t) => {
  const page = await openPage(t)
  await page.goto(`${url}/admin/orders/new`)
  const truncated: string[] = []
  for (const width of [320, 390, 460, 600, 840, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    const labels = await page
      .locator('.segmented label span')
      .evaluateAll((spans) =>
        spans
          .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
          .map(({ textContent }) => textContent),
      )
    truncated.push(...labels.map((label) => `${label} at ${width} px`))
  }
  t.equal(await page.locator('.segmented label span').count(), 4)
  t.same(truncated, [])
})

t.test('creates, edits and cancels an order without JavaScript', async (t) => {
  const { page } = await openContext(t, { javaScriptEnabled: false, viewport: PHONE })
  await page.goto(`${url}/admin/orders/new`)
  t.match(await page.locator('#emissions').innerText(), /Without JavaScript, leave CO₂e empty/)
  await page.locator('#customerName').fill('Ann')
  await page.locator('#customerEmail').fill('ann@example.com')
  await page.locator('label', { hasText: 'Fuel' }).first().click()
  await page.locator('#fuel-quantity').fill('1000')
  await page.getByRole('button', { name: 'Create order' }).click()
  t.equal(await page.locator('#amount-error').innerText(), 'Enter an amount')
  t.equal(await page.locator('#co2eKg').inputValue(), '3306.27', 'calculates the emissions')
  await page.locator('#amount').fill('80')
  await page.locator('#currency').selectOption('NOK')
  await page.getByRole('button', { name: 'Create order' }).click()
  t.match(await page.locator('.message').innerText(), /was created/)

  await page.getByRole('button', { name: 'Edit Customer' }).click()
  await page.locator('#customerEmail').fill('not an address')
  await page.getByRole('button', { name: 'Save' }).click()
  t.match(await page.locator('#customerEmail-error').innerText(), /Must be an email address/)
  await page.locator('#customerEmail').fill('ann@example.org')
  await page.getByRole('button', { name: 'Save' }).click()
  t.match(await page.locator('.message').innerText(), /was saved/)
  await page.getByRole('button', { name: 'Mark as paid' }).click()
  t.match(await page.locator('.message').innerText(), /is now paid/)
  await page.locator('#cancel-order').click()
  await page.getByRole('button', { name: 'Cancel order', exact: true }).click()
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  t.match(await page.locator('.message').innerText(), /It is paid again/)
})

t.test('prints an order without controls', async (t) => {
  const page = await openPage(t)
  const { id } = await createOrder(COMPLETE_ORDER)
  await page.goto(`${url}/admin/orders/${id}?at=0`)
  const findVisible = async () => {
    const visible: string[] = []
    for (const selector of ['.site-header', '.list-context', '.status-actions', '.edit']) {
      if (await page.locator(selector).first().isVisible()) visible.push(selector)
    }
    return visible
  }
  t.equal((await findVisible()).length, 4, 'shows the controls on the screen')
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  t.same(await findVisible(), [])
  t.match(await page.locator('#order').innerText(), /Ann Example.*2,000.*first line/s)
  t.equal(
    await page.locator('.group-amounts').evaluate((card) => getComputedStyle(card).backgroundColor),
    'rgb(255, 255, 255)',
  )
  const countSheets = async () =>
    ((await page.pdf()).toString('latin1').match(/\/Type\s*\/Page\b/g) ?? []).length
  t.equal(await countSheets(), 1, 'fits on one sheet')

  await page.emulateMedia({ media: 'screen' })
  await page.getByRole('button', { name: 'Edit Notes' }).click()
  await page.locator('#notes').waitFor()
  await page.emulateMedia({ media: 'print' })
  t.equal(await page.locator('#notes').isVisible(), true, 'prints fields that are being edited')
  t.equal(await page.getByRole('button', { name: 'Save' }).isVisible(), false)
  await page.locator('#notes').fill('a line\n'.repeat(150))
  t.ok((await countSheets()) > 2, 'continues long notes on further sheets')
})

t.test('status actions fill whole rows on a phone', async (t) => {
  const page = await openPage(t, PHONE)
  const misaligned: string[] = []
  for (const status of ['pending', 'paid', 'processing', 'fulfilled', 'refunded']) {
    const { id } = await createOrder({ status })
    await page.goto(`${url}/admin/orders/${id}`)
    const [card, buttons] = await page.evaluate(() => {
      const toEdges = (element: Element) => {
        const { y, left, right } = element.getBoundingClientRect()
        return { y, left: Math.round(left), right: Math.round(right) }
      }
      return [
        toEdges(document.querySelector('.group-amounts') ?? document.body),
        [...document.querySelectorAll('.status-actions :is(button, .button)')].map(toEdges),
      ] as const
    })
    const rows = new Map<number, typeof buttons>()
    for (const button of buttons) rows.set(button.y, [...(rows.get(button.y) ?? []), button])
    if (rows.size === 0) misaligned.push(`${status}: no buttons`)
    for (const row of rows.values()) {
      const [left, right] = [row[0]?.left, row.at(-1)?.right]
      if (left !== card.left || right !== card.right) {
        misaligned.push(`${status}: ${left} to ${right}, not ${card.left} to ${card.right}`)
      }
    }
  }
  t.same(misaligned, [])
})

t.test('is accessible in every state', async (t) => {
  const page = await openPage(t)
  const { id } = await createOrder({
    ...COMPLETE_ORDER,
    customerName: 'م/ي "السفينة" & <Søn>'.repeat(3),
  })
  await ann.call('PATCH', `${ORDERS}/${id}`, { status: 'paid', notes: 'x'.repeat(200) })
  const { id: minimalId } = await createOrder({
    amountMinor: 1_000_000_000_000,
    co2eKg: 123456.789012,
  })
  const check = (state: string) => checkAllVariants(t, page, state)
  const open = (path: string) => page.goto(`${url}/admin/orders/${path}`)
  await open(`${id}?at=1`)
  await page.evaluate(() =>
    document.querySelectorAll('details').forEach((details) => (details.open = true)),
  )
  await check('a complete order')
  await page.getByRole('button', { name: 'Edit CO₂e and amount' }).click()
  await page.getByRole('button', { name: 'Edit Notes' }).click()
  await page.getByRole('button', { name: 'Edit Vessel' }).click()
  await page.locator('#imoNumber').fill('1')
  await page.locator('#group-vessel').getByRole('button', { name: 'Save' }).click()
  await page.locator('#imoNumber-error').waitFor({ state: 'visible' })
  await check('forms with an error')
  await ann.call('PATCH', `${ORDERS}/${id}`, { vesselName: 'Theirs' })
  await page.locator('#imoNumber').fill('9811000')
  await page.locator('#group-vessel').getByRole('button', { name: 'Save' }).click()
  await page.locator('.conflict').waitFor()
  await check('a conflict')
  await open(minimalId)
  await check('a minimal order')
  await page.locator('#cancel-order').click()
  await page.getByRole('dialog').waitFor()
  await check('the cancellation dialog')
  await page.getByRole('button', { name: 'Cancel order', exact: true }).click()
  await page.getByRole('button', { name: 'Undo', exact: true }).waitFor()
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
  await check('a missing order')
})
