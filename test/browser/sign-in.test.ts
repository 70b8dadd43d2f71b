import type { BrowserContextOptions, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { ACCESSIBILITY_VARIANTS, checkAccessibility } from '../support/accessibility.js'
import { DESKTOP, PHONE, recordBrowserErrors } from '../support/browser.js'
import { manyOrders, startPortal } from '../support/portal.js'
import { openBrowserContext } from '../support/shared-browser.js'
import { ADMIN } from '../support/sign-in.js'
import { waitForEqual } from '../support/wait-for.js'

const { url } = await startPortal(t, manyOrders(30), { LOGIN_LIMIT_PER_CLIENT: '1000' })

const DEVICES = Object.entries({ phone: PHONE, desktop: DESKTOP })

/** Opens a new browser context. */
const stranger = (t: Test, options: BrowserContextOptions = {}) =>
  openBrowserContext(t, { viewport: DESKTOP, ...options })

async function fillIn(page: Page, { email, password } = ADMIN): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

const focused = (page: Page) => page.evaluate(() => document.activeElement?.id)

/** The order data visible on a page. */
const secrets = async (page: Page) =>
  /customer\d+@|CW-\d{6}|(?:Ann|Ben|Zoë) Number/.exec(await page.content())?.[0]

for (const [device, viewport] of DEVICES) {
  t.test(`signs in on a ${device} after a wrong password`, async (t) => {
    const { context, page } = await stranger(t, { viewport })
    const browserErrors = recordBrowserErrors(context, url)
    await page.goto(`${url}/admin/orders?status=paid`)
    t.equal(new URL(page.url()).pathname, '/admin/login', 'a stranger is led to the login')
    await waitForEqual(t, () => focused(page), 'email')
    await fillIn(page, { ...ADMIN, password: 'wrong' })
    const error = page.getByRole('alert')
    await error.waitFor()
    t.equal(await error.innerText(), 'The email or password is wrong.')
    t.match(await page.title(), /^Error: Sign in/)
    t.equal(await page.getByLabel('Email').inputValue(), ADMIN.email, 'the e-mail is kept')
    t.equal(await page.getByLabel('Password').inputValue(), '', 'and the password is not')
    await waitForEqual(t, () => focused(page), 'password', 'which is typed next')
    await page.keyboard.type(ADMIN.password)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${url}/admin/orders?status=paid`)
    t.equal(await page.getByRole('link', { name: 'Remove filter Status: Paid' }).count(), 1)
    await page.goto(`${url}/admin/login?returnTo=/admin/orders/new`)
    t.equal(page.url(), `${url}/admin/orders/new`, 'who is logged in need not do it again')
    t.same(browserErrors.externalRequests, [])
    t.same(
      browserErrors.errors.filter((text) => !text.includes('status of 401')),
      [],
    )
  })
}

t.test('shows errors at empty and invalid fields', async (t) => {
  const { page } = await stranger(t, { viewport: PHONE })
  await page.goto(`${url}/admin/login`)
  await page.locator('form').evaluate((form: HTMLFormElement) => (form.noValidate = true))
  await page.getByRole('button', { name: 'Sign in' }).click()
  t.equal(await page.locator('#email-error').innerText(), 'Enter your email')
  t.equal(await page.locator('#password-error').innerText(), 'Enter your password')
  await waitForEqual(t, () => focused(page), 'email')
  await page.locator('form').evaluate((form: HTMLFormElement) => (form.noValidate = true))
  await fillIn(page, { email: 'admin', password: 'x' })
  await page.locator('#email-error', { hasText: 'email address' }).waitFor()
  t.equal(await page.getByLabel('Email').inputValue(), 'admin')
  t.equal(await page.getByLabel('Email').getAttribute('aria-invalid'), 'true')
})

t.test('never redirects to another site', async (t) => {
  const { context, page } = await stranger(t)
  const browserErrors = recordBrowserErrors(context, url)
  for (const to of [
    'https://evil.example/admin',
    '//evil.example/admin',
    '/\\evil.example/admin',
    'javascript:alert(1)',
    '/admin/../../evil',
    '/calculator/fuel',
    '/admin/logout',
  ]) {
    await context.clearCookies()
    await page.goto(`${url}/admin/login?${new URLSearchParams({ returnTo: to }).toString()}`)
    await fillIn(page)
    await page.waitForURL(`${url}/admin`)
    t.same(browserErrors, { errors: [], externalRequests: [] }, to)
  }
})

t.test('an expired session redirects to the sign-in, and back', async (t) => {
  const { context, page } = await stranger(t)
  await page.goto(`${url}/admin/login?returnTo=/admin?range=7d`)
  await fillIn(page)
  await page.waitForURL(`${url}/admin?range=7d`)
  await context.clearCookies()
  await page.getByRole('link', { name: '90 days' }).click()
  await page.waitForURL(/\/admin\/login\?returnTo=/)
  await fillIn(page)
  await page.waitForURL(`${url}/admin?range=90d`)

  await page.goto(`${url}/admin/orders/1/edit?group=notes`)
  await page.locator('#notes').fill('typed before the session ended')
  await context.clearCookies()
  await page.getByRole('button', { name: 'Save' }).click()
  const [login] = await Promise.all([
    context.waitForEvent('page'),
    page.getByRole('link', { name: 'Sign in again in a new tab' }).click(),
  ])
  await fillIn(login)
  await login.waitForURL(/\/admin\/orders\/1\/edit/)
  await page.bringToFront()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('.notes', { hasText: 'typed before the session ended' }).waitFor()
  t.equal(await page.getByText('Your session has expired').count(), 0)
})

for (const [device, viewport] of DEVICES) {
  t.test(`shows nothing private after signing out on a ${device}`, async (t) => {
    const { context, page } = await stranger(t, { viewport })
    await page.goto(`${url}/admin/login`)
    await fillIn(page)
    await page.waitForURL(`${url}/admin`)
    await page.goto(`${url}/admin/orders`)
    await page.goto(`${url}/admin/orders/7?at=3`)
    t.ok(await secrets(page), 'an order is seen')
    const before = await context.cookies()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You have signed out').waitFor()
    t.equal(await secrets(page), undefined)
    for (let steps = 0; steps < 3; steps++) {
      await page.goBack()
      await page.waitForURL(/\/admin\/login/)
      t.equal(await secrets(page), undefined, 'nor by going back')
    }
    // A copied cookie is no longer valid.
    await context.addCookies(before)
    await page.goto(`${url}/admin/orders`)
    t.match(page.url(), /\/admin\/login/)
  })
}

t.test('signing out affects every window', async (t) => {
  const { context, page } = await stranger(t)
  await page.goto(`${url}/admin/login?returnTo=/admin/orders`)
  await fillIn(page)
  await page.waitForURL(`${url}/admin/orders`)
  const other = await context.newPage()
  await other.goto(`${url}/admin`)
  await other.getByRole('button', { name: 'Sign out' }).click()
  await other.getByText('You have signed out').waitFor()
  await page.bringToFront()
  await page.getByRole('link', { name: 'Next' }).click()
  await page.waitForURL(/\/admin\/login\?returnTo=%2Fadmin%2Forders/)
})

for (const javaScriptEnabled of [true, false]) {
  t.test(`by keyboard alone, scripts ${javaScriptEnabled ? 'on' : 'off'}`, async (t) => {
    const { page } = await stranger(t, { javaScriptEnabled })
    await page.goto(`${url}/admin/orders`)
    await page.locator('#email:focus').waitFor()
    await page.keyboard.type(ADMIN.email)
    await page.keyboard.press('Tab')
    await page.keyboard.type('wrong')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await page.locator('#password:focus').waitFor()
    await page.keyboard.type(ADMIN.password)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${url}/admin/orders`)
    t.equal(await page.locator('.row-link').count(), 25)
    await page.getByRole('button', { name: 'Sign out' }).press('Enter')
    await page.getByText('You have signed out').waitFor()
    await page.goBack()
    t.match(page.url(), /\/admin\/login/)
    t.equal(await secrets(page), undefined)
  })
}

for (const [device, options] of ACCESSIBILITY_VARIANTS) {
  t.test(`the sign-in page is accessible on ${device}`, async (t) => {
    const { page } = await stranger(t, options)
    const check = (name: string) => checkAccessibility(t, page, name)
    await page.goto(`${url}/admin/login?out`)
    await check('after logging out')
    await fillIn(page, { email: `${'x'.repeat(60)}@example.com`, password: 'wrong' })
    await page.getByRole('alert').waitFor()
    await check('after a wrong password')
    await page.locator('form').evaluate((form: HTMLFormElement) => (form.noValidate = true))
    await fillIn(page, { email: 'nobody', password: '' })
    await page.locator('#password-error').waitFor({ state: 'visible' })
    await check('with fields that are wrong')
    await fillIn(page)
    await page.waitForURL(`${url}/admin`)
    await page.goto(`${url}/admin/orders/1/edit?group=notes`)
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Your session has expired').waitFor()
    await check('a session that has ended')
  })
}
