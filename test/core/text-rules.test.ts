import t from 'tap'
import {
  isInternetEmail,
  listSpellings,
  suggestEmail,
  toMailbox,
} from '../../src/core/validation/email-address.js'
import {
  findTextError,
  findTextLineError,
  removeInvisible,
} from '../../src/core/validation/text-rules.js'
import { decodePrefillData, encodePrefillData } from '../../src/qr-codes/prefill-codec.js'
import { postJson, startApp } from '../support/app.js'
import { TYPICAL_CALCULATIONS } from '../support/calculations.js'
import { createGuest, fillIn, placeOrder, readForm, toText } from '../support/guest.js'
import { newOrder } from '../support/order-store.js'
import { startTwoAdmins } from '../support/page-client.js'

const NOTHING = 'must contain a visible character'
const BROKEN = 'must not contain invalid characters'
const CONTROL = 'must not contain control characters'
const DIRECTION = 'must not contain characters that change the text direction'

/** A text by its code points, as most of these cannot be shown. */
const codes = (text: string): string =>
  Array.from(text, (character) => character.codePointAt(0)?.toString(16)).join(' ')

t.test('a line must contain a visible character', async (t) => {
  for (const text of [
    ' ',
    '\u00a0\u3000',
    '\ufeff',
    '\u200b',
    '\u200c\u200d',
    '\u00ad',
    '\u3164\u115f',
    '\u2800',
    '\ufff9',
    '\u{e0001}',
    '\u{13430}',
    '\u0301',
    '\ufe0f',
  ]) {
    t.equal(findTextLineError(text), NOTHING, codes(text))
  }
})

t.test('rejects forbidden characters in single-line and multi-line text', async (t) => {
  for (const [characters, fault] of [
    [['\u0000', '\u001b', '\u007f', '\u0085'], CONTROL],
    [['\u202a', '\u202e', '\u2066', '\u2069'], DIRECTION],
    [['\uffff', '\ufffe', '\ufdd0', '\ufdef', '\u{1fffe}', '\u{10ffff}'], BROKEN],
    [['\ud800', '\udc00'], BROKEN],
  ] as const) {
    for (const character of characters) {
      for (const text of [character, `Ann ${character} Example`]) {
        t.equal(findTextError(text), fault, codes(text))
        t.equal(findTextLineError(text), fault)
      }
    }
  }
})

t.test('a line must not contain line breaks', async (t) => {
  for (const text of ['a\nb', 'a\r\nb', 'a\u2028b', 'a\u2029b', 'a\tb']) {
    t.equal(findTextLineError(text), 'must be a single line without tabs', codes(text))
    t.equal(findTextError(text), null, 'any number in a longer text')
  }
})

t.test('accepts the joiners and marks that scripts need', async (t) => {
  for (const text of [
    'می\u200cخواهم',
    'ක\u0dca\u200dෂ',
    '👩‍✈️🏴‍☠️ 1️⃣',
    'مرحبا\u200f',
    '\ufeffbom',
    'ប្រទេស\u200bកម្ពុជា',
    'e\u0301',
    '-',
    '0',
    '海丸',
    '\u{20000}\u{1f6a2}',
  ]) {
    t.equal(findTextLineError(text), null, text)
    t.equal(findTextError(text), null)
  }
  t.equal(findTextError(''), null)
})

t.test('explains to guests why the name of a vessel is invalid', async (t) => {
  const { url } = await startApp(t)
  for (const [name, message] of [
    ['\uffff', BROKEN],
    ['\u200b', NOTHING],
    ['Ever\u202eGiven', DIRECTION],
  ] as const) {
    const { status, body } = await postJson(`${url}/api/qr-code/generate`, {
      ...TYPICAL_CALCULATIONS.fuel,
      vessel: { name },
    })
    t.match({ status, body }, { status: 422, body: { errors: [{ path: 'vessel.name', message }] } })
  }
})

t.test('removes characters that nobody sees', async (t) => {
  for (const [text, visible] of [
    ['Mar\u00adina', 'Marina'],
    ['\u200bAnn\u2060 Ex\ufeffample', 'Ann Example'],
    ['Ann\u200e', 'Ann'],
    ['\u202aAnn\u202c \u2068Example\u2069', 'Ann Example'],
    ['\u2068محمد Ali\u2069', 'محمد Ali'],
    ['مرحبا\u200f', 'مرحبا'],
    ['An\u200dn\u200c', 'Ann'],
    ['\u200d👩', '👩'],
    ['می\u200c\u200cخواهم', 'می\u200cخواهم'],
  ] as const) {
    t.equal(removeInvisible(text), visible, codes(text))
  }
})

t.test('keeps joiners and direction marks that change what is seen', async (t) => {
  for (const text of [
    'می\u200cخواهم',
    'ක\u0dca\u200dෂ',
    'രാജന\u0d4d\u200d',
    '👩‍✈️🏴‍☠️ 1️⃣',
    '👩🏽‍✈️',
    'Ever\u202eGiven',
    'שלום C++\u200e גשר',
  ]) {
    t.equal(removeInvisible(text), text, codes(text))
  }
})

t.test('accepts email addresses that can be reached from the internet', async (t) => {
  for (const email of [
    'ann@example.com',
    "o'hara+boats@mail.example.co.uk",
    'ann@bücher.example',
    'ann@xn--bcher-kva.example',
    'ann@bücher\u3002example',
    'δοκιμή@παράδειγμα.ελ',
    'ann@نامه\u200cای.com',
  ]) {
    t.ok(isInternetEmail(email), email)
  }
  for (const email of [
    'ann@gmail',
    'a@b',
    'x@-a.org',
    'x@a-.org',
    'x@a.-org',
    'x@a_b.org',
    'ann@192.0.2.1',
    'ann@127.1',
    'ann@example.c',
    'ann@ex%61mple.com',
    'ann@example.com:25',
    'ann@xn--a.com',
    'ann\u200d@example.com',
    `ann@${'a'.repeat(64)}.com`,
    `ann@${'a.'.repeat(130)}com`,
    '@example.com',
    'ann',
    'erased@example.invalid',
    'erased@EXAMPLE.INVALID',
  ]) {
    t.notOk(isInternetEmail(email), email)
  }
})

t.test('spellings of a mailbox have one canonical form', async (t) => {
  for (const email of [
    'ann@bücher.example',
    'Ann@BÜCHER.example',
    'ann@bu\u0308cher.example',
    'ann@xn--bcher-kva.example',
    'ann@bü\u00adcher.example',
    'a\u200bnn@bücher\u3002example',
    'ann@ｂücher．example',
  ]) {
    t.equal(toMailbox(email), 'ann@xn--bcher-kva.example', codes(email))
    t.ok(listSpellings(email).includes('ann@bücher.example'))
  }
  t.not(toMailbox('ann@bucher.example'), toMailbox('ann@bücher.example'))
  t.equal(toMailbox('Admin@localhost'), 'admin@localhost')
  t.strictSame(listSpellings('Ann@example.com'), ['Ann@example.com'])
})

t.test('suggests the address that was probably meant', async (t) => {
  for (const [typed, meant] of [
    ['ann@gmial.com', 'ann@gmail.com'],
    ['Ann@GMAI.com', 'Ann@gmail.com'],
    ['ann@hotmial.com', 'ann@hotmail.com'],
    ['ann@yahoo.con', 'ann@yahoo.com'],
    ['ann@iclooud.com', 'ann@icloud.com'],
    ['ann@gmail.com', null],
    ['ann@mail.com', null],
    ['ann@ymail.com', null],
    ['ann@example.com', null],
    ['ann', null],
    ['', null],
  ] as const) {
    t.equal(suggestEmail(typed), meant, typed)
  }
})

t.test('one-line fields lose invisible characters wherever they are entered', async (t) => {
  const { url, ann } = await startTwoAdmins(t, { PRICE_PER_TONNE: '24', CURRENCY: 'EUR' })
  const order = await ann.call('POST', '/api/admin/orders', {
    customerName: 'An\u00adn',
    customerEmail: 'ann\u200b@example.com',
    vesselName: '\u202aEver Given\u202c',
    calculatorType: 'custom',
    calculatorData: { amount: 1, unit: 'kg', description: 'Ball\u00adast' },
    co2eKg: 1,
    amountMinor: 100,
    currency: 'EUR',
  })
  t.match(order, {
    customerName: 'Ann',
    customerEmail: 'ann@example.com',
    vesselName: 'Ever Given',
    calculatorData: { description: 'Ballast' },
  })
  const changed = await ann.call('PATCH', '/api/admin/orders/1', { vesselName: 'Ever\ufeffGiven' })
  t.equal(changed.vesselName, 'EverGiven')
  await placeOrder(createGuest(url), {
    name: 'An\u00adn',
    email: 'an\u2060n@example.com',
    company: 'Sea\u200b Ltd',
  })
  t.match(await ann.call('GET', '/api/admin/orders/2'), {
    customerName: 'Ann',
    customerEmail: 'ann@example.com',
    checkout: { company: 'Sea Ltd', beneficiary: 'Ann' },
  })
  const { body } = await postJson(`${url}/api/qr-code/generate`, {
    ...TYPICAL_CALCULATIONS.fuel,
    vessel: { name: 'Ever\u00ad Given' },
  })
  t.match(decodePrefillData(body.data), { ok: true, prefill: { vessel: { name: 'Ever Given' } } })
})

t.test('a printed code with invisible characters still opens', async (t) => {
  const data = encodePrefillData({
    ...TYPICAL_CALCULATIONS.fuel,
    vessel: { name: 'Ever\u00ad\u200b Given\u200e' },
    issuedAt: 1_800_000_000,
  })
  t.match(decodePrefillData(data), { ok: true, prefill: { vessel: { name: 'Ever Given' } } })
})

t.test('email addresses without a valid domain are refused', async (t) => {
  const { url, ann } = await startTwoAdmins(t, { PRICE_PER_TONNE: '24', CURRENCY: 'EUR' })
  for (const email of ['ann@gmail', 'a@b', 'x@-a.org']) {
    const form = readForm(await createGuest(url).get('/offset?type=custom&amount=2&unit=t'))
    const refused = await createGuest(url).post('/offset', fillIn(form, { email }))
    const order = { ...newOrder(), customerEmail: email }
    const answers = [
      refused,
      await ann.post('/admin/settings/people', { email, role: 'viewer' }),
      await ann.post('/admin/orders', { customerEmail: email }),
    ]
    for (const { status, text } of answers) {
      t.not(status, 303)
      t.match(text, 'must be an email address, such as ann@example.com')
    }
    const problem = await ann.call('POST', '/api/admin/orders', order)
    t.match(problem, { status: 422, errors: [{ path: 'customerEmail' }] })
  }
  const order = { ...newOrder(), customerEmail: 'an\u200bn@example\u2060.com\ufeff' }
  t.match(await ann.call('POST', '/api/admin/orders', order), { customerEmail: 'ann@example.com' })
})

t.test('orders are found and limited by every spelling of an email', async (t) => {
  const { url, ann } = await startTwoAdmins(t, {
    PRICE_PER_TONNE: '24',
    CURRENCY: 'EUR',
    ORDER_LIMIT_PER_EMAIL: '2',
  })
  await placeOrder(createGuest(url), { email: 'Ann@Bücher.example' })
  await placeOrder(createGuest(url), { email: 'ann@xn--bcher-kva.example' })
  await t.rejects(
    placeOrder(createGuest(url), { email: 'ａnn@bücher\u3002example' }),
    /Too many orders/,
  )
  t.equal((await ann.call('GET', '/api/admin/orders/1')).customerEmail, 'Ann@Bücher.example')
  for (const q of ['ann@bücher.example', 'ann@xn--bcher-kva.example', 'ann@bü\u00adcher.example']) {
    const { items } = await ann.call('GET', `/api/admin/orders?q=${encodeURIComponent(q)}`)
    t.equal(items.length, 2, q)
  }
})

t.test('the order form suggests a correction of the email, and does not insist', async (t) => {
  const { url } = await startTwoAdmins(t, { PRICE_PER_TONNE: '24', CURRENCY: 'EUR' })
  const guest = createGuest(url)
  const form = readForm(await guest.get('/offset?type=custom&amount=2&unit=t'))
  fillIn(form, { email: 'ann@gmial.com' })
  const update = new URLSearchParams(form)
  update.set('action', 'update')
  t.match(toText(await guest.post('/offset', update)), 'Did you mean ann@gmail.com ?')
  t.equal((await guest.post('/offset', form)).status, 303)
})
