import t from 'tap'
import { startApp } from '../support/app.js'
import { toText } from '../support/guest.js'
import { newOrder } from '../support/order-store.js'
import {
  HTMX_HEADERS,
  startTwoAdmins,
  type PageClient,
  type PageResponse,
} from '../support/page-client.js'
import { ADMIN_ACCOUNTS, signIn } from '../support/sign-in.js'

const ORDERS = '/api/admin/orders'

const FULL = {
  ...newOrder(),
  vesselName: 'Étoile du Nord',
  imoNumber: '8814275',
  calculatorType: 'fuel',
  calculatorData: { fuelType: 'mgo', quantity: 500, unit: 'l' },
  co2eKg: 1653.135,
  orderSourceId: 'off_1',
  notes: 'first line\nsecond line',
  placedAt: '2026-03-29T00:30:00Z',
} as const

const createOrder = async (client: PageClient, given: object = {}): Promise<any> =>
  client.call('POST', ORDERS, { ...newOrder(), ...given })

const listLinks = ({ text }: PageResponse): string[] =>
  [...text.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'))

const getError = ({ text }: PageResponse, field: string): string | undefined =>
  new RegExp(`id="${field.replace('.', '-')}-error"[^>]*>([^<]*)<`).exec(text)?.[1]

const getValue = ({ text }: PageResponse, id: string): string | undefined =>
  new RegExp(`id="${id}"[^>]* value="([^"]*)"`).exec(text)?.[1]

t.test('shows every field of an order', async (t) => {
  const { ann } = await startTwoAdmins(t, { TIME_ZONE: 'Europe/Berlin' })
  const { id } = await createOrder(ann, FULL)
  const page = await ann.get(`/admin/orders/${id}`, { 'accept-language': 'de-DE' })
  t.equal(page.status, 200)
  t.equal(page.headers.get('cache-control'), 'no-store')
  const text = toText(page)
  for (const part of [
    'CW-000001',
    'Pending',
    'Ann Example',
    'ann@example.com',
    'Étoile du Nord',
    'IMO 8814275',
    '40.09',
    '1,653.135 kg',
    '1,653.1 kg CO₂e',
    'Marine diesel / gas oil',
    '500 litres',
    'How this is calculated',
    'off_1',
    'first line second line',
    '29 Mar 2026, 01:30',
    'Times in Europe/Berlin',
    'Created by admin@example.com',
  ]) {
    t.ok(text.replaceAll('\u00a0', ' ').includes(part), part)
  }
  t.notMatch(text, /than its trip/, 'no note if they are equal')
})

t.test('shows an order with few fields', async (t) => {
  const { ann } = await startTwoAdmins(t)
  const { id } = await createOrder(ann, { currency: 'JPY', amountMinor: 1200 })
  const text = toText(await ann.get(`/admin/orders/${id}`))
  t.match(text, /JP¥1,200/, 'yen have no decimals')
  t.match(text, /No vessel/)
  t.notMatch(text, /Trip/)
})

t.test('shows the difference between an order and its trip', async (t) => {
  const { ann } = await startTwoAdmins(t)
  const rounded = await createOrder(ann, { ...FULL, co2eKg: 1653 })
  t.notMatch(toText(await ann.get(`/admin/orders/${rounded.id}`)), /than its trip/)
  const more = await createOrder(ann, { ...FULL, co2eKg: 2000 })
  t.match(
    toText(await ann.get(`/admin/orders/${more.id}`)),
    /The order is for 2,000\.0 kg CO₂e, 347 kg \(21%\) more than its trip\./,
  )
})

t.test('shows a page for a missing order', async (t) => {
  const { ann } = await startTwoAdmins(t)
  for (const path of ['1', 'x', '0', '1/edit?group=notes', '1/cancel', '9'.repeat(17)]) {
    const page = await ann.get(`/admin/orders/${path}`)
    t.equal(page.status, 404, path)
    t.match(toText(page), /Order not found/, path)
  }
  for (const path of ['edit?group=notes', 'status', 'cancel', 'restore']) {
    t.equal((await ann.post(`/admin/orders/1/${path}`, { version: '1' })).status, 404, path)
  }
  const { id } = await createOrder(ann)
  t.equal((await ann.get(`/admin/orders/${id}/edit?group=constructor`)).status, 404)
})

t.test('escapes all text', async (t) => {
  const { ann } = await startTwoAdmins(t)
  const hostile = {
    customerName: `<b onclick="alert(1)">O'Hara</b> {{ x }} <%= it.order %>`,
    vesselName: `" autofocus onfocus="alert(1)" hx-get="/" x-data="{}`,
    notes: '</textarea><script>alert(1)</script>\n<hx-partial hx-target="body">x</hx-partial>',
    orderSourceId: `"><img src=x onerror=alert(1)>`,
    calculatorType: 'custom',
    calculatorData: { amount: 1, unit: 't', description: '<i hx-get="/">x</i>' },
  }
  const { id } = await createOrder(ann, hostile)
  await ann.call('PATCH', `${ORDERS}/${id}`, { vesselName: '<u>', notes: '<script>' })
  await ann.call('PATCH', `${ORDERS}/${id}`, {
    vesselName: hostile.vesselName,
    notes: hostile.notes,
  })
  for (const path of ['', '/edit?group=customer', '/edit?group=vessel', '/edit?group=notes']) {
    for (const headers of [{}, HTMX_HEADERS]) {
      const page = await ann.get(`/admin/orders/${id}${path}`, headers)
      const tags = [...page.text.matchAll(/<[^>]*>/g)].map(([tag]) => tag)
      const made = tags.filter((tag) =>
        /^<(?:b|i|u|img)\b|<script(?! src="\/assets\/)|\son\w+=|x-data|alert\(1\)"|hx-get="\/"/.test(
          tag.replace(/="[^"]*"/g, (value) => (/alert|x-data/.test(value) ? '=""' : value)),
        ),
      )
      t.same(made, [], `${path} ${Object.keys(headers).length}`)
    }
  }
  const text = toText(await ann.get(`/admin/orders/${id}`))
  t.ok(text.includes(hostile.customerName))
  t.ok(text.includes(hostile.vesselName))
  t.ok(text.includes('</textarea><script>alert(1)</script>'))
  const form = await ann.get(`/admin/orders/${id}/edit?group=notes`)
  t.match(form.text, /&lt;\/textarea&gt;&lt;script&gt;/)
})

t.test('the history shows who changed what', async (t) => {
  const { ann, ben } = await startTwoAdmins(t)
  const { id } = await createOrder(ann, { vesselName: 'Aurora' })
  await ben.call('PATCH', `${ORDERS}/${id}`, { status: 'paid', vesselName: null })
  await ann.call('PATCH', `${ORDERS}/${id}`, { currency: 'JPY' })
  await ann.call('PATCH', `${ORDERS}/${id}`, { amountMinor: 5000, orderSourceId: 'off_9' })
  const text = toText(await ann.get(`/admin/orders/${id}`))
  const history = text.slice(text.indexOf('History'))
  t.match(history, /Amount from JP¥4,009 to → JP¥5,000 Provider order ID added: off_9/)
  t.match(history, /Amount from €40\.09 to → JP¥4,009/, 'amount and currency are one change')
  t.match(history, /Status from Pending to → Paid Vessel removed: Aurora colleague@example\.com/)
  t.match(history, /Created by admin@example\.com/)
})

t.test('links to the list, and to the previous and next order', async (t) => {
  const { ann } = await startTwoAdmins(t)
  for (let i = 1; i <= 60; i++) {
    await createOrder(ann, { customerName: `Ann ${i}`, status: i % 2 ? 'paid' : 'pending' })
  }
  // Of the paid ones 1, 3, 5, … the 28th has the id 55.
  const list = await ann.get('/admin/orders?status=paid&sort=orderNumber&page=2')
  const row = listLinks(list).find((href) => href.startsWith('/admin/orders/55?')) ?? ''
  const page = await ann.get(row)
  t.match(toText(page), /28 of 30/)
  const query = 'status=paid&sort=orderNumber'
  t.ok(listLinks(page).includes(`/admin/orders/53?at=26&${query}`))
  t.ok(listLinks(page).includes(`/admin/orders/57?at=28&${query}`))
  t.ok(listLinks(page).includes(`/admin/orders?${query}&page=2#row-55`))
  t.match(page.text, new RegExp(`action="/admin/orders/55/status\\?at=27&amp;status=paid`))

  const first = await ann.get(`/admin/orders/1?at=0&${query}`)
  t.notMatch(first.text, /rel="prev"/)
  t.match(first.text, /rel="next"/)

  await ann.call('PATCH', `${ORDERS}/1`, { status: 'refunded' })
  const moved = await ann.get(row)
  t.match(toText(moved), /27 of 29/, 'at its new position')
  t.ok(listLinks(moved).includes(`/admin/orders/57?at=27&${query}`))
  await ann.call('PATCH', `${ORDERS}/55`, { status: 'refunded' })
  const gone = await ann.get(row)
  t.equal(gone.status, 200)
  t.notMatch(gone.text, /rel="(?:prev|next)"/, 'has no neighbours outside its list')
  for (const at of ['-1', 'x', '1e3', '999999999', '']) {
    t.equal((await ann.get(`/admin/orders/55?at=${at}&page=0&sort=x`)).status, 200, at)
  }
})

t.test('edits a group in place, and sends only its parts of the page', async (t) => {
  const { ann } = await startTwoAdmins(t)
  const { id } = await createOrder(ann, FULL)
  const form = await ann.get(`/admin/orders/${id}/edit?group=amounts`, HTMX_HEADERS)
  t.equal(form.status, 200)
  t.match(form.text, /^\s*<hx-partial hx-target="#group-amounts"/)
  t.notMatch(form.text, /<html|hx-target="#order"/)
  t.equal(getValue(form, 'amount'), '40.09')
  t.equal(getValue(form, 'co2eKg'), '1653.135')
  t.match(form.text, /<option value="EUR" selected>/)

  const saved = await ann.post(
    `/admin/orders/${id}/edit?group=amounts`,
    { version: '1', co2eKg: '1.700,5', amount: '1 234,56', currency: 'EUR' },
    HTMX_HEADERS,
  )
  t.equal(saved.status, 200)
  t.match(saved.text, /<hx-partial hx-target="#messages"[^>]*><div class="message">/)
  t.match(toText(saved), /Order CW-000001 was saved\./)
  t.match(await ann.call('GET', `${ORDERS}/${id}`), {
    co2eKg: 1700.5,
    amountMinor: 123456,
    version: 2,
  })
  const closed = await ann.get(`/admin/orders/${id}?group=amounts`, HTMX_HEADERS)
  t.match(closed.text, /hx-target="#group-amounts"/)
  t.match(closed.text, /hx-target="#order"/, 'updates the page as well')
})

t.test('edits every group as a page without scripts', async (t) => {
  const { ann } = await startTwoAdmins(t)
  const { id } = await createOrder(ann)
  const edits: [string, Record<string, string>, object][] = [
    [
      'customer',
      { customerName: ' Ζωή ', customerEmail: 'zoe@example.com ' },
      { customerName: 'Ζωή', customerEmail: 'zoe@example.com' },
    ],
    [
      'vessel',
      { vesselName: 'Aurora', imoNumber: 'imo 8814275' },
      { vesselName: 'Aurora', imoNumber: '8814275' },
    ],
    ['vessel', { vesselName: '', imoNumber: ' ' }, { vesselName: null, imoNumber: null }],
    [
      'amounts',
      { co2eKg: '0', amount: '500', currency: 'jpy' },
      { co2eKg: 0, amountMinor: 500, currency: 'JPY' },
    ],
    ['provider', { orderSourceId: 'off_2' }, { orderSourceId: 'off_2' }],
    ['notes', { notes: ' a\r\nb ' }, { notes: 'a\nb' }],
    ['notes', { notes: '' }, { notes: '' }],
  ]
  for (const [index, [group, fields, expected]] of edits.entries()) {
    const at = `/admin/orders/${id}/edit?group=${group}`
    const page = await ann.get(at)
    t.match(page.text, /<html/)
    const version =
      /name="version" value="(\d+)">\s*<div class="field-grid/.exec(page.text)?.[1] ?? ''
    const response = await ann.post(`${at}&at=0&status=pending`, { version, ...fields })
    t.equal(response.status, 303, group)
    t.equal(response.headers.get('location'), `/admin/orders/${id}?at=0&status=pending`)
    const cookie = response.headers.getSetCookie()[0] ?? ''
    t.match(cookie, /^clearwake-flash=saved\.1; .*Path=\/; HttpOnly; SameSite=Strict/)
    t.match(await ann.call('GET', `${ORDERS}/${id}`), { ...expected, version: index + 2 })
    t.match(toText(await ann.get(`/admin/orders/${id}`)), /was saved/)
    t.notMatch(toText(await ann.get(`/admin/orders/${id}`)), /was saved/, 'shows the message once')
  }
  const same = await ann.post(`/admin/orders/${id}/edit?group=notes`, { version: '8', notes: '' })
  t.equal(same.status, 303)
  t.match(toText(await ann.get(`/admin/orders/${id}`)), /was not changed/)

  // A form sends other line breaks than the API stored.
  const stored = { notes: 'Called back\r\nTwice ', customerName: 'Ann  Example' }
  const { version } = await ann.call('PATCH', `${ORDERS}/${id}`, stored)
  const notes = 'Called back\r\nTwice'
  await ann.post(`/admin/orders/${id}/edit?group=notes`, { version: String(version), notes })
  t.match(toText(await ann.get(`/admin/orders/${id}`)), /was not changed/)
  t.match(await ann.call('GET', `${ORDERS}/${id}`), { ...stored, version })
})

t.test('over HTTPS, the cookie of a flash message belongs to this host', async (t) => {
  const { url } = await startApp(t, {
    ADMIN_ACCOUNTS,
    PUBLIC_BASE_URL: 'https://carbon.example.com',
  })
  const cookie = `__Host-clearwake=${await signIn(url)}`
  const send = (path: string, options: RequestInit = {}, flash = '') =>
    fetch(url + path, {
      redirect: 'manual',
      ...options,
      headers: {
        cookie: [cookie, ...(flash ? [flash] : [])].join('; '),
        'sec-fetch-site': 'same-origin',
        ...(options.headers as Record<string, string>),
      },
    })
  await send(ORDERS, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(newOrder()),
  })
  const saved = await send('/admin/orders/1/edit?group=notes', {
    method: 'POST',
    body: new URLSearchParams({ version: '1', notes: 'Called back' }),
  })
  t.equal(saved.status, 303)
  const [set = ''] = saved.headers.getSetCookie()
  t.match(set, /^__Host-clearwake-flash=saved\.1; .*Path=\/; HttpOnly; Secure; SameSite=Strict/)
  const page = await send('/admin/orders/1', {}, set.split(';', 1)[0])
  t.match(await page.text(), /was saved/)
  t.match(page.headers.getSetCookie()[0], /^__Host-clearwake-flash=; .*Expires=Thu, 01 Jan 1970/)
})

t.test('ignores a forged flash message', async (t) => {
  const { ann } = await startTwoAdmins(t)
  const { id } = await createOrder(ann)
  for (const left of ['<b>x</b>.1', 'constructor.1', 'saved.999', 'saved.', 'cancelled.1']) {
    const page = await ann.get(`/admin/orders/${id}`, { cookie: `clearwake-flash=${left}` })
    t.notMatch(page.text, /<b>x|Undo/, left)
  }
})

t.test('shows errors at their fields, with the input', async (t) => {
  const { ann } = await startTwoAdmins(t)
  const { id } = await createOrder(ann, FULL)
  const cases: [string, Record<string, string>, Record<string, RegExp>][] = [
    [
      'customer',
      { customerName: ' ', customerEmail: 'nobody' },
      { customerName: /Enter a name/, customerEmail: /must be an email address/ },
    ],
    [
      'vessel',
      { vesselName: 'x'.repeat(81), imoNumber: '1234568' },
      { vesselName: /80/, imoNumber: /IMO/ },
    ],
    [
      'amounts',
      { co2eKg: '1,234', amount: '1.5', currency: 'JPY' },
      { co2eKg: /could mean/, amount: /no decimals/ },
    ],
    [
      'amounts',
      { co2eKg: '-1', amount: '0.001', currency: 'EUR' },
      { co2eKg: /at least 0/, amount: /at most 2 decimals/ },
    ],
    [
      'amounts',
      { co2eKg: '2e9', amount: '1e11', currency: 'EUR' },
      {
        co2eKg: /at most 1,000,000,000$/,
        amount: /at most 10,000,000,000$/,
      },
    ],
    ['amounts', { co2eKg: '1', amount: 'lots', currency: 'XXY' }, { currency: /ISO 4217/ }],
    ['provider', { orderSourceId: 'a\u0000b' }, { orderSourceId: /control characters/ }],
    ['notes', { notes: 'a\u0007' }, { notes: /control characters/ }],
  ]
  for (const [group, fields, errors] of cases) {
    for (const headers of [{}, HTMX_HEADERS]) {
      const response = await ann.post(
        `/admin/orders/${id}/edit?group=${group}`,
        { version: '1', ...fields },
        headers,
      )
      t.equal(response.status, 422, group)
      for (const [field, message] of Object.entries(errors)) {
        t.match(getError(response, field), message)
      }
      t.equal((response.text.match(/ autofocus/g) ?? []).length, 1)
      const [first = ''] = Object.keys(errors)
      t.match(
        response.text,
        new RegExp(`id="${first}"[^>]* aria-invalid="true" autofocus`),
        'first',
      )
      for (const [field, typed] of Object.entries(fields)) {
        if (['notes', 'currency', 'orderSourceId'].includes(field)) continue
        t.equal(getValue(response, field), typed.trim(), `${field} is not lost`)
      }
      if (headers === HTMX_HEADERS) t.notMatch(response.text, /hx-target="#order"/)
      else t.match(response.text, /<title>Error: /)
    }
  }
  t.match(await ann.call('GET', `${ORDERS}/${id}`), { version: 1 })
})

t.test('keeps amounts with three decimals', async (t) => {
  const { ann } = await startTwoAdmins(t)
  const { id } = await createOrder(ann, { currency: 'BHD', amountMinor: 1234, co2eKg: 1.234 })
  const form = await ann.get(`/admin/orders/${id}/edit?group=amounts`)
  const [amount = '', co2eKg = ''] = [getValue(form, 'amount'), getValue(form, 'co2eKg')]
  const response = await ann.post(`/admin/orders/${id}/edit?group=amounts`, {
    version: '1',
    amount,
    co2eKg,
    currency: 'BHD',
  })
  t.equal(response.status, 303)
  t.match(await ann.call('GET', `${ORDERS}/${id}`), {
    amountMinor: 1234,
    co2eKg: 1.234,
    version: 1,
  })
})

t.test('shows a conflict with both values, and lets the user decide', async (t) => {
  const { ann, ben } = await startTwoAdmins(t)
  const { id } = await createOrder(ann, { vesselName: 'Aurora' })
  const edit = `/admin/orders/${id}/edit?group=vessel`
  await ben.post(edit, { version: '1', vesselName: 'Borealis', imoNumber: '' })
  for (const headers of [{}, HTMX_HEADERS]) {
    const conflict = await ann.post(
      edit,
      { version: '1', vesselName: 'Calypso', imoNumber: '' },
      headers,
    )
    t.equal(conflict.status, 412)
    t.match(toText(conflict), /This order was changed by someone else while you were editing it/)
    t.match(toText(conflict), /Vessel from Aurora to → Borealis colleague@example\.com/)
    t.match(toText(conflict), /Current value: Borealis/)
    t.equal(getValue(conflict, 'vesselName'), 'Calypso', 'keeps the input')
    t.match(conflict.text, /name="version" value="2"/, 'the way on is from their version')
    t.notMatch(conflict.text, /name="version" value="1"/, 'for moves of the order too')
    t.match(toText(conflict), /Overwrite Discard my changes/)
  }
  t.match(await ann.call('GET', `${ORDERS}/${id}`), { vesselName: 'Borealis', version: 2 })
  await ann.post(edit, { version: '2', vesselName: 'Calypso', imoNumber: '' })
  t.match(await ann.call('GET', `${ORDERS}/${id}`), { vesselName: 'Calypso', version: 3 })

  // Other fields changed by someone else count as well; the user's own changes do not.
  await ben.post(`/admin/orders/${id}/edit?group=notes`, { version: '3', notes: 'by Ben' })
  const other = await ann.post(edit, { version: '3', vesselName: 'Delfin', imoNumber: '' })
  t.equal(other.status, 412)
  t.match(toText(other), /Notes added: by Ben/)
  await ann.post(`/admin/orders/${id}/edit?group=notes`, { version: '4', notes: 'by Ann' })
  const own = await ann.post(edit, { version: '4', vesselName: 'Delfin', imoNumber: '' })
  t.equal(own.status, 303, 'two forms of a page are independent')
  const twice = await ann.post(edit, { version: '4', vesselName: 'Eos', imoNumber: '' })
  t.equal(twice.status, 412, 'the same field from two windows does')
  const notes = `/admin/orders/${id}/edit?group=notes`
  await ann.post(notes, { version: '6', notes: 'by Ann herself' })
  const herself = await ann.post(notes, { version: '6', notes: 'again' })
  t.match(toText(herself), /You edited this order in another tab/)
  t.match(toText(herself), /Overwrite Discard my changes/)
  for (const version of ['', '0', 'x', '-1', '99']) {
    const response = await ann.post(edit, { version, vesselName: 'Freya', imoNumber: '' })
    t.equal(response.status, 412, `version ${version}`)
  }
})

t.test('recognises a repeated request, and confirms it', async (t) => {
  const { ann } = await startTwoAdmins(t)
  const { id } = await createOrder(ann)
  const page = `/admin/orders/${id}`
  const twice = async (path: string, fields: Record<string, string>, words: RegExp) => {
    for (const time of ['at first', 'once more']) {
      const response = await ann.post(path, fields, HTMX_HEADERS)
      t.equal(response.status, 200, `${path} ${time}`)
      t.match(toText(response), words, `${path} ${time}`)
    }
  }
  await twice(`${page}/edit?group=notes`, { version: '1', notes: 'called' }, /000001 was saved\./)
  await twice(`${page}/status`, { version: '2', status: 'fulfilled' }, /is now fulfilled\. Undo/)
  await twice(`${page}/restore`, { version: '3' }, /000001 is pending again\./)
  await twice(`${page}/cancel`, { version: '4' }, /was cancelled\. Undo/)
  await twice(`${page}/restore`, { version: '5' }, /was restored\. It is pending again/)
  t.match(await ann.call('GET', `${ORDERS}/${id}`), {
    notes: 'called',
    status: 'pending',
    fulfilledAt: null,
    version: 6,
  })
})

t.test('confirms both of two concurrent requests to undo', async (t) => {
  const { ann } = await startTwoAdmins(t)
  const { id } = await createOrder(ann)
  const page = `/admin/orders/${id}`
  const twice = (version: string) =>
    Promise.all([1, 2].map(() => ann.post(`${page}/restore`, { version }, HTMX_HEADERS)))
  await ann.post(`${page}/status`, { version: '1', status: 'paid' })
  for (const response of await twice('2')) t.match(toText(response), /is pending again/)
  await ann.post(`${page}/cancel`, { version: '3' })
  await ann.call('PATCH', `${ORDERS}/${id}`, { notes: 'a word' })
  await ann.post(`${page}/cancel`, { version: '5' })
  for (const response of await twice('5')) t.match(toText(response), /was restored/)
  t.match(await ann.call('GET', `${ORDERS}/${id}`), { status: 'pending', version: 6 })
})

t.test('attributes a concurrent change to its author, and does not undo it', async (t) => {
  const { ann, ben } = await startTwoAdmins(t)
  for (const [path, fields, words] of [
    ['status', { status: 'fulfilled' }, /Status from Pending to → Fulfilled colleague@example/],
    ['cancel', {}, /Status from Pending to → Cancelled colleague@example/],
  ] as const) {
    const { id } = await createOrder(ann)
    const page = `/admin/orders/${id}`
    await ben.post(`${page}/${path}`, { version: '1', ...fields })
    const late = await ann.post(`${page}/${path}`, { version: '1', ...fields }, HTMX_HEADERS)
    t.equal(late.status, 412, path)
    t.match(toText(late), words)
    t.notMatch(toText(late), /Undo/)
  }
})

t.test('undoes a status change until another follows', async (t) => {
  const { ann, ben } = await startTwoAdmins(t)
  const { id } = await createOrder(ann, { status: 'fulfilled' })
  const page = `/admin/orders/${id}`
  const { fulfilledAt } = await ann.call('GET', `${ORDERS}/${id}`)
  await ann.post(`${page}/status`, { version: '1', status: 'refunded' })
  t.match(toText(await ann.get(page)), /is now refunded\. Undo/)
  await ann.post(`${page}/restore`, { version: '2' })
  t.match(await ann.call('GET', `${ORDERS}/${id}`), {
    status: 'fulfilled',
    fulfilledAt,
    version: 3,
  })
  await ann.post(`${page}/status`, { version: '3', status: 'refunded' })
  await ben.call('PATCH', `${ORDERS}/${id}`, { notes: 'sent back' })
  const overtaken = await ann.post(`${page}/restore`, { version: '4' }, HTMX_HEADERS)
  t.equal(overtaken.status, 412)
  t.match(toText(overtaken), /has changed since you opened it.*Notes/)
  const nothing = await ann.post(`${page}/restore`, { version: '5' }, HTMX_HEADERS)
  t.match(toText(nothing), /was not changed/)
  for (const version of ['', '99']) {
    const unseen = await ann.post(`${page}/restore`, { version }, HTMX_HEADERS)
    t.equal(unseen.status, 412, version)
    t.match(toText(unseen), /has changed since you opened it/, version)
  }
  t.match(await ann.call('GET', `${ORDERS}/${id}`), { status: 'refunded', version: 5 })
  await ann.post(`${page}/cancel`, { version: '5' })
  const reopened = await ann.post(
    `${page}/status`,
    { version: '6', status: 'refunded' },
    HTMX_HEADERS,
  )
  t.match(toText(reopened), /is now refunded\./)
  t.notMatch(toText(reopened), /Undo/, 'reopening offers no undo')
})

t.test('a change could be undone only in the message after it', async (t) => {
  const { ann, ben } = await startTwoAdmins(t)
  const { id } = await createOrder(ann, { status: 'paid' })
  const page = `/admin/orders/${id}`
  const read = async (client = ann) => toText(await client.get(page))
  t.notMatch(await read(), /Undo/)
  await ann.post(`${page}/status`, { version: '1', status: 'processing' })
  t.match(await read(), /is now processing\. Undo/)
  t.match(await read(), /Undo this change/, 'also later')
  t.notMatch(await read(ben), /Undo/, 'but only by the author')
  await ann.post(`${page}/restore`, { version: '2' })
  await ann.post(`${page}/cancel`, { version: '3' })
  await read()
  t.match(await read(), /Undo this change/)
  await ann.call('PATCH', `${ORDERS}/${id}`, { notes: 'x' })
  t.notMatch(await read(), /Undo/)
})

t.test('undoes the cancellation that the user saw, never another', async (t) => {
  const { ann, ben } = await startTwoAdmins(t)
  const { id } = await createOrder(ann)
  const page = `/admin/orders/${id}`
  await ann.post(`${page}/cancel`, { version: '1' })
  await ben.call('PATCH', `${ORDERS}/${id}`, { status: 'pending' })
  await ben.call('DELETE', `${ORDERS}/${id}`)
  const late = await ann.post(`${page}/restore`, { version: '2' }, HTMX_HEADERS)
  t.equal(late.status, 412)
  t.match(toText(late), /has changed since you opened it.*Status from Pending to → Cancelled/)
  t.match(await ann.call('GET', `${ORDERS}/${id}`), { status: 'cancelled', version: 4 })
  for (const version of ['', '99']) {
    t.equal((await ann.post(`${page}/restore`, { version }, HTMX_HEADERS)).status, 412, version)
  }
  await ben.call('PATCH', `${ORDERS}/${id}`, { notes: 'by mistake' })
  t.match(await ann.call('GET', `${ORDERS}/${id}`), { status: 'cancelled', version: 5 })
  t.match(
    toText(await ann.post(`${page}/restore`, { version: '4' }, HTMX_HEADERS)),
    /was restored/,
    'whatever else has changed',
  )
})

t.test('never confirms an undo that came too late', async (t) => {
  const { ann, ben } = await startTwoAdmins(t)
  const overtakenBy = async (first: string, second: string) => {
    const { id } = await createOrder(ann)
    const page = `/admin/orders/${id}`
    if (first === 'cancelled') await ann.post(`${page}/cancel`, { version: '1' })
    else await ann.post(`${page}/status`, { version: '1', status: first })
    await ben.call('PATCH', `${ORDERS}/${id}`, { status: second })
    const late = await ann.post(`${page}/restore`, { version: '2' }, HTMX_HEADERS)
    t.match(await ann.call('GET', `${ORDERS}/${id}`), { status: second, version: 3 })
    return late
  }
  for (const [first, second] of [
    ['fulfilled', 'refunded'],
    ['paid', 'processing'],
  ] as const) {
    const late = await overtakenBy(first, second)
    t.equal(late.status, 412, `${first}, then ${second}`)
    t.match(toText(late), /has changed since you opened it/)
    t.notMatch(toText(late), /is \w+ again/)
  }
  const same = await overtakenBy('cancelled', 'pending')
  t.match(toText(same), /was restored/, 'someone else has already restored it')
})

t.test('shows English numbers, and accepts those of the browser too', async (t) => {
  const { ann } = await startTwoAdmins(t)
  const { id } = await createOrder(ann, { co2eKg: 1234.5, amountMinor: 1250 })
  const edit = `/admin/orders/${id}/edit?group=amounts`
  const german = { 'accept-language': 'de-DE' }
  const form = await ann.get(edit, german)
  t.equal(getValue(form, 'co2eKg'), '1234.5')
  t.equal(getValue(form, 'amount'), '12.50')
  for (const [co2eKg, amount] of [
    ['1234.5', '12.50'],
    ['1.234,5 kg', '12,50 €'],
  ] as const) {
    const same = { version: '1', co2eKg, amount, currency: 'EUR' }
    const saved = await ann.post(edit, same, { ...HTMX_HEADERS, ...german })
    t.match(toText(saved), /was not changed/)
    t.match(toText(saved), /1,234\.5 kg/)
  }
  const ambiguous = { version: '1', co2eKg: '1.234', amount: '12,50', currency: 'EUR' }
  const asked = await ann.post(edit, ambiguous, { ...HTMX_HEADERS, ...german })
  t.match(toText(asked), /1\.234 could mean 1234 or 1\.234\. Enter 1234 or 1\.2340\./)
})

t.test('offers the allowed status changes only', async (t) => {
  const { ann } = await startTwoAdmins(t)
  const { id } = await createOrder(ann)
  const page = await ann.get(`/admin/orders/${id}`)
  const offered = [...page.text.matchAll(/name="status" value="(\w+)"/g)].map(([, to]) => to)
  t.same(offered.sort(), ['fulfilled', 'paid', 'processing'])
  t.match(
    page.text,
    /id="next-step"[^]*Waiting for payment[^]*<button>Mark as paid<\/button>[^]*order-body/,
    'the next step is above the cards',
  )
  t.match(page.text, /<button class="secondary">Start processing<\/button>/)

  const paid = await ann.post(`/admin/orders/${id}/status`, { version: '1', status: 'paid' })
  t.equal(paid.status, 303)
  t.match(toText(await ann.get(`/admin/orders/${id}`)), /Order CW-000001 is now paid\./)
  const there = await ann.post(
    `/admin/orders/${id}/status`,
    { version: '2', status: 'refunded' },
    HTMX_HEADERS,
  )
  t.match(there.text, /hx-target="#order"[\s\S]*class="status refunded"/)

  for (const headers of [{}, HTMX_HEADERS]) {
    const refused = await ann.post(
      `/admin/orders/${id}/status`,
      { version: '3', status: 'paid' },
      headers,
    )
    t.equal(refused.status, 409)
    t.match(
      toText(refused),
      /This order cannot become paid It is refunded and can only be cancelled/,
    )
  }
  const pending = await createOrder(ann)
  const skipped = await ann.post(`/admin/orders/${pending.id}/status`, {
    version: '1',
    status: 'refunded',
  })
  t.match(toText(skipped), /It is pending and can only become paid, processing or fulfilled/)
  for (const status of ['cancelled', 'x', '']) {
    const response = await ann.post(`/admin/orders/${pending.id}/status`, { version: '1', status })
    t.equal(response.status, 422, status)
  }
  t.match(await ann.call('GET', `${ORDERS}/${pending.id}`), { status: 'pending' })
})

t.test('cancels an order after a confirmation, and restores it', async (t) => {
  const { ann } = await startTwoAdmins(t)
  const { id } = await createOrder(ann, { ...FULL, status: 'paid' })
  const question = await ann.get(`/admin/orders/${id}/cancel?at=0`)
  t.match(toText(question), /Cancel order CW-000001\? Ann Example , Étoile du Nord/)
  const dialog = await ann.get(`/admin/orders/${id}/cancel`, HTMX_HEADERS)
  t.match(dialog.text, /^\s*<dialog /)
  t.match(await ann.call('GET', `${ORDERS}/${id}`), { status: 'paid' }, 'asking changes nothing')

  const cancelled = await ann.post(`/admin/orders/${id}/cancel?at=0`, { version: '1' })
  t.equal(cancelled.status, 303)
  t.equal(cancelled.headers.get('location'), `/admin/orders/${id}?at=0`)
  const page = await ann.get(`/admin/orders/${id}?at=0`)
  t.match(toText(page), /Order CW-000001 was cancelled\. Undo/)
  t.match(page.text, new RegExp(`action="/admin/orders/${id}/restore\\?at=0"`))
  t.notMatch(page.text, /Cancel order/)
  t.equal((await ann.get(`/admin/orders/${id}/cancel`)).status, 303, 'asks nothing')

  const restored = await ann.post(`/admin/orders/${id}/restore`, { version: '2' }, HTMX_HEADERS)
  t.match(toText(restored), /was restored\. It is paid again/)
  const { items } = await ann.call('GET', `${ORDERS}/${id}/history`)
  t.same(
    items.map(({ changes }: any) => changes.map(({ from, to }: any) => [from, to])),
    [
      [
        ['cancelled', 'paid'],
        [items[1].at, null],
      ],
      [['paid', 'cancelled']],
      [],
    ],
    'keeps all input',
  )
  const later = toText(await ann.get(`/admin/orders/${id}`, { 'accept-language': 'en-GB' }))
  t.match(
    later.slice(later.indexOf('History')),
    /Status from Cancelled to → Paid Time of cancellation removed: \d+ \w+ \d{4}, \d\d:\d\d /,
  )
  await ann.post(`/admin/orders/${id}/restore`, { version: '2' })
  t.match(
    await ann.call('GET', `${ORDERS}/${id}`),
    { status: 'paid', version: 3 },
    'again is nothing',
  )
})

const getKey = ({ text }: PageResponse): string =>
  /name="key" value="([^"]+)"/.exec(text)?.[1] ?? ''

const TYPED = {
  customerName: 'Ann Example',
  customerEmail: 'ann@example.com',
  vesselName: 'Aurora',
  imoNumber: 'IMO 8814275',
  calculatorType: 'fuel',
  'fuel.fuelType': 'mgo',
  'fuel.quantity': '1 000',
  'fuel.unit': 'l',
  co2eKg: '',
  computed: '',
  amount: '82,66',
  currency: 'EUR',
  status: 'paid',
  placedAt: '2026-07-01T10:30',
  orderSourceId: '',
  notes: 'by phone',
}

t.test('creates an order once, however often the form is sent', async (t) => {
  const { ann, ben } = await startTwoAdmins(t, { TIME_ZONE: 'Europe/Berlin' })
  const key = getKey(await ann.get('/admin/orders/new'))
  const sent = await Promise.all([
    ann.post('/admin/orders', { ...TYPED, key }),
    ann.post('/admin/orders', { ...TYPED, key }),
  ])
  for (const { status, headers } of sent) {
    t.equal(status, 303)
    t.equal(headers.get('location'), '/admin/orders/1')
  }
  t.match(toText(await ann.get('/admin/orders/1')), /Order CW-000001 was created\./)
  t.match(await ann.call('GET', `${ORDERS}/1`), {
    customerName: 'Ann Example',
    imoNumber: '8814275',
    calculatorData: { fuelType: 'mgo', quantity: 1000, unit: 'l' },
    co2eKg: 3306.27,
    amountMinor: 8266,
    status: 'paid',
    placedAt: '2026-07-01T08:30:00.000Z',
    orderSourceId: null,
    notes: 'by phone',
  })
  t.match(await ann.call('GET', ORDERS), { totalItems: 1 })
  const changed = await ann.post('/admin/orders', { ...TYPED, key, notes: 'another' })
  t.equal(changed.status, 422)
  t.match(toText(changed), /This form was already submitted/)
  const another = await ann.post('/admin/orders', {
    ...TYPED,
    notes: 'another',
    key: getKey(changed),
  })
  t.equal(another.headers.get('location'), '/admin/orders/2')
  const other = await ben.post('/admin/orders', { ...TYPED, key }, HTMX_HEADERS)
  t.equal(other.headers.get('hx-redirect'), '/admin/orders/3', 'keys are each administrator’s own')
  t.equal(other.text, '')
})

t.test('creates an order with the required fields only', async (t) => {
  const { ann } = await startTwoAdmins(t, { CURRENCY: 'ISK' })
  t.match((await ann.get('/admin/orders/new')).text, /<option value="ISK" selected>/)
  const before = Date.now()
  const response = await ann.post('/admin/orders', {
    customerName: 'Ann',
    customerEmail: 'ann@example.com',
    calculatorType: 'none',
    co2eKg: '5',
    amount: '1',
    currency: 'bhd',
  })
  t.equal(response.status, 303)
  const order = await ann.call('GET', `${ORDERS}/1`)
  t.match(order, { status: 'pending', calculatorType: null, amountMinor: 1000, currency: 'BHD' })
  t.ok(Date.parse(order.placedAt) >= before)
})

t.test('shows errors of a new order at their fields, and keeps the input', async (t) => {
  const { ann } = await startTwoAdmins(t)
  const wrong = {
    ...TYPED,
    key: 'k',
    customerName: '',
    customerEmail: 'x',
    imoNumber: '123',
    'fuel.quantity': '-5',
    'distance.speedKn': '12',
    amount: '1,234',
    currency: '',
    placedAt: '2199-01-01T00:00',
    notes: '<b>"kept"</b>',
  }
  for (const headers of [{}, HTMX_HEADERS]) {
    const response = await ann.post('/admin/orders', wrong, headers)
    t.equal(response.status, 422)
    t.equal(getError(response, 'customerName'), 'Enter a name')
    t.match(getError(response, 'customerEmail'), /email address/)
    t.match(getError(response, 'imoNumber'), /IMO/)
    t.match(getError(response, 'fuel.quantity'), /greater than 0/)
    t.equal(getError(response, 'currency'), 'Choose a currency')
    t.equal(getError(response, 'co2eKg'), '', 'will be filled in by the trip')
    t.equal(getValue(response, 'fuel-quantity'), '-5')
    t.equal(getValue(response, 'distance-speedKn'), '12', 'also the fields of other calculators')
    t.equal(getValue(response, 'amount'), '1,234')
    t.equal(getValue(response, 'placedAt'), '2199-01-01T00:00')
    t.match(response.text, /&lt;b&gt;&quot;kept&quot;/)
    t.equal(getKey(response), 'k')
    t.match(response.text, /id="type-fuel" checked/)
  }
  const future = await ann.post('/admin/orders', { ...TYPED, placedAt: '2199-01-01T00:00' })
  t.match(getError(future, 'placedAt'), /future/)
  for (const placedAt of ['2026-02-30T10:00', '2999-01-01T00:00']) {
    const odd = await ann.post('/admin/orders', { ...TYPED, placedAt })
    t.match(getError(odd, 'placedAt'), /date and a time/)
  }
  t.match(await ann.call('GET', ORDERS), { totalItems: 0 })
})

t.test('the trip fills in the CO2e until another value is typed', async (t) => {
  const { ann } = await startTwoAdmins(t)
  const sendRequest = (fields: Record<string, string>) =>
    ann.post('/admin/orders/new/emissions', { ...TYPED, ...fields }, HTMX_HEADERS)
  const filled = await sendRequest({})
  t.match(toText(filled), /This trip emits 3,306\.3 kg CO₂e/)
  t.equal(getValue(filled, 'co2eKg'), '3306.27')
  const again = await sendRequest({
    co2eKg: '3306.27',
    calculatedCo2e: '3306.27',
    'fuel.quantity': '500',
  })
  t.equal(getValue(again, 'co2eKg'), '1653.135', 'follows the trip')
  const blank = await sendRequest({
    co2eKg: '3306.27',
    calculatedCo2e: '3306.27',
    'fuel.quantity': '',
  })
  t.equal(getValue(blank, 'co2eKg'), '')
  t.match(toText(blank), /Still needed: quantity/)
  const byHand = await sendRequest({
    co2eKg: '4000',
    calculatedCo2e: '3306.27',
    'fuel.quantity': '500',
  })
  t.equal(getValue(byHand, 'co2eKg'), '4000', 'keeps a typed value')
  t.match(toText(byHand), /The trip emits 1,653\.1 kg/)
  const wrong = await sendRequest({ 'fuel.quantity': 'lots' })
  t.match(wrong.text, /id="fuel-quantity-error" hx-swap-oob="outerHTML">must be a number/)
})
