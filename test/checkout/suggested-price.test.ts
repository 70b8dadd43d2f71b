import t, { type Test } from 'tap'
import { postJson } from '../support/app.js'
import { offerCredits, startProvider } from '../support/guest-orders.js'
import { HTMX_HEADERS, startTwoAdmins, type PageResponse } from '../support/page-client.js'
import { STRIPE_KEYS } from '../support/stripe.js'

const FIELDS = {
  customerName: 'Ann',
  customerEmail: 'ann@example.com',
  co2eKg: '2000',
  currency: 'EUR',
}

async function start(t: Test, environment: NodeJS.ProcessEnv = {}) {
  const provider = await startProvider(t)
  const service = await startTwoAdmins(t, { ...offerCredits(provider), ...environment })
  const suggest = (fields: Record<string, string>) =>
    service.ann.post('/admin/orders/new/price', { ...FIELDS, ...fields }, HTMX_HEADERS)
  return { ...service, provider, suggest }
}

const readPrice = ({ text }: PageResponse) => ({
  amount: /name="amount" value="([^"]*)"/.exec(text)?.[1],
  currency: /<option value="(\w+)" selected>/.exec(text)?.[1],
  hint: /price-hint">([^<]*)</.exec(text)?.[1],
})

t.test('the amount is the price that a guest is quoted', async (t) => {
  const { url, suggest } = await start(t, { SERVICE_FEE_PERCENT: '7.25', MINIMUM_AMOUNT: '3' })
  for (const kilograms of [0.5, 60.01, 1653.1353, 12_345.6789]) {
    const { body } = await postJson(`${url}/api/offset-quotes`, {
      calculatorType: 'custom',
      calculatorData: { amount: kilograms, unit: 'kg' },
      portfolioId: 2,
    })
    const { amount } = readPrice(await suggest({ portfolio: '2', co2eKg: String(kilograms) }))
    t.equal(amount, (body.amountMinor / 100).toFixed(2), `${kilograms} kg`)
  }
})

t.test('the amount follows the portfolio until another one is typed', async (t) => {
  const { suggest } = await start(t, { SERVICE_FEE_PERCENT: '12.5' })
  const suggested = {
    amount: '53.78',
    currency: 'USD',
    hint: 'Suggested from the portfolio, including a service fee of 12.5%. You can enter another amount.',
  }
  t.same(readPrice(await suggest({ portfolio: '1' })), suggested)
  const calculated = { amount: '53.78', currency: 'USD', calculatedPrice: '53.78 USD' }
  t.same(
    readPrice(await suggest({ ...calculated, portfolio: '1', co2eKg: '1000' })),
    { ...suggested, amount: '26.89' },
    'follows the CO2e',
  )
  t.match(
    readPrice(await suggest({ ...calculated, portfolio: '2' })),
    { amount: '86.63' },
    'follows the portfolio',
  )
  t.same(
    readPrice(await suggest({ ...calculated, portfolio: '1', amount: '60' })),
    {
      amount: '60',
      currency: 'USD',
      hint: 'The portfolio suggests US$53.78, including a service fee of 12.5%. Clear the amount to use it.',
    },
    'keeps a typed amount',
  )
  t.match(
    readPrice(await suggest({ ...calculated, portfolio: '1', currency: 'EUR' })),
    { amount: '53.78', currency: 'EUR' },
    'keeps another currency',
  )
  t.match(readPrice(await suggest({ ...calculated, portfolio: '' })), { amount: '' })
  t.match(readPrice(await suggest({ portfolio: '1', co2eKg: '' })), {
    amount: '',
    hint: 'Enter the CO₂e to get a suggested amount.',
  })
})

t.test('an amount that cannot be paid is not suggested', async (t) => {
  const { suggest } = await start(t, STRIPE_KEYS)
  t.match(readPrice(await suggest({ portfolio: '1', co2eKg: '0.5' })), { amount: '0.50' })
  t.match(readPrice(await suggest({ portfolio: '1', co2eKg: '90000000' })), {
    amount: '',
    hint: 'The price would be too large to be paid. Enter the amount yourself.',
  })
})

t.test('creates an order with the suggested amount without scripts', async (t) => {
  const { ann } = await start(t)
  const page = await ann.get('/admin/orders/new')
  t.match(page.text, />Harbour Mix, US\$23\.90 per tonne</)
  const created = await ann.post('/admin/orders', { ...FIELDS, portfolio: '1', amount: '' })
  t.equal(created.status, 303)
  const id = created.headers.get('location')?.split('/').at(-1)
  const order = await ann.call('GET', `/api/admin/orders/${id}`)
  t.match(order, { amountMinor: 4780, currency: 'USD' })
  const missing = await ann.post('/admin/orders', { ...FIELDS, amount: '' })
  t.equal(missing.status, 422)
  t.match(missing.text, 'Enter an amount')
})

t.test('creates orders while the prices are unavailable', async (t) => {
  const { ann, provider } = await start(t)
  provider.fault = 500
  const page = await ann.get('/admin/orders/new')
  t.equal(page.status, 200)
  t.equal(readPrice(page).hint, 'The provider’s prices are unavailable. Enter the amount yourself.')
  const created = await ann.post('/admin/orders', { ...FIELDS, portfolio: '1', amount: '5' })
  t.equal(created.status, 303)
})
