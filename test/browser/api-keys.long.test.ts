import t from 'tap'
import { DESKTOP, recordBrowserErrors } from '../support/browser.js'
import { adminContext, startPortal } from '../support/portal.js'
import { sharedBrowser } from '../support/shared-browser.js'
import { checkAllVariants } from './check-all-variants.js'

const browser = await sharedBrowser()

t.test('an administrator creates, copies and revokes a key', async (t) => {
  const service = await startPortal(t, [])
  const context = await adminContext(t, browser, service, { viewport: DESKTOP })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: service.url })
  const browserErrors = recordBrowserErrors(context, service.url)
  const page = await context.newPage()

  await page.goto(`${service.url}/admin`)
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('heading', { name: 'No API keys yet' }).waitFor()
  await checkAllVariants(t, page, 'no keys')
  await page.setViewportSize(DESKTOP)

  await page.getByRole('link', { name: 'Create key' }).click()
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByText('Fix 2 errors').waitFor()
  t.equal(await page.evaluate(() => document.activeElement?.id), 'name')
  await checkAllVariants(t, page, 'a form with errors')
  await page.setViewportSize(DESKTOP)

  await page.getByLabel('Name').fill('Web shop')
  await page.getByLabel('Read orders and their history').check()
  await page.getByRole('button', { name: 'Create key' }).click()
  const key = await page.locator('.secret code').innerText()
  t.match(key, /^cwk_/)
  await page.getByRole('button', { name: 'Copy' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  t.equal(await page.evaluate(() => navigator.clipboard.readText()), key)
  await checkAllVariants(t, page, 'a new key')
  await page.setViewportSize(DESKTOP)

  await page.getByRole('link', { name: 'Revoke Web shop' }).click()
  await checkAllVariants(t, page, 'revocation')
  await page.setViewportSize(DESKTOP)
  await page.getByRole('button', { name: 'Revoke key' }).click()
  await page.getByText('The key was revoked.').waitFor()
  t.equal(await page.locator('.settings-list .status').innerText(), 'Revoked')
  t.same(browserErrors.externalRequests, [])
  t.same(
    browserErrors.errors.filter((error) => !error.includes('422')),
    [],
  )
})
