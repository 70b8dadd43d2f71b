import t from 'tap'
import { launchBrowser, recordBrowserErrors } from '../support/browser.js'
import { adminContext, manyOrders, startPortal } from '../support/portal.js'
import { checkAllVariants } from './check-all-variants.js'

const PHONE = { width: 390, height: 844 }

const browser = await launchBrowser()
t.teardown(() => browser.close())

t.test('an owner invites a viewer, who signs in on a phone', async (t) => {
  const service = await startPortal(t, manyOrders(3))
  const owner = await adminContext(t, browser, service, { viewport: PHONE })
  const errors = recordBrowserErrors(owner, service.url)
  const page = await owner.newPage()
  await page.goto(`${service.url}/admin/settings/people`)
  await page.getByRole('textbox', { name: 'Email' }).fill('vera@example.com')
  await page.getByLabel('Viewer').check()
  await page.getByRole('button', { name: 'Invite' }).click()
  const link = await page.locator('.secret code').innerText()
  await checkAllVariants(t, page, 'an invitation')

  const viewer = await browser.newContext({ viewport: PHONE })
  t.teardown(() => viewer.close())
  const phone = await viewer.newPage()
  await phone.goto(link)
  await checkAllVariants(t, phone, 'choosing a password')
  await phone.setViewportSize(PHONE)
  await phone.getByLabel('New password', { exact: true }).fill('quiet harbour at dusk')
  await phone.getByLabel('Repeat the new password').fill('quiet harbour at dusk')
  await phone.getByLabel('Repeat the new password').press('Enter')
  await phone.getByText('Your password is set').waitFor()
  await phone.getByRole('textbox', { name: 'Email' }).fill('vera@example.com')
  await phone.getByLabel('Password', { exact: true }).fill('quiet harbour at dusk')
  await phone.getByRole('button', { name: 'Sign in' }).click()
  await phone.getByRole('navigation').getByRole('link', { name: 'Orders' }).click()
  await phone.getByRole('link', { name: 'CW-000001' }).waitFor()
  t.equal(await phone.getByRole('link', { name: 'Settings' }).count(), 0)
  t.equal(await phone.getByRole('link', { name: 'New order' }).count(), 0)
  await checkAllVariants(t, phone, 'the list of a viewer')
  await phone.setViewportSize(PHONE)
  await phone.goto(`${service.url}/admin/account`)
  await phone.getByRole('link', { name: 'Change password' }).click()
  await checkAllVariants(t, phone, 'changing the password')

  await page.setViewportSize(PHONE)
  await page.goto(`${service.url}/admin/settings/people`)
  await page.getByRole('link', { name: 'Delete vera@example.com' }).click()
  await page.getByRole('button', { name: 'Delete account' }).click()
  await page.getByText('The account was deleted.').waitFor()
  await phone.goto(`${service.url}/admin/orders`)
  await phone.getByRole('heading', { name: 'Sign in' }).waitFor()
  t.same(errors.errors, [])
})
