import fc from 'fast-check'
import t from 'tap'
import { EXAMPLES } from '../../src/calculator/calculator-data.js'
import { calculateEstimate } from '../../src/calculator/estimate.js'
import { parseDecimal } from '../../src/checkout/checkout-config.js'
import { calculatePriceParts, createPriceList } from '../../src/checkout/prices.js'
import { createQuotes, type Quote, type QuoteRequest } from '../../src/checkout/quotes.js'
import { createSigner } from '../../src/core/config/secrets.js'
import { PORTFOLIOS } from '../../src/demo/fake-provider/portfolios.js'
import { calculatePrice } from '../../src/orders/amount.js'
import { postJson, SECRET, startApp } from '../support/app.js'
import { offerCredits, startProvider } from '../support/guest-orders.js'
import { recordingUpstream, upstreamEnvironment } from '../support/recording-upstream.js'
import { STRIPE_KEYS } from '../support/stripe.js'

/** Emits 2,000 kg. */
const TWO_TONNES = { calculatorType: 'custom', calculatorData: { amount: 2, unit: 't' } } as const

const requestQuote = (url: string, body: object) => postJson(`${url}/api/offset-quotes`, body)

t.test('the offset is rounded up to the minor unit, the service fee half up', async (t) => {
  const noFee = { serviceFee: 0, minimumMinor: 0 }
  const table: [grams: number, perTonne: number, fee: number, parts: [number, number, number]][] = [
    // 1.653123 t at 24.00: 39.674952
    [1_653_123, 2_400, 0, [3_968, 0, 3_968]],
    // Exactly half a cent
    [1_000_000, 2_401, 5_000, [2_401, 1_201, 3_602]],
    [500_000, 2_401, 0, [1_201, 0, 1_201]],
    [499_999, 2_401, 0, [1_201, 0, 1_201]],
    // 2.5 % of 12.00 is 0.30
    [500_000, 2_400, 250, [1_200, 30, 1_230]],
    [1, 2_400, 0, [1, 0, 1]],
    // Yen have no decimals, dinars three
    [1_653_123, 3_500, 1_000, [5_786, 579, 6_365]],
    [1_653_123, 7_425, 1_000, [12_275, 1_228, 13_503]],
    // Beyond 2^53 in between
    [999_999_999_999, 1_000_000, 1, [999_999_999_999, 100_000_000, 1_000_099_999_999]],
  ]
  for (const [grams, perTonne, serviceFee, [offsetMinor, serviceFeeMinor, amountMinor]] of table) {
    t.same(
      calculatePriceParts(grams, perTonne, { ...noFee, serviceFee }),
      { offsetMinor, serviceFeeMinor, amountMinor },
      `${grams} g at ${perTonne}, fee ${serviceFee}`,
    )
  }
  t.same(
    calculatePriceParts(100_000, 2_400, { serviceFee: 1_000, minimumMinor: 500 }),
    { offsetMinor: 240, serviceFeeMinor: 260, amountMinor: 500 },
    'the service fee raises a price to the minimum',
  )
  t.same(calculatePriceParts(1_000_000, 2_400, { serviceFee: 0, minimumMinor: 500 }), {
    offsetMinor: 2_400,
    serviceFeeMinor: 0,
    amountMinor: 2_400,
  })
})

t.test(
  'the parts of any price add up, and the offset costs what the provider charges',
  async () => {
    const grams = fc.integer({ min: 1, max: 1_000_000_000_000 })
    const perTonne = fc.integer({ min: 1, max: 100_000 })
    const serviceFee = fc.integer({ min: 0, max: 10_000 })
    const property = fc.property(grams, perTonne, serviceFee, (grams, perTonne, serviceFee) => {
      const parts = calculatePriceParts(grams, perTonne, { serviceFee, minimumMinor: 0 })
      const charged = calculatePrice(grams / 1_000_000, { amountMinor: perTonne, currency: 'EUR' })
      const isExact = grams * perTonne < 1e14
      return (
        parts.offsetMinor + parts.serviceFeeMinor === parts.amountMinor &&
        (!isExact || parts.offsetMinor === charged.amountMinor)
      )
    })
    fc.assert(property, { numRuns: 500 })
  },
)

t.test('decimals are read without rounding', async (t) => {
  t.equal(parseDecimal('24.50', 2), 2450)
  t.equal(parseDecimal('24.5', 2), 2450)
  t.equal(parseDecimal('0.29', 2), 29)
  t.equal(parseDecimal('3500', 0), 3500)
  t.equal(parseDecimal('7.425', 3), 7425)
  for (const text of ['', '-1', '1e3', '1,5', '1.', '.5', ' 1', '0x10', '24.505', '9'.repeat(16)]) {
    t.equal(parseDecimal(text, 2), null, JSON.stringify(text))
  }
})

t.test('a quote has a price with its parts, in currencies with 0, 2 and 3 decimals', async (t) => {
  const cases = [
    { currency: 'JPY', price: '3500', parts: [7_000, 700, 7_700] },
    { currency: 'EUR', price: '24.5', parts: [4_900, 490, 5_390] },
    { currency: 'KWD', price: '7.425', parts: [14_850, 1_485, 16_335] },
  ]
  for (const { currency, price, parts } of cases) {
    const { url } = await startApp(t, {
      CURRENCY: currency,
      PRICE_PER_TONNE: price,
      SERVICE_FEE_PERCENT: '10',
    })
    const { status, body } = await requestQuote(url, TWO_TONNES)
    t.equal(status, 200)
    t.same([body.offsetMinor, body.serviceFeeMinor, body.amountMinor], parts, currency)
    t.match(body, { currency, co2eKg: 2000, tonnes: 2, sharePercent: 100, portfolio: null })
    const remaining = Date.parse(body.validUntil) - Date.now()
    t.ok(remaining > 29 * 60_000 && remaining <= 30 * 60_000, 'it is valid for 30 minutes')
  }
})

t.test('a quote is an amount that Stripe can charge', async (t) => {
  const stripe = { ...STRIPE_KEYS, SERVICE_FEE_PERCENT: '10' }
  const kilogram = { calculatorType: 'custom', calculatorData: { amount: 1, unit: 'kg' } } as const
  for (const [currency, price, request, parts] of [
    ['EUR', '24.5', kilogram, [3, 47, 50]],
    ['SEK', '24.5', kilogram, [3, 297, 300]],
    ['KWD', '7.425', TWO_TONNES, [14_850, 1_490, 16_340]],
    ['EUR', '24.5', TWO_TONNES, [4_900, 490, 5_390]],
  ] as const) {
    const { url } = await startApp(t, { ...stripe, CURRENCY: currency, PRICE_PER_TONNE: price })
    const { body } = await requestQuote(url, request)
    t.same([body.offsetMinor, body.serviceFeeMinor, body.amountMinor], parts, currency)
  }
  const { url } = await startApp(t, { ...stripe, CURRENCY: 'ISK', PRICE_PER_TONNE: '500000' })
  const { status, body } = await requestQuote(url, TWO_TONNES)
  t.equal(status, 422, 'Stripe charges at most ISK 999,999')
  t.match(body.errors, [{ message: /too large/ }])
})

t.test(
  'a quote is for any whole percentage of the emissions of the trip, up to twice as much',
  async (t) => {
    const { url } = await startApp(t, { PRICE_PER_TONNE: '20', MINIMUM_AMOUNT: '5' })
    const { co2eKg } = calculateEstimate(EXAMPLES.fuel)
    for (const sharePercent of [1, 37, 100, 150, 200]) {
      const { body } = await requestQuote(url, { ...EXAMPLES.fuel, sharePercent })
      const grams = Math.round(co2eKg * 10 * sharePercent)
      t.equal(body.co2eKg, grams / 1000)
      t.equal(body.amountMinor, Math.max(500, Math.ceil((grams * 2000) / 1_000_000)))
    }
    const small = { calculatorType: 'custom', calculatorData: { amount: 1, unit: 'kg' } }
    t.match((await requestQuote(url, small)).body, {
      offsetMinor: 2,
      serviceFeeMinor: 498,
      amountMinor: 500,
    })
  },
)

t.test('every invalid field of a request is reported', async (t) => {
  const { url } = await startApp(t, { PRICE_PER_TONNE: '20' })
  const { status, body } = await requestQuote(url, {
    calculatorType: 'fuel',
    calculatorData: { fuelType: 'mgo', quantity: -1, unit: 'l' },
    sharePercent: 201,
    portfolioId: 'x',
    vessel: { name: '' },
  })
  t.equal(status, 422)
  t.same(body.errors.map(({ path }: { path: string }) => path).toSorted(), [
    'calculatorData.quantity',
    'portfolioId',
    'sharePercent',
    'vessel.name',
  ])
  for (const [request, path] of [
    [{ ...TWO_TONNES, portfolioId: 1 }, 'portfolioId'],
    [
      { calculatorType: 'custom', calculatorData: { amount: 0.0001, unit: 'kg' } },
      'calculatorData',
    ],
    [
      {
        calculatorType: 'custom',
        calculatorData: { amount: 1_000_000, unit: 't' },
        sharePercent: 200,
      },
      'calculatorData',
    ],
  ] as const) {
    const rejected = await requestQuote(url, request)
    t.equal(rejected.status, 422)
    t.equal(rejected.body.errors[0].path, path)
  }
})

/** Emits 1,000.001 kg with three guests. */
const THREE_GUESTS = {
  calculatorType: 'custom',
  calculatorData: { amount: 1000.001, unit: 'kg', guests: 3 },
} as const

t.test('a guest pays for the part of some guests, rounded up to the gram', async (t) => {
  const { url } = await startApp(t, { PRICE_PER_TONNE: '20', CURRENCY: 'EUR' })
  const quote = async (body: object) => (await requestQuote(url, body)).body
  t.match(await quote({ ...THREE_GUESTS, forGuests: 1 }), {
    co2eKg: 333.334,
    amountMinor: 667,
    forGuests: 1,
    sharePercent: null,
  })
  t.match(await quote({ ...THREE_GUESTS, forGuests: 2 }), { co2eKg: 666.668 })
  const [all, whole] = [await quote({ ...THREE_GUESTS, forGuests: 3 }), await quote(THREE_GUESTS)]
  t.equal(all.co2eKg, 1000.001)
  t.equal(all.amountMinor, whole.amountMinor)
  t.match(whole, { sharePercent: 100, forGuests: null })
})

t.test('a share that the trip does not have names its field', async (t) => {
  const { url } = await startApp(t, { PRICE_PER_TONNE: '20' })
  const table: [request: object, path: string, message: RegExp][] = [
    [{ ...THREE_GUESTS, forGuests: 1, sharePercent: 100 }, 'forGuests', /combined/],
    [{ ...THREE_GUESTS, forGuests: 4 }, 'forGuests', /at most 3/],
    [{ ...THREE_GUESTS, forGuests: 0 }, 'forGuests', /./],
    [{ ...THREE_GUESTS, forGuests: 1.5 }, 'forGuests', /whole number/],
    [{ ...TWO_TONNES, forGuests: 1 }, 'forGuests', /needs a trip with guests/],
    [{ ...TWO_TONNES, sharePercent: 0 }, 'sharePercent', /./],
    [{ ...TWO_TONNES, sharePercent: 201 }, 'sharePercent', /./],
    [{ ...TWO_TONNES, sharePercent: 99.5 }, 'sharePercent', /whole number/],
  ]
  for (const [request, path, message] of table) {
    const { status, body } = await requestQuote(url, request)
    t.equal(status, 422, JSON.stringify(request))
    t.match(body.errors, [{ path, message }], JSON.stringify(request))
    t.equal(body.errors.length, 1)
  }
})

t.test('the order URL opens the form with the quote, in any browser', async (t) => {
  const { url } = await startApp(t, { PRICE_PER_TONNE: '20', CURRENCY: 'EUR' })
  const requests = [
    { ...EXAMPLES.fuel, sharePercent: 37 },
    { ...EXAMPLES.distance },
    { ...THREE_GUESTS, forGuests: 2 },
    { ...TWO_TONNES, vessel: { name: 'Ever <Given>', imoNumber: 'IMO 9811000' } },
    {
      calculatorType: 'fuel',
      calculatorData: { fuelType: 'mgo', quantity: 1500.5, unit: 'l', furtherLines: [] },
    },
  ]
  for (const request of requests) {
    const { body } = await requestQuote(url, request)
    t.ok(body.orderUrl.startsWith(`${url}/offset?`))
    const headers = { 'accept-language': 'de-DE' }
    const page = await fetch(body.orderUrl, { headers })
    t.equal(page.status, 200)
    const html = await page.text()
    t.match(html, `name="quote" value="${body.token}"`, 'the same quote')
    if ('vessel' in request) t.match(html, 'Ever &lt;Given&gt;')
  }
})

t.test('only a signed link adds a vessel, also through an order URL', async (t) => {
  const { url } = await startApp(t, { PRICE_PER_TONNE: '20', QR_REQUIRE_ADMIN: 'true' })
  const { body } = await requestQuote(url, { ...TWO_TONNES, vessel: { name: 'Eendracht' } })
  t.equal(body.orderUrl, null)
  t.ok((await requestQuote(url, TWO_TONNES)).body.orderUrl)
})

t.test('without a price, ordering is off', async (t) => {
  const { url } = await startApp(t)
  const { status, body } = await requestQuote(url, TWO_TONNES)
  t.equal(status, 404)
  t.equal(body.detail, 'Ordering is not available here.')
})

t.test('the result page, the form and the API show the same price, with its minimum', async (t) => {
  const { url } = await startApp(t, {
    ...offerCredits(await startProvider(t)),
    ...STRIPE_KEYS,
    CURRENCY: 'EUR',
    SERVICE_FEE_PERCENT: '5',
  })
  const read = async (path: string) => {
    const response = await fetch(url + path, { headers: { 'accept-language': 'en-US' } })
    return (await response.text()).replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
  }
  const show = async (amount: string) => {
    // The form waits for the provider's prices, the result does not wait long.
    const form = await read(`/offset?type=custom&amount=${amount}&unit=kg`)
    return { form, result: await read(`/calculator/custom?amount=${amount}&unit=kg`) }
  }
  // The result once showed $0.02 and the form $0.50.
  const small = await show('0.5')
  t.match(small.result, /Buy credits for US\$0\.50/)
  t.match(
    small.form,
    /This is the smallest amount that can be ordered; .* Total US\$0\.50 for 0\.5 kg/,
  )
  t.notMatch(small.result, /\$0\.02/)
  // The result once showed $25.10 a tonne, and the form $23.90.
  const usual = await show('1653.135')
  t.match(usual.result, /US\$41\.49 US\$25\.10 per tonne/)
  t.match(
    usual.form,
    /US\$25\.10 per tonne, including the service fee\. .* Total US\$41\.49 for 1,653 kg/,
  )
  t.notMatch(usual.form, /\$23\.90/)

  // More than Stripe charges: no price that cannot be paid.
  const large = await show('90000000')
  for (const text of [large.result, large.form]) {
    t.match(text, /This is too large to be ordered here at once\./)
    t.match(text, /Cannot be ordered/)
    t.notMatch(text, /\$2,/)
  }
  const part = await read('/offset?type=custom&amount=90000000&unit=kg&sharePercent=10')
  t.match(part, /Total US\$225,855\.00/, 'a part can be ordered')
})

t.test('quotes are limited per client', async (t) => {
  const { url } = await startApp(t, { PRICE_PER_TONNE: '20', ORDER_RATE_LIMIT_PER_MINUTE: '2' })
  t.equal((await requestQuote(url, TWO_TONNES)).status, 200)
  t.equal((await requestQuote(url, TWO_TONNES)).status, 200)
  t.equal((await requestQuote(url, TWO_TONNES)).status, 429)
})

t.test('prices of the provider', async (t) => {
  const environment = offerCredits(await startProvider(t))

  t.test('are those of the chosen portfolio, or of the first one', async (t) => {
    const { url } = await startApp(t, { ...environment, CURRENCY: 'EUR', MINIMUM_AMOUNT: '500' })
    for (const { id, name, pricePerTonMinor } of PORTFOLIOS) {
      const { body } = await requestQuote(url, { ...TWO_TONNES, portfolioId: id })
      t.match(body, {
        amountMinor: 2 * pricePerTonMinor,
        pricePerTonneMinor: pricePerTonMinor,
        currency: 'USD',
        portfolio: { id, name },
      })
    }
    t.equal((await requestQuote(url, TWO_TONNES)).body.portfolio.id, PORTFOLIOS[0]?.id)
    const unknown = await requestQuote(url, { ...TWO_TONNES, portfolioId: 999 })
    t.same(unknown.body.errors, [
      { path: 'portfolioId', message: 'is not one of the portfolios that can be ordered' },
    ])
  })

  t.test('are not shown if guests may not read portfolios', async (t) => {
    const hidden = { ...environment, ORDERSOURCE_PUBLIC_ROUTES: 'none' }
    const { url } = await startApp(t, hidden)
    t.equal((await requestQuote(url, TWO_TONNES)).status, 404)
    const priced = await startApp(t, { ...hidden, PRICE_PER_TONNE: '30' })
    const { body } = await requestQuote(priced.url, TWO_TONNES)
    t.match(body, { amountMinor: 6000, portfolio: null })
  })
})

t.test('prices are read once for many quotes, and missing prices are reported', async (t) => {
  const upstream = await recordingUpstream(t)
  let isDown = true
  upstream.respond = (_request, response) => {
    response.writeHead(isDown ? 500 : 200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        portfolios: [
          { id: 1, name: 'No price', projects: [] },
          { id: 2, name: 'Mix', pricePerTonMinor: 2000, currency: 'eur', projects: [] },
          { id: 3, name: 'No currency', pricePerTonMinor: 2000, currency: 'ABC', projects: [] },
        ],
      }),
    )
  }
  const down = await startApp(t, upstreamEnvironment(upstream.url))
  const { status, headers, body } = await requestQuote(down.url, TWO_TONNES)
  t.equal(status, 503)
  t.equal(headers.get('retry-after'), '60')
  t.match(body.detail, /Offset prices are unavailable/)

  isDown = false
  upstream.requests.length = 0
  const { url } = await startApp(t, upstreamEnvironment(upstream.url))
  const quotes = await Promise.all(Array.from({ length: 10 }, () => requestQuote(url, TWO_TONNES)))
  t.ok(quotes.every(({ body }) => body.portfolio.id === 2 && body.currency === 'EUR'))
  t.equal(upstream.requests.length, 1)

  const fallback = await startApp(t, {
    ...upstreamEnvironment(upstream.url),
    PRICE_PER_TONNE: '30',
  })
  t.match((await requestQuote(fallback.url, TWO_TONNES)).body, {
    portfolio: { id: 1 },
    pricePerTonneMinor: 3000,
    currency: 'USD',
  })
})

t.test('callers with a short deadline do not wait for a slow provider', async (t) => {
  const prices = createPriceList({ listPortfolios: () => new Promise(() => undefined) }, null)
  const startedAt = performance.now()
  t.equal(await prices?.readQuickly(), null)
  t.ok(performance.now() - startedAt < 30_000)
})

t.test('the token of a quote', async (t) => {
  const request: QuoteRequest = {
    calculation: { ...TWO_TONNES },
    vessel: { name: 'Ever Given' },
    portfolioId: null,
    sharePercent: 150,
  }
  const prices = createPriceList(null, { amountMinor: 2450, currency: 'EUR' })
  if (prices === null) throw new Error('no prices')
  const createWith = (...secrets: [string, ...string[]]) =>
    createQuotes({
      prices,
      signer: createSigner(secrets, 'offset quote v1'),
      getTerms: () => ({ serviceFee: 0, minimumMinor: 0 }),
    })
  const quotes = createWith(SECRET)
  const now = new Date('2026-11-20T12:00:00Z')
  const result = await quotes.create(request, now)
  if (result.outcome !== 'quoted') throw new Error(result.outcome)
  const { token, quote } = result

  t.same(quotes.read(token, request, now), quote, 'holds the price')
  const later = new Date('2026-11-20T12:29:59.999Z')
  t.same(quotes.read(token, request, later), quote)
  t.equal(quotes.read(token, request, new Date('2026-11-20T12:30:00Z')), null, 'expires')

  const newSecret = 'another secret for tests, of more than 32 bytes'
  t.same(createWith(newSecret, SECRET).read(token, request, now), quote, 'survives a new secret')
  t.equal(createWith(newSecret).read(token, request, now), null)

  const others: Partial<QuoteRequest>[] = [
    { sharePercent: 100 },
    { portfolioId: 2 },
    { vessel: null },
    { calculation: { calculatorType: 'custom', calculatorData: { amount: 1, unit: 't' } } },
  ]
  for (const other of others) {
    t.equal(quotes.read(token, { ...request, ...other }, now), null, JSON.stringify(other))
  }
  const [payload = '', signature = ''] = token.split('.')
  const cheaper: Quote = { ...quote, amountMinor: 1 }
  const edited = Buffer.from(JSON.stringify(cheaper)).toString('base64url')
  for (const forged of ['', '.', token.slice(0, -1), payload, `${edited}.${signature}`, 'a.b.c']) {
    t.equal(quotes.read(forged, request, now), null, forged)
  }
})

t.test('invalid prices prevent the start', async (t) => {
  for (const price of ['0', '-1', 'free', '1e3', '24.505', '24,50']) {
    await t.rejects(
      startApp(t, { PRICE_PER_TONNE: price }),
      /PRICE_PER_TONNE must be an amount in USD/,
    )
  }
  await t.rejects(startApp(t, { PRICE_PER_TONNE: '24.5', CURRENCY: 'JPY' }), /without decimals/)
  await t.rejects(startApp(t, { MINIMUM_AMOUNT: '0' }), /MINIMUM_AMOUNT must be/)
  for (const percent of ['-1', '1001', '2.555', '1e1']) {
    await t.rejects(startApp(t, { SERVICE_FEE_PERCENT: percent }), /SERVICE_FEE_PERCENT must be/)
  }
})
