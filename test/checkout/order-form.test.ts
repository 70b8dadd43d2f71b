import t, { type Test } from 'tap'
import { createPriceList } from '../../src/checkout/prices.js'
import { createQuotes, type QuoteRequest } from '../../src/checkout/quotes.js'
import { createSigner } from '../../src/core/config/secrets.js'
import { postJson, SECRET, startApp } from '../support/app.js'
import { createGuest, fillIn, findLink, readForm, toText } from '../support/guest.js'
import { startTwoAdmins } from '../support/page-client.js'
import { startPostgres } from '../support/postgres.js'
import { recordingUpstream, upstreamEnvironment } from '../support/recording-upstream.js'

/** Emits 2,000 kg. */
const TRIP = '/offset?type=custom&amount=2&unit=t'
const PRICE = { CURRENCY: 'EUR', PRICE_PER_TONNE: '24.50', SERVICE_FEE_PERCENT: '10' }

interface OrderJson {
  id: string
  [field: string]: unknown
}

const listOrders = async (ann: { call: (method: string, path: string) => Promise<any> }) =>
  (await ann.call('GET', '/api/admin/orders?sort=placedAt')).items as OrderJson[]

t.test('a guest orders from a scanned code, without scripts', async (t) => {
  const { url, ann } = await startTwoAdmins(t, {
    ...PRICE,
    TERMS_URL: 'https://example.com/terms',
    PAYMENT_INSTRUCTIONS: 'Bank transfer\\nPT50 0002 0123',
  })
  const code = await postJson(`${url}/api/qr-code/generate`, {
    calculatorType: 'custom',
    calculatorData: { amount: 2, unit: 't' },
    vessel: { name: 'Ever <Given>', imoNumber: '9811000' },
  })
  const guest = createGuest(url)
  const scanned = await guest.get(code.body.url.slice(url.length))
  t.match(toText(scanned), /Buy credits for €53\.90/)
  const link = findLink(scanned, 'Buy credits for')
  t.match(link, /^\/offset\?data=[\w-]+&sig=[\w-]+$/, 'the trip stays signed')

  const page = await guest.get(link)
  t.equal(page.status, 200)
  t.equal(page.headers.get('cache-control'), 'no-store')
  for (const end of ['.', ')', '%22', '%E2%80%8B', '?utm_source=mail', '&amp;utm_source=mail']) {
    const stuck = toText(await guest.get(link + end))
    t.match(stuck, /Ever <Given> : 2 t CO₂e/, `with ${end} stuck to its link`)
  }
  t.equal((await guest.get(link.slice(0, -1))).status, 422, 'cut')
  t.match(toText(page), /Ever <Given> : 2 t CO₂e/)
  t.match(
    toText(page),
    /Carbon credits for 2,000 kg of CO₂e 100% of the trip €49\.00 Service fee €4\.90 €26\.95 per tonne, including the service fee\..* Total €53\.90 for 2,000 kg CO₂e/,
  )

  const ordered = await guest.post(
    '/offset',
    fillIn(readForm(page), {
      name: 'Ann <b>',
      company: 'Example Lda',
      vatId: 'PT123456789',
      beneficiary: 'The Examples',
      isPublic: 'yes',
      consent: 'yes',
    }),
  )
  t.equal(ordered.status, 303)
  const path = ordered.headers.get('location') ?? ''
  t.match(path, /^\/o\/[\w-]{22}$/)

  const [order] = await listOrders(ann)
  t.match(order, {
    status: 'pending',
    origin: 'guest',
    customerName: 'Ann <b>',
    customerEmail: 'ann@example.com',
    vesselName: 'Ever <Given>',
    imoNumber: '9811000',
    calculatorType: 'custom',
    calculatorData: { amount: 2, unit: 't' },
    co2eKg: 2000,
    amountMinor: 5390,
    currency: 'EUR',
    checkout: {
      beneficiary: 'The Examples',
      isPublic: true,
      company: 'Example Lda',
      vatId: 'PT123456789',
      portfolioId: null,
      portfolioName: null,
      sharePercent: 100,
      forGuests: null,
      pricePerTonneMinor: 2450,
      paidPerTonneMinor: 2695,
      offsetMinor: 4900,
      serviceFeeMinor: 490,
      amountMinor: 5390,
      currency: 'EUR',
      co2eKg: 2000,
      paymentMethod: 'invoice',
    },
  })
  const { items } = await ann.call('GET', `/api/admin/orders/${order?.id}/history`)
  t.match(items, [{ by: 'guest', version: 1 }])

  const own = toText(await guest.get(path))
  t.match(own, /Order CW-000001/)
  t.match(own, /Waiting for your bank transfer/)
  t.match(own, /How to pay €53\.90 Bank transfer PT50 0002 0123 Payment reference CW-000001/)
  t.match(own, /Service fee €4\.90 Total €53\.90/)
})

t.test('going back to a form with errors asked to send it again', async (t) => {
  const { url } = await startTwoAdmins(t, PRICE)
  const form = fillIn(readForm(await createGuest(url).get(TRIP)), { email: 'nobody' })
  form.set('share', 'percent')
  form.set('otherPercent', '50')
  const send = (body: URLSearchParams) =>
    fetch(`${url}/offset`, { method: 'POST', body, headers: { origin: url }, redirect: 'manual' })
  const response = await send(form)
  t.equal(response.status, 303)
  const location = response.headers.get('location') ?? ''
  t.match(location, /^\/offset\?type=custom&/)
  t.match(location, /&sharePercent=50&draft=$/, 'the share stays without the cookie')
  t.notMatch(location, /nobody|Ann/)
  const cookie = response.headers.get('set-cookie') ?? ''
  t.match(cookie, /^clearwake-order-draft=.*; Max-Age=1800; Path=\/offset; HttpOnly; SameSite=Lax/)

  const open = (cookie: string) => fetch(url + location, { headers: { cookie } })
  for (const visit of ['redirected', 'later']) {
    const page = { status: 200, headers: new Headers(), text: await (await open(cookie)).text() }
    t.match(page.text, 'value="nobody"', visit)
    t.match(page.text, /role="alert" tabindex="-1" autofocus>\s*<h2>There is a problem/)
    t.match(Object.fromEntries(readForm(page)), { share: 'percent', otherPercent: '50' })
  }
  for (const forged of ['', 'x', 'bnVsbA', 'WzFd', 'eyJuYW1lIjpbMV0sIm5vdGljZSI6WyJ4Il19']) {
    const page = await open(`clearwake-order-draft=${forged}`)
    t.equal(page.status, 200, forged)
    t.notMatch(await page.text(), 'role="alert"')
  }

  form.set('company', '会'.repeat(2_000))
  const long = await send(form)
  t.equal(long.status, 422, 'too long for a cookie')
  t.match(await long.text(), '会'.repeat(2_000))
})

t.test('missing fields are reported, and entered values are kept', async (t) => {
  const { url, ann } = await startTwoAdmins(t, { ...PRICE, TERMS_URL: 'https://example.com/terms' })
  const guest = createGuest(url)
  const form = fillIn(readForm(await guest.get(TRIP)), {
    name: '',
    email: 'nobody',
    vatId: 'x'.repeat(41),
    company: 'Example "Lda"',
  })
  const page = await guest.post('/offset', form)
  t.equal(page.status, 200)
  t.match(page.text, /<title>Error: Buy carbon credits/)
  const text = toText(page)
  t.match(
    text,
    /There is a problem Enter your name Email must be an email address, such as ann@example\.com Agree to the terms to place the order VAT ID must have at most 40 characters/,
  )
  t.match(page.text, /<a href="#vatId">VAT ID must/)
  t.match(page.text, /<details class="order-options" open>\s*<summary>Company or other name/)
  t.equal(readForm(page).get('company'), 'Example "Lda"')
  t.equal(readForm(page).get('quote'), form.get('quote'), 'the price still holds')
  for (const consent of ['', 'no']) {
    const refused = await guest.post('/offset', fillIn(form, { vatId: '', consent }))
    t.match(toText(refused), /There is a problem Agree to the terms/, `consent=${consent}`)
  }
  t.equal((await listOrders(ann)).length, 0)
})

t.test('the amount charged is the one shown', async (t) => {
  const upstream = await recordingUpstream(t)
  const yen = { pricePerTonMinor: 2000, currency: 'JPY' }
  const dinars = { pricePerTonMinor: 3333, currency: 'KWD' }
  const portfolios = [
    { ...yen, id: 1, name: 'Mix', description: 'Of all', projects: [] },
    { ...dinars, id: 2, name: 'Blue', projects: [{ name: 'Reef' }] },
  ]
  upstream.respond = (_request, response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ portfolios }))
  const { url, ann } = await startTwoAdmins(
    t,
    upstreamEnvironment(upstream.url, { SERVICE_FEE_PERCENT: '2.5' }),
  )
  const guest = createGuest(url)
  const first = await guest.get(TRIP)
  t.match(toText(first), /Total JP¥4,100/)
  t.match(toText(first), /Blue KWD 6\.833/)

  t.test('a changed choice is priced before ordering', async (t) => {
    const form = fillIn(readForm(first), { portfolioId: '2', sharePercent: '150' })
    const changed = await guest.post('/offset', form)
    t.equal(changed.status, 200)
    t.match(toText(changed), /Check the price/)
    t.match(toText(changed), /Total KWD 10\.249/)
    t.equal((await listOrders(ann)).length, 0)

    form.set('action', 'update')
    const updated = await guest.post('/offset', form)
    t.equal(updated.status, 200)
    t.match(toText(updated), /Total KWD 10\.249/)
    const next = readForm(updated)
    t.equal(next.get('name'), 'Ann Example')
    const ordered = await guest.post('/offset', next)
    t.equal(ordered.status, 303)
    const [order] = await listOrders(ann)
    t.match(order, {
      co2eKg: 3000,
      amountMinor: 10_249,
      currency: 'KWD',
      checkout: { portfolioId: 2, portfolioName: 'Blue', sharePercent: 150, serviceFeeMinor: 250 },
    })
    const own = toText(await guest.get(ordered.headers.get('location') ?? ''))
    t.match(own, /Total KWD 10\.249/)
    t.match(own, /100% \+ 50% additional contribution/)
  })

  t.test('a price is valid for 30 minutes, and then recalculated', async (t) => {
    const guest = createGuest(url)
    const form = fillIn(readForm(await guest.get(TRIP)), { email: 'ben@example.com' })
    const request: QuoteRequest = {
      calculation: { calculatorType: 'custom', calculatorData: { amount: 2, unit: 't' } },
      vessel: null,
      portfolioId: 1,
      sharePercent: 100,
    }
    const createAt = async (now: Date) => {
      const portfolio = { id: 1, name: 'Mix', description: null, projects: [] }
      const pricePerTon = { amountMinor: 1000, currency: 'JPY' }
      const prices = createPriceList(
        { listPortfolios: async () => ({ outcome: 'ok', value: [{ ...portfolio, pricePerTon }] }) },
        null,
      )
      if (prices === null) throw new Error('no prices')
      const signer = createSigner([SECRET], 'offset quote v1')
      const getTerms = () => ({ serviceFee: 250, minimumMinor: 0 })
      const result = await createQuotes({ prices, signer, getTerms }).create(request, now)
      return result.outcome === 'quoted' ? result.token : ''
    }
    form.set('quote', await createAt(new Date(Date.now() - 31 * 60_000)))
    const expired = await guest.post('/offset', form)
    t.equal(expired.status, 200)
    t.match(toText(expired), /Check the price.*Total JP¥4,100/)
    form.set('quote', await createAt(new Date(Date.now() - 29 * 60_000)))
    t.equal((await guest.post('/offset', form)).status, 303)
    const order = (await listOrders(ann)).find(
      ({ customerEmail }) => customerEmail === 'ben@example.com',
    )
    t.equal(order?.amountMinor, 2050, 'although the portfolio costs more by now')
  })

  t.test('a portfolio that is gone has to be replaced', async (t) => {
    const form = fillIn(readForm(await createGuest(url).get(TRIP)), { portfolioId: '7' })
    const page = await createGuest(url).post('/offset', form)
    t.equal(page.status, 200)
    t.match(toText(page), /is no longer offered: choose another one/)
  })
})

t.test('a guest pays the whole trip, their own part or another share', async (t) => {
  const { url, ann } = await startTwoAdmins(t, PRICE)
  const guest = createGuest(url)
  const trip = `${TRIP}&guests=8`
  const open = async (query = '') => {
    const page = await createGuest(url).get(trip + query)
    return { page, text: toText(page), form: readForm(page) }
  }
  const price = async (form: URLSearchParams) => {
    form.set('action', 'update')
    const page = await guest.post('/offset', form)
    form.delete('action')
    return { status: page.status, text: toText(page), form: readForm(page) }
  }
  t.match((await open()).text, /Carbon credits for 2,000 kg of CO₂e 100% of the trip/)
  const part = await open('&forGuests=3')
  t.match(part.text, /Carbon credits for 750 kg of CO₂e the part of 3 of 8 guests/)
  t.match(
    (await open('&sharePercent=37')).text,
    /Carbon credits for 740 kg of CO₂e 37% of the trip/,
  )
  t.match((await open('&sharePercent=150')).text, /100% \+ 50% additional contribution/)

  // Without scripts, the form sends both numbers, and its radio button selects one.
  const { form } = await open()
  form.set('share', 'guests')
  form.set('partGuests', '2')
  t.match((await price(form)).text, /the part of 2 of 8 guests/)
  form.set('share', 'percent')
  form.set('otherPercent', '60')
  t.match((await price(form)).text, /60% of the trip/)
  form.set('share', 'whole')
  t.match((await price(form)).text, /100% of the trip/)

  const ordered = await guest.post('/offset', fillIn(part.form))
  t.equal(ordered.status, 303)
  const [order] = await listOrders(ann)
  t.match(order, {
    co2eKg: 750,
    amountMinor: 2022,
    checkout: { sharePercent: null, forGuests: 3, amountMinor: 2022, currency: 'EUR', co2eKg: 750 },
  })
  const own = toText(await guest.get(ordered.headers.get('location') ?? ''))
  t.match(own, /Carbon credits 750 kg of CO₂e the part of 3 of 8 guests/)
  const portal = toText(await ann.get(`/admin/orders/${order?.id}`))
  t.match(portal, /The order is for the part of 3 of 8 guests\./)
  const recalculated = await ann.call('POST', `/api/admin/orders/${order?.id}/recalculate`)
  t.equal(recalculated.co2eKg, 750)
})

t.test('an invalid share is reported, and has no price', async (t) => {
  const { url, ann } = await startTwoAdmins(t, PRICE)
  const table: [query: string, message: RegExp][] = [
    ['&sharePercent=0', /Enter a whole percentage from 1 to 200/],
    ['&sharePercent=201', /Enter a whole percentage from 1 to 200/],
    ['&sharePercent=1e2', /Enter a whole percentage from 1 to 200/],
    ['&forGuests=1', /needs a trip with guests/],
    ['&guests=2&forGuests=3', /Enter a number of guests from 1 to 2/],
    ['&guests=2&forGuests=0', /Enter a number of guests from 1 to 2/],
    ['&guests=2&forGuests=1&sharePercent=50', /cannot be combined with sharePercent/],
  ]
  for (const [query, message] of table) {
    const page = await createGuest(url).get(TRIP + query)
    t.equal(page.status, 422, query)
    t.match(toText(page), message, query)
    t.match(toText(page), /There is a problem /, query)
    t.match(toText(page), /Correct the amount to see the price\./, query)
    t.notMatch(toText(page), /Total €/, query)
    const posted = await createGuest(url).post('/offset', fillIn(readForm(page)))
    t.not(posted.status, 303, query)
  }
  t.equal((await listOrders(ann)).length, 0)
})

/** Submits a form many times at once; returns the distinct locations. */
async function submitAtOnce(t: Test, urls: readonly string[], form: URLSearchParams) {
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      createGuest(urls[i % urls.length] ?? '').post('/offset', form),
    ),
  )
  t.same([...new Set(responses.map(({ status }) => status))], [303])
  return new Set(responses.map(({ headers }) => headers.get('location')))
}

t.test('a name that the PDF cannot show is said at the field, before the order', async (t) => {
  const { url, ann } = await startTwoAdmins(t, PRICE)
  const guest = createGuest(url)
  const problem = /The PDF cannot show “مثال”, because there is no font for Arabic\. The page/
  const form = fillIn(readForm(await guest.get(TRIP)), { name: 'مثال' })
  const first = await guest.post('/offset', form)
  t.equal(first.status, 200)
  t.match(toText(first), /Nothing has been ordered yet\. To keep the name, leave it as it is\./)
  t.match(toText(first), problem)
  t.same(await listOrders(ann), [])

  const other = fillIn(readForm(first), { name: 'مثال', beneficiary: 'م' })
  t.equal((await guest.post('/offset', other)).status, 200, 'another name is said again')
  const printable = fillIn(readForm(first), { name: 'مثال', beneficiary: 'Ann' })
  printable.set('action', 'update')
  t.notMatch(toText(await guest.post('/offset', printable)), /PDF cannot show/)
  t.equal((await guest.post('/offset', fillIn(readForm(first), { name: 'مثال' }))).status, 303)
  t.match(await listOrders(ann), [{ checkout: { beneficiary: 'مثال' } }])
})

t.test('20 submissions at once create one order in SQLite', async (t) => {
  const { url, app, ann } = await startTwoAdmins(t, PRICE)
  const form = fillIn(readForm(await createGuest(url).get(TRIP)))
  const locations = await submitAtOnce(t, [url], form)
  t.equal(locations.size, 1)
  t.equal((await listOrders(ann)).length, 1)
  const links = await app.database.query('SELECT * FROM order_links')
  t.equal(links.length, 1)
  t.equal((await createGuest(url).get([...locations][0] ?? '')).status, 200)
})

t.test('20 submissions at once to two processes create one order in PostgreSQL', async (t) => {
  const url = await (await startPostgres(t)).createDatabase()
  const environment = { ...PRICE, DATABASE_URL: url, SESSION_SECRET: SECRET }
  const first = await startTwoAdmins(t, environment)
  const second = await startApp(t, environment)
  const form = fillIn(readForm(await createGuest(first.url).get(TRIP)))
  const locations = await submitAtOnce(t, [first.url, second.url], form)
  t.equal(locations.size, 1)
  t.equal((await listOrders(first.ann)).length, 1)
  t.equal((await createGuest(second.url).get([...locations][0] ?? '')).status, 200)
})

t.test('going back, reloading and a lost response show the same order', async (t) => {
  const { url, ann } = await startTwoAdmins(t, PRICE)
  const guest = createGuest(url)
  const form = fillIn(readForm(await guest.get(TRIP)))
  const { headers } = await guest.post('/offset', form)
  const location = headers.get('location')
  t.equal((await guest.post('/offset', form)).headers.get('location'), location, 'sent again')

  // The browser requests the form again; a second tab does the same.
  for (const form of [readForm(await guest.get(TRIP)), readForm(await guest.get(TRIP))]) {
    const again = await guest.post('/offset', fillIn(form))
    t.equal(again.headers.get('location'), location, 'the same details')
  }
  const other = await guest.post(
    '/offset',
    fillIn(readForm(await guest.get(TRIP)), { name: 'Ben' }),
  )
  t.equal(other.status, 200)
  t.match(toText(other), /Place another order\?/)
  t.notMatch(other.text, location ?? '', 'the order may be that of somebody else')
  t.equal((await listOrders(ann)).length, 1)
  t.equal((await guest.post('/offset', readForm(other))).status, 303, 'another order on demand')
  t.equal((await listOrders(ann)).length, 2)

  const otherTrip = readForm(await guest.get('/offset?type=custom&amount=3&unit=t'))
  t.equal((await guest.post('/offset', fillIn(otherTrip))).status, 303)
  t.equal((await listOrders(ann)).length, 3)
  const stranger = fillIn(readForm(await createGuest(url).get(TRIP)))
  t.not((await guest.post('/offset', stranger)).headers.get('location'), location)
})

t.test('orders are limited per email address and per client', async (t) => {
  const { url, ann } = await startTwoAdmins(t, {
    ...PRICE,
    ORDER_LIMIT_PER_EMAIL: '2',
    ORDER_LIMIT_PER_CLIENT: '3',
  })
  const order = async (email: string) => {
    const form = fillIn(readForm(await createGuest(url).get(TRIP)), { email })
    const response = await createGuest(url).post('/offset', form)
    return { form, response }
  }
  const { form } = await order('ann@example.com')
  for (let i = 0; i < 5; i++) {
    t.equal((await createGuest(url).post('/offset', form)).status, 303, 'repetitions do not count')
  }
  t.equal((await order('Ann@Example.com')).response.status, 303)
  const limited = await order('ann@example.com')
  t.equal(limited.response.status, 200, 'shown after a redirect')
  t.match(toText(limited.response), /Too many orders\. Try again in 60 minutes\./)
  t.equal(readForm(limited.response).get('email'), 'ann@example.com', 'the form is kept')
  t.equal((await order('ben@example.com')).response.status, 303)
  t.match(toText((await order('cy@example.com')).response), /Too many orders/)
  t.equal((await listOrders(ann)).length, 3)
})

t.test('forms from other sites, and forged forms, order nothing', async (t) => {
  const { url, ann } = await startTwoAdmins(t, PRICE)
  const guest = createGuest(url)
  const form = fillIn(readForm(await guest.get(TRIP)))
  const crossSite = [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]
  for (const headers of crossSite) {
    t.equal((await guest.post('/offset', form, headers)).status, 403)
  }
  const token = form.get('form') ?? ''
  for (const forged of ['', 'x', token.replace(/^../, 'AA'), token.slice(0, -2)]) {
    const copy = new URLSearchParams(form)
    copy.set('form', forged)
    const response = await guest.post('/offset', copy)
    t.equal(response.status, 200, forged)
    t.match(toText(response), /This form has expired/)
  }
  const otherTrip = new URLSearchParams(form)
  otherTrip.set('amount', '1')
  t.equal((await guest.post('/offset', otherTrip)).status, 200, 'a form is for one trip')
  t.equal((await listOrders(ann)).length, 0)
})

t.test('an invalid trip links to the calculator', async (t) => {
  const { url } = await startApp(t, PRICE)
  const guest = createGuest(url)
  const empty = await guest.get('/offset')
  t.equal(empty.status, 422)
  t.match(toText(empty), /There is no trip to buy carbon credits for\. Calculate one first\./)
  const incomplete = await guest.get('/offset?type=custom&unit=t')
  t.equal(incomplete.status, 303)
  t.equal(incomplete.headers.get('location'), '/calculator/custom?type=custom&unit=t')
  const long = await guest.get(`/offset?type=custom&amount=${'x'.repeat(10_000)}&unit=t`)
  t.equal(long.headers.get('location'), '/calculator/custom', 'headers stay short')
  const damaged = await guest.get('/offset?data=WzEsMF0&sig=xxxxxxxxxxxxxxxxxxxxxx')
  t.equal(damaged.status, 422)
  t.match(toText(damaged), /This code could not be read/)
  const tiny = await guest.get('/offset?type=custom&amount=0.0001&unit=kg')
  t.equal(tiny.status, 422)
  t.match(toText(tiny), /too small to be ordered here/)

  const { body } = await postJson(`${url}/api/qr-code/generate`, {
    calculatorType: 'custom',
    calculatorData: { amount: 2, unit: 't' },
    vessel: { name: 'Eendracht' },
  })
  // An edited trip keeps the vessel of its code.
  const edited = await guest.get(
    `/calculator/custom?amount=3&unit=t&code=${body.data}&codeSig=${body.sig}`,
  )
  const page = await guest.get(findLink(edited, 'Buy credits for'))
  t.match(toText(page), /Eendracht : 3 t CO₂e/)
  const forged = await guest.get(`/offset?type=custom&amount=3&unit=t&code=${body.data}&codeSig=x`)
  t.notMatch(toText(forged), /Eendracht/)
})

t.test('without a price, ordering is off', async (t) => {
  const { url } = await startApp(t)
  const guest = createGuest(url)
  t.notMatch((await guest.get('/calculator/custom?amount=2&unit=t')).text, /Buy c/)
  const page = await guest.get(TRIP)
  t.equal(page.status, 404)
  t.match(toText(page), /Ordering is not available here\./)
  t.equal((await guest.post('/offset', new URLSearchParams())).status, 404)
})

t.test('a checkout of the operator comes first', async (t) => {
  const { url } = await startApp(t, { ...PRICE, CHECKOUT_URL: 'https://shop.example.com/' })
  const page = await createGuest(url).get('/calculator/custom?amount=2&unit=t')
  t.match(findLink(page, 'Buy carbon credits'), /^\/calculator\/custom\/checkout\?/)
})
