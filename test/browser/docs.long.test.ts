import type { BrowserContextOptions, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { checkNoSidewaysScrolling } from '../support/accessibility.js'
import { DESKTOP, PHONE, recordBrowserErrors } from '../support/browser.js'
import { startOrderApi } from '../support/order-api.js'
import { measurePageWeight } from '../support/page-weight.js'
import { openBrowserContext } from '../support/shared-browser.js'
import { waitForEqual } from '../support/wait-for.js'
import { checkAllVariants } from './check-all-variants.js'

const api = await startOrderApi(t)
const { url } = api
const { body: key } = await api.call('POST', '/api/admin/api-keys', {
  name: 'Reference',
  scopes: ['orders:read', 'orders:write'],
})

const CREATE_ORDER = 'post-api-admin-orders'

async function openDocs(t: Test, options: BrowserContextOptions = {}, hash = '') {
  const { context, page } = await openBrowserContext(t, { viewport: DESKTOP, ...options })
  const browserErrors = recordBrowserErrors(context, url)
  await page.goto(`${url}/docs${hash}`)
  return { context, page, browserErrors }
}

const getCurrent = (page: Page) => page.locator('.docs-nav [aria-current]').innerText()
const isInView = (page: Page, id: string) =>
  page.evaluate((id) => {
    const { top, bottom } = document.getElementById(id)?.getBoundingClientRect() ?? new DOMRect()
    return top < innerHeight / 2 && bottom > 0
  }, id)

t.test('the navigation leads to operations, and follows the scroll position', async (t) => {
  const { page, browserErrors } = await openDocs(t)
  t.match(await getCurrent(page), 'Getting started')
  await page.locator('.docs-nav summary', { hasText: /^Orders$/ }).click()
  await page
    .getByRole('navigation')
    .getByRole('link', { name: /^Create an order/ })
    .click()
  t.match(page.url(), `#${CREATE_ORDER}`)
  await waitForEqual(t, () => isInView(page, CREATE_ORDER), true)
  await waitForEqual(t, async () => (await getCurrent(page)).startsWith('Create an order'), true)

  await page.locator('#post-api-qr-code-generate').scrollIntoViewIfNeeded()
  await page.locator('#post-api-qr-code-generate').evaluate((element) => element.scrollIntoView())
  await waitForEqual(t, async () => (await getCurrent(page)).startsWith('Generate a QR code'), true)
  const open = page.locator('.docs-nav nav details[open] > summary')
  await waitForEqual(
    t,
    () => open.allInnerTexts(),
    ['QR codes', 'Orders'],
    'the group in view is open',
  )
  t.same(browserErrors, { errors: [], externalRequests: [] })
})

t.test('the search finds operations by keyboard', async (t) => {
  const { page } = await openDocs(t)
  await page.keyboard.press('/')
  await page.keyboard.type('cancel order')
  const visible = page.locator('.docs-nav nav a:visible')
  t.match(await visible.allInnerTexts(), [/^Cancel an order/])
  await page.keyboard.press('Enter')
  await page.waitForURL(/#delete-api-admin-orders-id-/)

  await page.keyboard.press('/')
  await page.keyboard.type('xyzzy')
  t.same(await visible.count(), 0)
  t.equal(await page.locator('#docs-no-match').innerText(), 'No matches')
  await page.keyboard.press('Escape')
  await page.keyboard.type('beneficiary')
  t.match(await visible.allInnerTexts(), [/Order/], 'finds fields in the text of sections')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(/#object-/)
})

t.test('the language of the examples is remembered, and copied', async (t) => {
  const { context, page } = await openDocs(t, {}, `#${CREATE_ORDER}`)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url })
  const section = page.locator(`#${CREATE_ORDER}`)
  t.match(await section.locator('.samples pre:visible').innerText(), /^curl /)
  await section.getByRole('radio', { name: 'Python' }).check()
  t.match(await section.locator('.samples pre:visible').innerText(), /^import json/)
  const verify = page.locator('#webhook-events .samples pre:visible')
  t.match(await verify.innerText(), /^import base64/, 'in every section')
  await section.locator('.samples').getByRole('button', { name: 'Copy' }).click()
  await section.getByRole('button', { name: 'Copied' }).waitFor()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  t.match(copied, /^import json[^]*urlopen/)
  await page.reload()
  t.match(await section.locator('.samples pre:visible').innerText(), /^import json/)
})

t.test('sends a request with a key that is kept in the tab only', async (t) => {
  const { context, page, browserErrors } = await openDocs(t)
  const section = page.locator(`#${CREATE_ORDER}`)
  await section.getByRole('button', { name: 'Try it' }).click()
  await section.getByLabel('API key').fill('cwk_wrong')
  await section.getByRole('button', { name: 'Send request' }).click()
  await section.locator('.outcome strong', { hasText: '401' }).waitFor()

  await section.getByLabel('API key').fill(`Bearer ${key.key}`)
  await section.getByLabel('idempotency-key').fill('購入')
  await section.getByRole('button', { name: 'Send request' }).click()
  await section.locator('.outcome', { hasText: 'idempotency-key must be Latin text.' }).waitFor()
  await section.getByLabel('idempotency-key').fill('')
  await section.getByRole('button', { name: 'Send request' }).click()
  await section.locator('.outcome strong', { hasText: '201' }).waitFor()
  await section.getByLabel('API key').fill(key.key as string)
  t.match(await section.locator('.outcome .code').innerText(), /"orderNumber": "CW-/)
  await section.locator('.outcome summary').click()
  t.match(await section.locator('.outcome details').innerText(), /etag: "1"/)
  // The whole page is checked with all other pages.
  await checkAllVariants(t, page, 'a response', `#${CREATE_ORDER}`)
  await page.setViewportSize(DESKTOP)

  await section.getByLabel('Body').fill('{ "currency": "euro" }')
  await section.getByRole('button', { name: 'Send request' }).click()
  await section.locator('.outcome strong', { hasText: '422' }).waitFor()
  t.match(await section.locator('.outcome .code').innerText(), /customerName is required/)

  const list = page.locator('#get-api-admin-orders')
  await list.getByRole('button', { name: 'Try it' }).click()
  t.equal(await list.getByLabel('API key').inputValue(), key.key, 'the key is filled in')
  await list.getByLabel('pageSize').fill('1')
  await list.getByRole('button', { name: 'Send request' }).click()
  await list.locator('.outcome strong', { hasText: '200' }).waitFor()
  t.match(await list.locator('.outcome .code').innerText(), /"pageSize": 1/)

  const one = page.locator('#get-api-admin-orders-id-')
  await one.getByRole('button', { name: 'Try it' }).click()
  await one.locator('[name="path.id"]').fill('')
  await one.getByRole('button', { name: 'Send request' }).click()
  t.equal(await one.locator('[name="path.id"]:invalid').count(), 1, 'an ID is required')
  t.equal(await one.locator('.outcome strong').count(), 0, 'nothing is sent without it')

  t.notMatch(page.url(), 'cwk_')
  const stored = await page.evaluate(() => JSON.stringify(Object.entries(localStorage)))
  t.notMatch(stored, 'cwk_')
  t.same(await context.cookies(), [])
  t.same(
    browserErrors.errors.filter((error) => !/status of 4\d\d/.test(error)),
    [],
    'no violation of the Content Security Policy',
  )
  t.same(browserErrors.externalRequests, [])
})

t.test('a phone shows the contents on demand', async (t) => {
  const { page } = await openDocs(t, { viewport: PHONE })
  const link = page.getByRole('navigation').getByRole('link', { name: 'Errors' })
  t.equal(await link.isVisible(), false)
  await page.locator('.docs-menu summary').click()
  await link.click()
  await waitForEqual(t, () => isInView(page, 'errors'), true)
  t.equal(await link.isVisible(), false, 'closes')
  await checkNoSidewaysScrolling(t, page, 'the reference')
})

t.test('everything can be read without scripts', async (t) => {
  const { page } = await openDocs(t, { javaScriptEnabled: false })
  t.equal(await page.getByRole('button', { name: 'Try it' }).first().isVisible(), false)
  const section = page.locator(`#${CREATE_ORDER}`)
  await section.getByRole('radio', { name: 'JavaScript' }).check()
  t.match(await section.locator('.samples pre:visible').innerText(), /await fetch/)
  await page.locator('.docs-nav summary', { hasText: /^Webhooks$/ }).click()
  await page
    .getByRole('link', { name: /^Send a test event/ })
    .first()
    .click()
  await page.waitForURL(/#post-api-admin-webhooks-id-test/)
})

t.test('loads at most 90 kB', async (t) => {
  const { page } = await openBrowserContext(t)
  const { bytes, paths } = await measurePageWeight(page, `${url}/docs`)
  t.ok(bytes > 20_000 && bytes <= 90_000, `${bytes} bytes: ${paths.join(' ')}`)
})
