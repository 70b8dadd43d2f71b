import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { DESKTOP, PHONE, recordBrowserErrors } from '../support/browser.js'
import { newOrder } from '../support/order-store.js'
import { startTwoAdmins } from '../support/page-client.js'
import { adminContext } from '../support/portal.js'
import { sharedBrowser } from '../support/shared-browser.js'

const service = await startTwoAdmins(t, { LOGIN_LIMIT_PER_CLIENT: '1000' })
const { url, ann, ben } = service
const browser = await sharedBrowser()

const ORDERS = '/api/admin/orders'

/** Texts that break templates, scripts or layouts without escaping; `pwned` shows if one did. */
const TEXTS = [
  '<img src=/pwned onerror=alert(1)>',
  '"><script src=/pwned></script>',
  `' onmouseover='alert(1)' autofocus onfocus=alert(1) x='`,
  '{{7*7}} ${7*7} #{7*7} <%= 7*7 %> <%~ it %>',
  'x-data="{a: alert(1)}" x-init="alert(1)"',
  'hx-get="/pwned" hx-trigger="load"',
  '<hx-partial hx-target="body">/pwned</hx-partial>',
  '`${alert(1)}` $& $1 $` \\u003cb\\u003e',
  '</textarea></title></style><svg onload=alert(1)>',
  '&lt;b&gt; &amp;amp; &#x3c;i&#x3e; %3Cb%3E',
  'javascript:alert(1)//--><!-- --!>',
  'سفينة الشمال 12 שלום (עברית) abc',
  'W'.repeat(80),
  '船'.repeat(80),
  '👩‍👩‍👧'.repeat(8),
  'a\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308'.repeat(8),
] as const

const text = (index: number): string => TEXTS[index % TEXTS.length] ?? ''
const ALL = TEXTS.join('\n')
const EMAIL = "{{7*7}}'`${1}`=onfocus='%3cb%3e&lt@example.com"

interface Hostile {
  id: string
  orderNumber: string
  customerName: string
  vesselName: string
  orderSourceId: string
  description: string
}

/** An order with a hostile text in each field. */
async function enter(index: number): Promise<Hostile> {
  const fields = {
    customerName: text(index),
    vesselName: text(index + 1),
    orderSourceId: text(index + 2),
  }
  const description = text(index + 3)
  const { id, orderNumber } = await ann.call('POST', ORDERS, {
    ...newOrder(),
    ...fields,
    customerEmail: EMAIL,
    notes: ALL,
    calculatorType: 'custom',
    calculatorData: { amount: 1, unit: 't', description },
  })
  return { id, orderNumber, description, ...fields }
}

/** Opens a page that records effects of hostile texts. */
async function watched(t: Test, viewport: { width: number; height: number }) {
  const context = await adminContext(t, browser, service, { viewport })
  const browserErrors = recordBrowserErrors(context, url)
  const done: string[] = []
  context.on('request', (request) => {
    if (new URL(request.url()).pathname.includes('pwned')) done.push(request.url())
  })
  context.on('dialog', (dialog) => {
    done.push(`${dialog.type()} ${dialog.message()}`)
    void dialog.dismiss()
  })
  const page = await context.newPage()
  /** Asserts that the texts of a page had no effect. */
  const check = async (name: string): Promise<void> => {
    await page.mouse.move(200, 400)
    const made = await page.evaluate(() => {
      const all = [...document.querySelectorAll('main *, #messages *')]
      const odd = all.filter(
        (element) =>
          element.matches(
            'script, img, iframe, style:not([nonce]), b, i, hx-partial, [x-data], [x-init]',
          ) ||
          element.getAttributeNames().some((attribute) => attribute.startsWith('on')) ||
          element.getAttribute('hx-get')?.startsWith('/pwned'),
      )
      return odd.map(({ outerHTML }) => outerHTML)
    })
    t.same(made, [], `${name}: no element is made of it`)
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    t.equal(overflow, 0, `${name} does not scroll sideways`)
    t.same(done, [], `${name}: nothing was run, asked for or said`)
    const errors = browserErrors.errors.filter((error) => !/status of (?:409|412|422)/.test(error))
    t.same([...errors, ...browserErrors.externalRequests], [], `${name}: the console is silent`)
  }
  return { context, page, check }
}

/** The text content of an element. */
const textOf = (page: Page, selector: string) => page.locator(selector).first().textContent()

const valueOf = (page: Page, id: string) => page.locator(`#${id}`).inputValue()

for (const [device, viewport] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
  t.test(`shows hostile text in an order as plain text on a ${device}`, async (t) => {
    const { page, check } = await watched(t, viewport)
    for (const index of TEXTS.keys()) {
      const order = await enter(index)
      const { customerName, vesselName } = order
      await page.goto(`${url}/admin/orders/${order.id}?at=0`)
      t.equal(await page.title(), `${order.orderNumber} · Clearwake`)
      t.equal(await textOf(page, '.subtitle bdi'), customerName)
      t.equal(await textOf(page, '#group-customer .name bdi'), customerName)
      t.equal(await textOf(page, '#group-customer a[href^=mailto] bdi'), EMAIL)
      t.equal(
        await page.locator('#group-customer a[href^=mailto]').getAttribute('href'),
        `mailto:${EMAIL.split('@').map(encodeURIComponent).join('@')}`,
      )
      t.equal(await textOf(page, '#group-vessel .name bdi'), vesselName)
      t.equal(await textOf(page, '#group-provider code'), order.orderSourceId)
      t.equal(await textOf(page, '#group-notes .notes'), ALL)
      t.ok((await textOf(page, '#trip'))?.includes(order.description))
      await check(`order ${index}`)

      for (const group of ['Customer', 'Vessel', 'Offset order', 'Notes']) {
        await page.getByRole('button', { name: `Edit ${group}`, exact: true }).click()
      }
      await page.locator('#notes').waitFor()
      t.equal(await valueOf(page, 'customerName'), customerName)
      t.equal(await valueOf(page, 'customerEmail'), EMAIL)
      t.equal(await valueOf(page, 'vesselName'), vesselName)
      t.equal(await valueOf(page, 'orderSourceId'), order.orderSourceId)
      t.equal(await valueOf(page, 'notes'), ALL)
      await check(`forms of order ${index}`)
    }
  })

  t.test(
    `shows hostile text in lists and confirmations as plain text on a ${device}`,
    async (t) => {
      const { page, check } = await watched(t, viewport)
      await page.goto(`${url}/admin/orders?sort=orderNumber&pageSize=100`)
      const { items } = await ann.call('GET', `${ORDERS}?sort=orderNumber&pageSize=100`)
      const names = await page.locator('tbody td:nth-child(4) bdi').allTextContents()
      t.same(
        names,
        items.map(({ customerName }: any) => customerName),
      )
      t.ok(names.length >= TEXTS.length)
      await check('the list')

      for (const box of await page.locator('[name=order]').all()) await box.check()
      await page.getByRole('button', { name: 'Cancel orders…' }).click()
      await page.getByRole('heading', { name: /^Cancel \d+ orders\?$/ }).waitFor()
      t.same(await page.locator('.confirm-list bdi').allTextContents(), names)
      await check('the bulk confirmation')

      for (const query of TEXTS) {
        await page.goto(`${url}/admin/orders?${new URLSearchParams({ q: query }).toString()}`)
        t.equal(await valueOf(page, 'q'), query)
        t.equal(await textOf(page, '.chip bdi'), query)
        await check(`a search for ${query.slice(0, 20)}`)
      }
      await page.goto(`${url}/admin/orders`)
      await page.locator('#q').fill(text(0))
      await page.waitForURL(/q=/)
      t.equal(await textOf(page, '.chip bdi'), text(0))
      for (const name of TEXTS.slice(0, 9)) {
        await page.locator('#views > summary').click()
        await page.getByLabel('Save this list as').fill(name)
        await page.getByRole('button', { name: 'Save', exact: true }).click()
        await page.getByText('The view was saved.').waitFor()
      }
      const saved = await page.locator('#views a').allTextContents()
      t.same(saved.toSorted(), TEXTS.slice(0, 9).toSorted())
      for (const name of saved) {
        await page.locator('#views > summary').click()
        await page.getByRole('button', { name: `Remove view ${name}`, exact: true }).click()
        await page.getByText('The view was removed.').waitFor()
      }
      await check('saved views')
      await page.goto(`${url}/admin?range=7d`)
      await page.waitForFunction(() => document.querySelectorAll('.apexcharts-svg').length === 2)
      await check('the dashboard')
    },
  )

  t.test(`shows hostile text in messages and histories as plain text on a ${device}`, async (t) => {
    const { page, check } = await watched(t, viewport)
    const { id, orderNumber, ...before } = await enter(0)
    for (const index of TEXTS.keys()) {
      await ben.call('PATCH', `${ORDERS}/${id}`, {
        customerName: text(index + 4),
        vesselName: text(index + 5),
        orderSourceId: text(index + 6),
        notes: text(index + 7),
      })
    }
    await page.goto(`${url}/admin/orders/${id}`)
    const history = await page.locator('#history :is(ins, del)').allTextContents()
    for (const [index, one] of TEXTS.entries()) t.ok(history.includes(one), `text ${index}`)
    t.ok(history.includes(ALL))
    t.ok(history.includes(before.customerName))
    await check('the history')

    await page.getByRole('button', { name: 'Edit Customer' }).click()
    await page.locator('#customerName').fill(text(8))
    await ben.call('PATCH', `${ORDERS}/${id}`, { customerName: text(1), vesselName: text(2) })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.conflict').waitFor()
    t.equal(await textOf(page, '.current-value bdi'), text(1))
    t.ok((await textOf(page, '.conflict'))?.includes(text(2)))
    t.equal(await valueOf(page, 'customerName'), text(8))
    await check('a conflict')
    await page.locator('#customerEmail').fill('"><img src=/pwned onerror=alert(1)>')
    await page.getByRole('button', { name: 'Overwrite' }).click()
    await page.locator('#customerEmail-error').waitFor({ state: 'visible' })
    t.equal(await valueOf(page, 'customerEmail'), '"><img src=/pwned onerror=alert(1)>')
    await check('a wrong field')
    await page.locator('#customerEmail').fill(EMAIL)
    await page.locator('#group-customer button').click()
    await page.locator('.message', { hasText: `${orderNumber} was saved` }).waitFor()
    t.equal(await textOf(page, '#group-customer .name bdi'), text(8))
    await check('saved')

    await ben.call('PATCH', `${ORDERS}/${id}`, { customerName: text(12), vesselName: text(13) })
    await page.getByRole('button', { name: 'Mark as paid' }).click()
    await page.locator('#notice').waitFor()
    t.ok((await textOf(page, '#notice'))?.includes(text(12)))
    await check('a move that came too late')
    for (const [customerName, vesselName] of [
      [text(0), text(8)],
      [text(12), text(13)],
    ]) {
      await ben.call('PATCH', `${ORDERS}/${id}`, { customerName, vesselName })
      await page.reload()
      await page.locator('#cancel-order').click()
      await page.getByRole('dialog').waitFor()
      t.same(await page.locator('dialog bdi').allTextContents(), [customerName, vesselName])
      await check('the question before cancelling')
      await page.keyboard.press('Escape')
      await page.goto(`${url}/admin/orders/${id}/cancel`)
      t.same(await page.locator('.dialog bdi').allTextContents(), [customerName, vesselName])
      await check('the same as a page')
      await page.goBack()
    }
  })

  t.test(
    `keeps hostile text in the form of a new order as plain text on a ${device}`,
    async (t) => {
      const { page, check } = await watched(t, viewport)
      await page.goto(`${url}/admin/orders/new`)
      await page.locator('#customerName').fill(text(0))
      await page.locator('#customerEmail').fill(text(1))
      await page.locator('#vesselName').fill(text(2))
      await page.locator('#imoNumber').fill(text(3).slice(0, 12))
      await page.getByRole('radio', { name: 'CO₂e amount' }).check()
      await page.locator('#custom-description').fill(text(8))
      await page.locator('#custom-amount').fill('"><b>')
      await page.locator('#custom-amount-error').waitFor({ state: 'visible' })
      await page.locator('#amount').fill('<i>1</i>')
      await page.locator('#orderSourceId').fill(text(6))
      await page.locator('#notes').fill(ALL)
      await check('while it is typed')
      await page.getByRole('button', { name: 'Create order' }).click()
      await page.locator('.order-alert').waitFor()
      t.equal(await valueOf(page, 'customerName'), text(0))
      t.equal(await valueOf(page, 'customerEmail'), text(1))
      t.equal(await valueOf(page, 'vesselName'), text(2))
      t.equal(await valueOf(page, 'custom-description'), text(8))
      t.equal(await valueOf(page, 'custom-amount'), '"><b>')
      t.equal(await valueOf(page, 'amount'), '<i>1</i>')
      t.equal(await valueOf(page, 'orderSourceId'), text(6))
      t.equal(await valueOf(page, 'notes'), ALL)
      await check('with errors')
    },
  )
}
