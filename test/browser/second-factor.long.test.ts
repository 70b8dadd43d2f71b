import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { checkAccessibility } from '../support/accessibility.js'
import { startApp } from '../support/app.js'
import { launchBrowser, PHONE } from '../support/browser.js'
import { freePort } from '../support/free-port.js'
import { ADMIN, ADMIN_ACCOUNTS, postLogin } from '../support/sign-in.js'

// Passkeys need a host name, and browsers accept localhost without HTTPS.
const browser = await launchBrowser()
t.teardown(() => browser.close())

async function startService(t: Test, environment: NodeJS.ProcessEnv = {}): Promise<string> {
  const port = String(await freePort())
  const PUBLIC_BASE_URL = `http://localhost:${port}`
  await startApp(t, { PORT: port, PUBLIC_BASE_URL, ADMIN_ACCOUNTS, ...environment })
  return PUBLIC_BASE_URL
}

/** Opens a page of a browser that has an authenticator, such as a fingerprint reader. */
async function openPage(t: Test): Promise<Page> {
  const context = await browser.newContext({ viewport: PHONE })
  t.teardown(() => context.close())
  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  })
  return page
}

async function enterPassword(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/admin/login`)
  await page.getByLabel('Email').fill(ADMIN.email)
  await page.getByLabel('Password').fill(ADMIN.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await page.waitForURL(/\/admin\/login/)
}

const getPath = (page: Page): string => new URL(page.url()).pathname

const readCodes = async (page: Page): Promise<string[]> =>
  (await page.locator('.recovery-codes').innerText()).trim().split('\n')

t.test('a passkey signs in alone, as second factor, and confirms a session', async (t) => {
  const url = await startService(t)
  const page = await openPage(t)
  await enterPassword(page, url)
  await page.goto(`${url}/admin/account/second-factor`)
  t.match(await page.locator('main').innerText(), /Anyone who learns your password/)
  await checkAccessibility(t, page, 'without a second factor')
  await page.getByLabel('Name').fill('Quay phone')
  await page.getByRole('button', { name: 'Add passkey' }).click()
  await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor()
  t.equal((await readCodes(page)).length, 10)
  await page.getByRole('link', { name: 'I have saved them' }).click()
  t.match(await page.locator('main').innerText(), /Quay phone\s+Added .* Never used/)
  await checkAccessibility(t, page, 'with a passkey')

  await signOut(page)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.waitForURL(`${url}/admin`)

  await signOut(page)
  await enterPassword(page, url)
  t.equal(getPath(page), '/admin/login/verify')
  await page.goto(`${url}/admin/orders`)
  t.equal(getPath(page), '/admin/login', 'the password alone gives no access')
  await enterPassword(page, url)
  await checkAccessibility(t, page, 'second step')
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await page.waitForURL(`${url}/admin`)

  await page.goto(`${url}/admin/confirm?returnTo=/admin/account`)
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await page.waitForURL(`${url}/admin/account`)

  await page.goto(`${url}/admin/account/second-factor`)
  await page.getByRole('button', { name: 'Remove the passkey Quay phone' }).click()
  t.match(await page.locator('#messages').innerText(), /The passkey was removed/)
  await signOut(page)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  t.match(await page.getByRole('alert').first().innerText(), /could not be verified/)
})

t.test('an authenticator app and recovery codes', async (t) => {
  const url = await startService(t, { REQUIRE_SECOND_FACTOR: 'true' })
  const page = await openPage(t)
  t.equal((await postLogin(url)).status, 403, 'the API needs a second factor, too')
  await enterPassword(page, url)
  t.equal(getPath(page), '/admin/account/second-factor', 'it is set up first')
  t.match(await page.getByRole('alert').first().innerText(), /Set up a second factor to continue/)
  await page.goto(`${url}/admin/orders`)
  t.equal(getPath(page), '/admin/account/second-factor')

  await page.getByRole('link', { name: 'Add app' }).click()
  await checkAccessibility(t, page, 'new app')
  const key = await page.locator('main code').innerText()
  const app = new TOTP({ secret: Secret.fromBase32(key.replaceAll(' ', '')) })
  const field = page.getByLabel('Enter the code that the app shows')
  await field.fill('000000')
  await page.getByRole('button', { name: 'Add app' }).click()
  t.match(await page.locator('#code-error').innerText(), /The code is wrong/)
  t.equal(await page.locator('main code').innerText(), key, 'the key stays the same')
  const firstCode = app.generate()
  await field.fill(firstCode)
  await page.getByRole('button', { name: 'Add app' }).click()
  await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor()
  await checkAccessibility(t, page, 'recovery codes')
  const [recoveryCode = ''] = await readCodes(page)
  await page.goto(`${url}/admin/orders`)
  t.equal(getPath(page), '/admin/orders')

  await signOut(page)
  await enterPassword(page, url)
  const code = page.getByLabel('Code from your authenticator app')
  await code.fill(firstCode)
  await page.getByRole('button', { name: 'Continue' }).click()
  t.match(await page.locator('#code-error').innerText(), /wrong, or was used before/)
  await code.fill(app.generate({ timestamp: Date.now() + 30_000 }))
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL(`${url}/admin`)

  await signOut(page)
  await enterPassword(page, url)
  await code.fill(recoveryCode.toUpperCase())
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL(`${url}/admin`)
  await page.goto(`${url}/admin/account/second-factor`)
  t.match(await page.locator('main').innerText(), /9 unused codes/)

  const used = await postLogin(url, { ...ADMIN, code: recoveryCode })
  t.equal(used.status, 401, 'a recovery code works once')
  const missing = await postLogin(url, ADMIN)
  t.equal(missing.status, 401)
  t.match(missing.body, { errors: [{ path: 'code' }] })
})
