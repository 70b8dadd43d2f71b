import t from 'tap'
import { DESKTOP, recordBrowserErrors } from '../support/browser.js'
import { adminContext, startPortal } from '../support/portal.js'
import { sharedBrowser } from '../support/shared-browser.js'
import { waitFor } from '../support/wait-for.js'
import { startReceiver } from '../support/webhook-receiver.js'
import { checkAllVariants } from './check-all-variants.js'

const browser = await sharedBrowser()

t.test('an administrator adds an endpoint and watches its deliveries', async (t) => {
  const receiver = await startReceiver(t)
  const service = await startPortal(t, [], { WEBHOOK_ALLOW_LOOPBACK: 'true' })
  const context = await adminContext(t, browser, service, { viewport: DESKTOP })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: service.url })
  const browserErrors = recordBrowserErrors(context, service.url)
  const page = await context.newPage()

  await page.goto(`${service.url}/admin`)
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await page.getByRole('heading', { name: 'No endpoints yet' }).waitFor()
  await checkAllVariants(t, page, 'no endpoints')
  await page.setViewportSize(DESKTOP)

  await page.getByRole('link', { name: 'Add endpoint' }).click()
  await page.getByLabel('URL').fill('http://shop.example.com/hooks')
  await page.getByRole('button', { name: 'Add endpoint' }).click()
  await page.getByText('Must be an https URL').waitFor()
  t.equal(await page.evaluate(() => document.activeElement?.id), 'url')
  await checkAllVariants(t, page, 'a form with errors')
  await page.setViewportSize(DESKTOP)

  await page.getByLabel('URL').fill(`${receiver.url}/${'long-path-'.repeat(12)}`)
  await page.getByLabel('Name').fill('Web shop')
  await page.getByRole('button', { name: 'Add endpoint' }).click()
  await page.getByRole('heading', { name: 'Web shop' }).waitFor()
  const secret = await page.locator('.secret code').innerText()
  t.match(secret, /^whsec_/)
  await page.getByRole('button', { name: 'Copy' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  t.equal(await page.evaluate(() => navigator.clipboard.readText()), secret)
  await checkAllVariants(t, page, 'a new endpoint with its secret')
  await page.setViewportSize(DESKTOP)

  receiver.respond = (_request, response) =>
    response.writeHead(500).end(`Error\n${'<b>not found</b> '.repeat(100)}`)
  await page.getByRole('button', { name: 'Send test event' }).click()
  await page.locator('.status.failed').waitFor()
  await page.locator('.deliveries summary').click()
  await page.getByText('<b>not found</b>').waitFor()
  await checkAllVariants(t, page, 'a failed delivery')
  await page.setViewportSize(DESKTOP)

  receiver.respond = (_request, response) => void setTimeout(() => response.end('{}'), 1_500)
  await page.getByRole('button', { name: 'Send test event' }).click()
  await page.locator('.deliveries summary', { hasText: 'Pending' }).click()
  await page.locator('.status.sent').waitFor()
  t.equal(await page.locator('.deliveries details[open]').count(), 1, 'stays open')
  await waitFor(async () => receiver.requests.length === 2)

  await page.getByRole('link', { name: 'Delete…' }).click()
  await checkAllVariants(t, page, 'deletion')
  await page.setViewportSize(DESKTOP)
  await page.getByRole('link', { name: 'Keep endpoint' }).click()
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await checkAllVariants(t, page, 'the list of endpoints')
  t.same(browserErrors.externalRequests, [])
  t.same(
    browserErrors.errors.filter((error) => !error.includes('422')),
    [],
  )
})
