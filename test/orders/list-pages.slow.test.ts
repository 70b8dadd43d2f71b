import t, { type Test } from 'tap'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { parseBulkForm, updateOrders } from '../../src/orders/pages/bulk-actions.js'
import { temporaryFolder } from '../support/app.js'
import { createGuest, placeOrder } from '../support/guest.js'
import { mailEnvironment } from '../support/mail-service.js'
import { fillStore, newOrder, RETIREMENT } from '../support/order-store.js'
import {
  HTMX_HEADERS,
  startTwoAdmins,
  type PageClient,
  type PageResponse,
} from '../support/page-client.js'
import { manyOrders } from '../support/portal.js'
import { startSmtpServer } from '../support/smtp-server.js'
import { openTestStore } from '../support/stores.js'

const LIST = '/admin/orders'
const WHOLE = { ...HTMX_HEADERS, 'hx-target': 'div#orders' }
const TABLE = { ...HTMX_HEADERS, 'hx-target': 'div#list' }

/** The service with sixty orders: ten of each status, twenty of each currency. */
async function start(t: Test, count = 60) {
  const DATA_DIR = temporaryFolder(t)
  await fillStore(getDatabasePath(DATA_DIR), 'UTC', manyOrders(count))
  return startTwoAdmins(t, { DATA_DIR })
}

/** The order numbers in the list, from top to bottom. */
const rows = ({ text }: PageResponse): string[] =>
  [...text.matchAll(/class="row-link"[^>]*>([^<]+)</g)].map(([, number = '']) => number)

const plain = (html: string): string =>
  html
    .replace(/<svg[^]*?<\/svg>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .trim()

const found = ({ text }: PageResponse): string =>
  plain(/<p class="result-count"[^>]*>[^]*?<\/p>/.exec(text)?.[0] ?? '')

const listChips = ({ text }: PageResponse): string[] =>
  [...text.matchAll(/<a class="chip"[^]*?<\/a>/g)].map(([chip]) => plain(chip))

/** The canonical URL of the list. */
const warning = ({ text }: PageResponse): string =>
  plain(/<p class="alert" role="alert">[^]*?<\/p>/.exec(text)?.[0] ?? '')

/** The result of a bulk change, if there is one. */
const summary = ({ text }: PageResponse): string =>
  plain(
    (
      /<div class="message[^"]*" id="outcome"[^]*?(?=<main|<\/hx-partial>)/.exec(text)?.[0] ?? ''
    ).replace(/<button[^]*?<\/button>/g, ''),
  )

/** Ids of the orders that are ticked. */
const listSelected = ({ text }: PageResponse): string[] =>
  [...text.matchAll(/name="order" value="(\d+):\d+"[^>]* checked>/g)].map(([, id = '']) => id)

/** How an order now is, by the API. */
const getOrder = (client: PageClient, id: number): Promise<any> =>
  client.call('GET', `/api/admin/orders/${id}`)

t.test('a URL opens the same list as the API', async (t) => {
  const { ann } = await start(t)
  for (const [query, count] of [
    ['', 60],
    ['q=zo%C3%AB', 20],
    ['q=CUSTOMER7', 1],
    ['status=paid', 10],
    ['status=paid&status=pending', 20],
    ['currency=JPY&sort=amountMinor', 20],
    ['status=paid&currency=USD&q=ben&sort=-co2eKg', 10],
    ['sort=vesselName&page=3', 60],
    ['sort=status&pageSize=50&page=2', 60],
    ['from=2001-01-01&to=2002-01-01', 0],
    ['from=2001-01-01&calculatorType=fuel', 0],
    ['q=%22%3E%3Cscript%3E', 0],
  ] as const) {
    const page = await ann.get(`${LIST}?${query}`)
    const api = await ann.call('GET', `/api/admin/orders?${query}`)
    t.equal(page.status, 200, query)
    t.equal(api.totalItems, count, query)
    t.equal(found(page), count === 0 ? 'No orders' : `${count} ${count === 1 ? 'order' : 'orders'}`)
    t.same(
      rows(page),
      api.items.map(({ orderNumber }: any) => orderNumber),
      query,
    )
    t.equal(warning(page), '', query)
  }
})

t.test('shows each filter with a link that removes it', async (t) => {
  const { ann } = await start(t)
  const query = 'q=ann&status=paid&status=pending&currency=EUR&from=2020-01-01&to=2030-12-31'
  const page = await ann.get(`${LIST}?${query}`, { 'accept-language': 'en-GB' })
  t.same(listChips(page), [
    'Search ann',
    'Status Paid',
    'Status Pending',
    'Currency EUR',
    'From 1 Jan 2020',
    'To 31 Dec 2030',
  ])
  const leads = [...page.text.matchAll(/<a class="chip" id="[^"]*" href="([^"]*)"/g)].map(
    ([, to = '']) => to.replaceAll('&amp;', '&'),
  )
  t.equal(leads[1], `${LIST}?${query.replace('status=paid&', '')}`)
  for (const [index, to] of leads.entries()) {
    t.equal(listChips(await ann.get(to)).length, 5, `without the ${index + 1}.`)
  }
  t.match(page.text, /name="status" value="paid" checked/)
  t.match(page.text, /<input id="from"[^>]* value="2020-01-01"/)
  t.match(page.text, /<option selected>EUR<\/option>/)
})

t.test('a fragment is the matching part of the page', async (t) => {
  const { ann } = await start(t)
  for (const query of ['', '?status=paid&sort=customerName', '?q=nobody', '?page=9', '?page=x']) {
    const page = await ann.get(LIST + query)
    const whole = await ann.get(LIST + query, WHOLE)
    const table = await ann.get(LIST + query, TABLE)
    t.ok(page.text.includes(`<div id="orders">${whole.text}</div>`), `${query}: all of the orders`)
    const [listed = '', badges = ''] = table.text.split(
      /(?=<hx-partial hx-target="#status-count")/,
      2,
    )
    t.ok(page.text.includes(`<div id="list">${listed.trimEnd()}`), `${query}: what is listed`)
    t.ok(whole.text.includes(listed.trimEnd()), query)
    const counts = badges.match(/<span class="count"[^]*?<\/span>/g) ?? []
    t.equal(counts.length, 7)
    for (const count of counts) t.ok(whole.text.includes(count), `${query}: ${count}`)
    t.ok(table.text.length > 100 && table.text.length < whole.text.length, query)
    for (const { headers } of [page, whole, table]) {
      t.match(headers.get('vary'), /Accept-Language, HX-Request, HX-Request-Type/)
      t.equal(headers.get('cache-control'), 'no-store')
    }
    const restored = await ann.get(LIST + query, { 'hx-request-type': 'full' })
    t.equal(restored.text, page.text, `${query}: going back gets the page`)
  }
})

t.test('the canonical URL has no blank or invalid parameters', async (t) => {
  const { ann } = await start(t)
  const kept = async (query: string, current = '/admin/orders?status=paid') =>
    (
      await ann.get(`${LIST}?${query}`, { ...TABLE, 'hx-current-url': `http://x${current}` })
    ).headers.get('hx-push-url')
  t.equal(await kept('q=&status=&currency=&from=&to=&sort=-placedAt&pageSize=25'), LIST)
  t.equal(await kept('q=a+b&sort=-placedAt&pageSize=50&page=1'), `${LIST}?q=a+b&pageSize=50`)
  t.equal(await kept('status=lost&from=x&currency=USD'), `${LIST}?currency=USD`)
  t.equal(await kept('status=paid&q='), 'false', 'does not add it to the history twice')
  t.equal((await ann.get(`${LIST}?q=a`)).headers.get('hx-push-url'), null, 'a page has its own')
})

t.test('reports invalid parameters, and shows the list without them', async (t) => {
  const { ann } = await start(t)
  const invalid: Record<string, string> = {
    'status=lost': '“Status”',
    'status=lost&status=paid': '“Status”',
    'calculatorType=fuel&calculatorType=sail': '“Calculator”',
    'currency=ZZZ': '“Currency”',
    'currency=eur': '“Currency”',
    'from=tomorrow': '“Placed from”',
    'from=2026-02-30': '“Placed from”',
    'to=2026-13-01': '“Placed up to”',
    'page=0': '“Page”',
    'page=-1': '“Page”',
    'page=1.5': '“Page”',
    'page=1e99': '“Page”',
    'page=99999999999999999999': '“Page”',
    'page=1&page=2': '“Page”',
    'pageSize=0': '“Orders per page”',
    'pageSize=101': '“Orders per page”',
    'sort=id': '“Sort order”',
    'sort=placedAt&sort=status': '“Sort order”',
    'q=a%00b': '“Search”',
    'q=a&q=b': '“Search”',
  }
  const warnings = {
    ...Object.fromEntries(
      Object.entries(invalid).map(([query, name]) => [
        query,
        `${name} was ignored: invalid value.`,
      ]),
    ),
    'from=x&status=lost&page=x': '“Status”, “Placed from” and “Page” were ignored: invalid values.',
    [`q=${'x'.repeat(201)}`]: '“Search” was ignored: it has more than 200 characters.',
  }
  for (const [query, text] of Object.entries(warnings)) {
    for (const headers of [{}, TABLE]) {
      const response = await ann.get(`${LIST}?${query}`, headers)
      t.equal(response.status, 200, query)
      t.equal(warning(response), text, query)
      t.equal(rows(response).length, 25, query)
    }
  }
  const reversed = await ann.get(`${LIST}?from=2026-02-01&to=2026-01-01&page=x`)
  t.equal(
    warning(reversed),
    '“Page” was ignored: invalid value. ' +
      '“Placed up to” was ignored: it is before “Placed from”.',
  )
  t.equal(listChips(reversed).length, 1, 'the first day stays')
})

t.test('explains sorting by amounts in different currencies', async (t) => {
  const { ann } = await start(t)
  const nextMessage = async (query: string) =>
    (await ann.get(LIST + query)).text.includes('within each currency')
  t.equal(await nextMessage('?sort=-amountMinor'), true)
  t.equal(await nextMessage('?sort=amountMinor&currency=EUR'), false)
  t.equal(await nextMessage('?sort=co2eKg'), false)
})

t.test('ignores unknown parameters', async (t) => {
  const { ann } = await start(t)
  for (const query of [
    'x=1',
    '__proto__=1',
    '__proto__[page]=9',
    'constructor=1',
    'toString=1',
    'status[]=paid',
    'q[]=1',
    '&&&==&',
    '%',
    'utm_source=<script>',
    'q=%20%20',
    'status=',
    'sort=',
  ]) {
    const page = await ann.get(`${LIST}?${query}`)
    t.equal(page.status, 200, query)
    t.equal(found(page), '60 orders', query)
    t.equal(warning(page), '', query)
    t.same(listChips(page), [], query)
  }
  for (const query of ['q=%ff', 'q=%E0%A4%A', 'q=%F0%9F%98%80', `q=${'%25'.repeat(60)}`]) {
    const page = await ann.get(`${LIST}?${query}`)
    t.equal(page.status, 200, query)
    t.equal(found(page), 'No orders', query)
  }
})

t.test('links to the last page from beyond the end', async (t) => {
  const { ann } = await start(t)
  for (const page of [4, 1_000_000_000]) {
    const response = await ann.get(`${LIST}?page=${page}`)
    t.equal(response.status, 200)
    t.match(plain(response.text), /This page does not exist Go to the last page/)
    t.match(response.text, `href="${LIST}?page=3"`)
  }
})

t.test('changes orders in bulk, and reports each rejection', async (t) => {
  const { ann } = await start(t)
  // Pending, paid, fulfilled, refunded, cancelled; one that is not there, and an old version.
  const selected = ['1:1', '2:1', '4:1', '5:1', '6:1', '999:1', '3:7'].map((one) => `order=${one}`)
  const form = new URLSearchParams(
    `${selected.join('&')}&action=fulfilled&list=sort%3DorderNumber%26pageSize%3D50`,
  )
  const response = await ann.post(`${LIST}/bulk`, form)
  t.equal(response.status, 200)
  t.equal(
    summary(response),
    '2 orders are now fulfilled. 1 order already had this status. 4 orders were not changed: ' +
      'CW-000005: refunded; can only be cancelled ' +
      'CW-000006: cancelled; can only become pending ' +
      'Order 999: not found ' +
      'CW-000003: changed by someone else',
  )
  t.same(rows(response).slice(0, 2), ['CW-000001', 'CW-000002'], 'shows the same list')
  t.equal(rows(response).length, 50)
  t.same(listSelected(response), ['3', '5', '6'], 'keeps rejected orders selected')
  t.match(response.text, /<select id="action"[^>]*>\s*<option value="">/, 'no status is at hand')
  for (const [id, status, version] of [
    [1, 'fulfilled', 2],
    [2, 'fulfilled', 2],
    [3, 'processing', 1],
    [4, 'fulfilled', 1],
    [5, 'refunded', 1],
    [6, 'cancelled', 1],
  ] as const) {
    t.match(await getOrder(ann, id), { status, version }, `order ${id}`)
  }
  const { items } = await ann.call('GET', '/api/admin/orders/1/history')
  t.match(items[0], { by: 'admin@example.com', changes: [{ field: 'status', to: 'fulfilled' }] })

  const fragment = await ann.post(`${LIST}/bulk`, form, WHOLE)
  t.notMatch(fragment.text, /<html/)
  t.match(
    summary(fragment),
    /^3 orders already had this status\. 4 orders were not changed:/,
    'a repeated request has the same result',
  )
  const paid = await ann.post(
    `${LIST}/bulk`,
    new URLSearchParams('order=3:1&order=4:1&action=paid'),
  )
  t.match(summary(paid), /processing; can only become fulfilled or refunded, or be cancelled/)
  t.match(summary(paid), /fulfilled; can only become refunded, or be cancelled/)
})

/** The fields of the undo form. */
const undoForm = ({ text }: PageResponse): URLSearchParams => {
  const [form = ''] =
    /<form(?=[^>]*>(?:<input[^>]*>)+<button class="secondary small">Undo)[^]*?<\/form>/.exec(
      text,
    ) ?? []
  return new URLSearchParams(
    [...form.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll('&amp;', '&'),
    ]),
  )
}

t.test('undoes a bulk change, except for orders changed since', async (t) => {
  const { ann } = await start(t)
  for (const [action, words] of [
    ['fulfilled', /^3 orders are now fulfilled\./],
    ['cancel', /^3 orders are now cancelled\./],
  ] as const) {
    const before = await Promise.all([1, 2, 3].map((id) => getOrder(ann, id)))
    const selected = before.map(({ id, version }) => `order=${id}:${version}`)
    const form = new URLSearchParams(
      `${selected.join('&')}&action=${action}&list=sort%3DorderNumber%26pageSize%3D50`,
    )
    const done = await ann.post(`${LIST}/bulk`, form)
    t.match(summary(done), words)
    const undo = undoForm(done)
    const other = await ann.call('PATCH', '/api/admin/orders/3', { notes: `since ${action}` })
    const undone = await ann.post(`${LIST}/bulk`, undo)
    t.match(
      summary(undone),
      /^Change undone for 2 orders\. 1 order was not changed: CW-000003: changed by someone else$/,
    )
    t.same([...undoForm(undone)], [], 'an Undo is not undone')
    t.equal(rows(undone).length, 50, 'shows the same list')
    for (const { id, status, version } of before.slice(0, 2)) {
      t.match(
        await getOrder(ann, Number(id)),
        { status, version: Number(version) + 2 },
        `order ${id}`,
      )
    }
    t.match(await getOrder(ann, 3), { status: other.status, version: other.version })
    t.match(summary(await ann.post(`${LIST}/bulk`, undo)), /^3 orders were not changed:/)
  }
})

t.test('changes an order selected twice once', async (t) => {
  const { ann } = await start(t)
  const form = new URLSearchParams('order=1:1&order=1:1&action=paid')
  t.match(summary(await ann.post(`${LIST}/bulk`, form)), /^1 order is now paid\.$/)
  t.match(await getOrder(ann, 1), { status: 'paid', version: 2 })
})

t.test('a bulk action stops at its time limit', async (t) => {
  const path = getDatabasePath(temporaryFolder(t))
  await fillStore(path, 'UTC', manyOrders(3))
  const store = await openTestStore(t, { path })
  const slow = {
    ...store,
    apply: async (...parameters: Parameters<typeof store.apply>) => {
      await new Promise((resolve) => setTimeout(resolve, 30))
      return store.apply(...parameters)
    },
  }
  const selection = ['1', '2', '3'].map((id) => ({ id, version: 1 }))
  const { changed, rejected } = await updateOrders(
    slow,
    selection,
    { type: 'cancel' },
    'ann',
    async () => null,
    10,
  )
  t.same(
    changed.map(({ id }) => id),
    ['1'],
  )
  t.match(rejected, [
    { id: '2', reason: 'not attempted' },
    { id: '3', reason: 'not attempted' },
  ])
  t.not((await store.get('2'))?.status, 'cancelled')
})

t.test('asks before marking orders as refunded in bulk, and groups failures', async (t) => {
  const { ann } = await start(t)
  const form = new URLSearchParams('order=1:1&order=2:1&order=4:1&action=refunded&list=')
  const question = await ann.post(`${LIST}/bulk`, form)
  t.match(
    plain(question.text),
    /Mark 3 orders as refunded\? .* CW-000001 .* CW-000002 .* CW-000004/,
  )
  t.match(await getOrder(ann, 2), { status: 'paid' }, 'asking changes nothing')
  form.set('confirmed', '1')
  form.append('order', '998:1')
  form.append('order', '999:1')
  t.equal(
    summary(await ann.post(`${LIST}/bulk`, form)),
    '2 orders are now refunded. 3 orders were not changed: ' +
      'CW-000001: pending; can only become paid, processing or fulfilled, or be cancelled ' +
      'Order 998 and Order 999: not found',
  )
  t.match(await getOrder(ann, 2), { status: 'refunded' })
})

t.test('a bulk change mailed guests and kept their money without a word', async (t) => {
  const smtp = await startSmtpServer(t)
  const { ann, url } = await startTwoAdmins(t, {
    ...(await mailEnvironment(smtp)),
    MAIL_HOLD_SECONDS: '60',
  })
  for (const email of ['ann@example.com', 'ben@example.com', 'ANN@example.com']) {
    await placeOrder(createGuest(url), { email })
  }
  await ann.call('POST', '/api/admin/orders', { ...newOrder(), status: 'paid' })
  const bulk = async (action: string, path = `${LIST}/bulk`, confirmed = false) => {
    const orders: any = await ann.call('GET', '/api/admin/orders')
    const selected = orders.items.map(({ id, version }: any) => `order=${id}:${version}`)
    const body = `${selected.join('&')}&action=${action}&list=${confirmed ? '&confirmed=1' : ''}`
    return plain((await ann.post(path, new URLSearchParams(body))).text)
  }
  const hold = 'Emails are sent after 60 seconds; undo before then and they are not sent.'
  t.match(await bulk('fulfilled'), `This emails 2 guests. ${hold}`, 'without evidence')
  for (const id of [1, 2, 3]) {
    await ann.call('PATCH', `/api/admin/orders/${id}`, { retirement: RETIREMENT })
  }
  t.match(await bulk('fulfilled'), `This emails 2 guests and publishes 3 certificates. ${hold}`)
  t.match(await getOrder(ann, 1), { status: 'pending' }, 'asking changes nothing')
  t.match(await bulk('fulfilled', undefined, true), /4 orders are now fulfilled/)

  const cancellation = await bulk('cancel', `${LIST}/bulk/cancellation`)
  t.match(
    cancellation,
    `This emails 2 guests, withdraws 3 certificates, and leaves €201.79 paid and not refunded (4 orders). ${hold}`,
  )
  t.match(await bulk('refunded'), `This emails 2 guests and withdraws 3 certificates. ${hold}`)
})

t.test('asks before changing all matching orders, at most 1,000', async (t) => {
  const { ann } = await start(t, 1_250)
  const english = { 'accept-language': 'en-GB' }
  const page = await ann.get(LIST, english)
  t.match(plain(page.text), 'The first 1,000 of 1,250')
  const bulk = (body: string, path = `${LIST}/bulk`) =>
    ann.post(path, new URLSearchParams(body), english)
  const question = await bulk('all=1&action=fulfilled&list=sort%3DorderNumber')
  t.match(
    plain(question.text),
    /Mark 1,000 orders as fulfilled\? Current status: 167 pending, .* You can undo/,
  )
  t.match(plain(question.text), 'And 900 more')
  const selection = [...question.text.matchAll(/name="order" value="([^"]*)"/g)].map(
    ([, value = '']) => `order=${value}`,
  )
  t.equal(selection.length, 1_000)
  t.match(await getOrder(ann, 1), { status: 'pending' }, 'asking changes nothing')
  const result = await bulk(`${selection.join('&')}&action=fulfilled&confirmed=1`)
  t.match(summary(result), /^501 orders are now fulfilled\. 167 orders already had this status\./)
  t.match(await getOrder(ann, 1), { status: 'fulfilled' })
  t.match(await getOrder(ann, 1_003), { status: 'pending' }, 'the others are unchanged')

  const cancellation = await bulk('all=1&list=status%3Dpaid', `${LIST}/bulk/cancellation`)
  t.match(plain(cancellation.text), 'Cancel 42 orders?')
  for (const list of ['status=lost', 'from=2026-02-01&to=2026-01-01', `q=${'x'.repeat(201)}`]) {
    const refused = await bulk(`all=1&action=paid&list=${encodeURIComponent(list)}`)
    t.equal(summary(refused), 'Select orders and an action first.', list)
  }
})

t.test('asks before cancelling orders in bulk', async (t) => {
  const { ann, ben } = await start(t)
  const chosen = 'order=1:1&order=2:1&order=999:1&list=q%3Dcustomer%26sort%3DorderNumber'
  for (const headers of [{}, WHOLE]) {
    const form = new URLSearchParams(chosen)
    const question = await ann.post(`${LIST}/bulk/cancellation`, form, headers)
    t.equal(question.status, 200)
    t.match(
      plain(question.text),
      /Cancel 2 orders\? .* CW-000001 Ann Number 1 \S+ Pending CW-000002 Ben Number 2 \S+ Paid/,
    )
    t.match(question.text, /id="keep" name="action" value="keep" autofocus/, 'keeping is at hand')
  }
  const kept = await ann.post(`${LIST}/bulk`, new URLSearchParams(`${chosen}&action=keep`))
  t.equal(summary(kept), '', 'does not repeat the result')
  t.same(listChips(kept), ['Search customer'], 'keeping leads back')
  t.same(listSelected(kept), ['1', '2'], 'and keeps the choice')
  t.match(await getOrder(ann, 1), { status: 'pending' }, 'asking changes nothing')
  await ben.call('PATCH', '/api/admin/orders/2', { notes: 'wait' })
  const done = await ann.post(`${LIST}/bulk`, new URLSearchParams(`${chosen}&action=cancel`))
  t.equal(
    summary(done),
    '1 order is now cancelled. 2 orders were not changed: ' +
      'CW-000002: changed by someone else Order 999: not found',
  )
  t.same(listChips(done), ['Search customer'])
  t.match(await getOrder(ann, 1), { status: 'cancelled', version: 2 })
  t.match(await getOrder(ann, 2), { status: 'paid' })
})

t.test('reports an empty selection, and changes nothing', async (t) => {
  const { ann } = await start(t)
  for (const body of [
    '',
    'action=paid',
    'order=1:1',
    'order=1:1&action=',
    'order=1:1&action=lost',
    'order=1:1&action=cancelled',
    'order=1:1&action=constructor',
    'order=1&action=paid',
    'order=x:y&action=paid',
    'order=-1:1&action=paid',
    'order=1:1%00&action=paid',
    'order[]=1:1&action=paid',
    'order=99999999999999999:1&action=paid',
    'list=__proto__%3D1%26page%3Dx',
    'list=a&list=b',
  ]) {
    const response = await ann.post(`${LIST}/bulk`, new URLSearchParams(body))
    t.equal(response.status, 200, body)
    t.equal(summary(response), 'Select orders and an action first.', body)
    t.equal(rows(response).length, 25, body)
  }
  for (const body of ['', 'order=x', 'order=999:1']) {
    const answer = await ann.post(`${LIST}/bulk/cancellation`, new URLSearchParams(body))
    t.match(summary(answer), /^Select orders and an action first/, body)
  }
  t.match(await getOrder(ann, 1), { status: 'pending', version: 1 })
})

t.test('an invalid list does not prevent a bulk change', async (t) => {
  const { ann } = await start(t)
  const list = '__proto__=1&constructor=2&status=lost&page=-1&q=%00'
  const form = new URLSearchParams({ order: '1:1', action: 'paid', list })
  const response = await ann.post(`${LIST}/bulk`, form)
  t.equal(response.status, 200)
  t.match(summary(response), /^1 order is now paid\.$/)
  t.match(warning(response), /“Search”, “Status” and “Page” were ignored/)
})

t.test('reads the query of a list in one pass', async (t) => {
  const list = `q=1${'&q=2'.repeat(10_000)}&currency=EUR`
  const start = process.cpuUsage()
  const { query } = parseBulkForm({ list })
  t.ok(process.cpuUsage(start).user < 200_000)
  t.equal([query.q].flat().length, 10_001)
  t.same([query.currency].flat(), ['EUR'], 'after more parameters than Node reads by default')
})

t.test('reloading a bulk result redirects to the list', async (t) => {
  const { ann } = await start(t)
  for (const path of [`${LIST}/bulk`, `${LIST}/bulk/cancellation`]) {
    const response = await ann.get(path)
    t.equal(response.status, 303)
    t.equal(response.headers.get('location'), LIST)
  }
})

t.test('an expired session leads to the sign-in, and back', async (t) => {
  const { url, ann } = await start(t)
  const body = new URLSearchParams('order=1:1&action=paid')
  for (const path of [`${LIST}/bulk`, `${LIST}/bulk/cancellation`]) {
    for (const headers of [{}, HTMX_HEADERS]) {
      const stranger = await fetch(url + path, { method: 'POST', body, headers })
      t.equal(stranger.status, 401, path)
      const text = await stranger.text()
      t.match(text, /Your session has expired/)
      t.match(text, `href="/admin/login?returnTo=${encodeURIComponent(path)}"`)
      t.notMatch(text, /CW-0|customer\d/, 'and nothing is seen')
    }
  }
  const list = await fetch(url + LIST, { redirect: 'manual' })
  t.equal(list.status, 303)
  t.equal(list.headers.get('location'), '/admin/login?returnTo=%2Fadmin%2Forders')
  const fragment = await fetch(`${url}${LIST}?q=a`, { headers: { ...TABLE }, redirect: 'manual' })
  t.equal(fragment.status, 401)
  t.equal(
    fragment.headers.get('hx-redirect'),
    '/admin/login?returnTo=%2Fadmin%2Forders%3Fq%3Da&ended=',
    'fragments are requested by open pages',
  )
  t.match(await fragment.text(), /Your session has expired/)
  t.match(await getOrder(ann, 1), { status: 'pending', version: 1 })
})
