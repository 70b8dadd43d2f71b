import { createHmac } from 'node:crypto'
import t, { type Test } from 'tap'
import { postJson, startApp } from '../support/app.js'
import { offerCredits, startProvider } from '../support/guest-orders.js'
import { STRIPE_KEYS } from '../support/stripe.js'
import { TRIPS } from '../support/trips.js'

const SECRET = 'shared with the shop, thirty-two bytes or more'
const MINUTE = 60 * 1000

/** The checkout link of a page, and where it redirects to. */
async function followCheckout(page: string, extra = '') {
  const html = await (await fetch(page)).text()
  const link = /id="checkout"[^>]* href="([^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&')
  if (link === undefined) return { status: 0, target: null }
  const response = await fetch(new URL(link + extra, page), { redirect: 'manual' })
  return { status: response.status, target: new URL(response.headers.get('location') ?? '', page) }
}

async function startWithProvider(t: Test, environment: NodeJS.ProcessEnv = {}) {
  const provider = await startProvider(t)
  const { url } = await startApp(t, {
    CHECKOUT_URL: 'https://shop.example.com/offset?lang=nl',
    CHECKOUT_SECRET: SECRET,
    ...offerCredits(provider),
    ...environment,
  })
  return { url, provider }
}

t.test('sends a scanned trip with portfolio and price to the shop, signed', async (t) => {
  const { url } = await startWithProvider(t, { SERVICE_FEE_PERCENT: '10' })
  const { body: code } = await postJson(`${url}/api/qr-code/generate`, TRIPS[0])
  const { target, status } = await followCheckout(code.url, '&portfolio=1')
  t.equal(status, 303)
  if (target === null) throw new Error('no link')
  t.equal(`${target.origin}${target.pathname}`, 'https://shop.example.com/offset')
  const { expiresAt, signature, calculatorData, ...fields } = Object.fromEntries(
    target.searchParams,
  )
  t.same(fields, {
    lang: 'nl',
    co2eKg: '1653.135',
    calculatorType: 'fuel',
    vesselName: TRIPS[0].vessel.name,
    imoNumber: TRIPS[0].vessel.imoNumber,
    portfolioId: '1',
    portfolioName: 'Harbour Mix',
    amountMinor: String(3951 + 395),
    currency: 'USD',
  })
  t.same(JSON.parse(calculatorData ?? ''), TRIPS[0].calculatorData)
  const validity = Date.parse(expiresAt ?? '') - Date.now()
  t.ok(validity > 29 * MINUTE && validity <= 30 * MINUTE, `valid for ${validity} ms`)
  const signed = target.search.slice(1).replace(/&signature=.*/, '')
  t.equal(signature, createHmac('sha256', SECRET).update(signed).digest('hex'))
})

t.test('sends a typed trip without a vessel, and edited values of a scanned one', async (t) => {
  const { url } = await startWithProvider(t)
  const typed = await followCheckout(`${url}/calculator/fuel?quantity=500&submitted=yes`)
  t.same(
    [...(typed.target?.searchParams.keys() ?? [])],
    ['lang', 'co2eKg', 'calculatorType', 'calculatorData', 'expiresAt', 'signature'],
  )
  const { body: code } = await postJson(`${url}/api/qr-code/generate`, TRIPS[0])
  const { searchParams } = new URL(code.url)
  const source = `code=${searchParams.get('data')}&codeSig=${searchParams.get('sig')}`
  const edited = await followCheckout(`${url}/calculator/fuel?quantity=1000&${source}`)
  t.match(edited.target?.search, /co2eKg=3306\.27&.*vesselName=/)
})

t.test('leaves the price out if it is unknown, and the signature without a secret', async (t) => {
  const { url } = await startWithProvider(t, { CHECKOUT_SECRET: '' })
  const page = `${url}/calculator/custom?amount=1&unit=t`
  const unknown = await followCheckout(page, '&portfolio=999')
  t.notMatch(unknown.target?.search, /amountMinor|signature/)
  t.match((await followCheckout(page, '&portfolio=1')).target?.search, 'amountMinor=2390')
  const { url: other, provider: failing } = await startWithProvider(t)
  failing.fault = 500
  const unpriced = await followCheckout(
    `${other}/calculator/custom?amount=1&unit=t`,
    '&portfolio=1',
  )
  t.equal(unpriced.status, 303)
  t.notMatch(unpriced.target?.search, 'amountMinor')
})

t.test('leaves out a price that cannot be paid', async (t) => {
  const { url } = await startWithProvider(t, STRIPE_KEYS)
  const open = (kilograms: number) =>
    followCheckout(`${url}/calculator/custom?amount=${kilograms}&unit=kg`, '&portfolio=1')
  t.match((await open(0.5)).target?.search, 'amountMinor=50&')
  t.notMatch((await open(90_000_000)).target?.search, 'amountMinor')
})

t.test('returns to the calculator if there is no trip', async (t) => {
  const { url } = await startWithProvider(t)
  const redirect = async (path: string) => {
    const response = await fetch(url + path, { redirect: 'manual' })
    return [response.status, response.headers.get('location')]
  }
  t.same(await redirect('/calculator/fuel/checkout?quantity=x&portfolio=1'), [
    303,
    '/calculator/fuel?quantity=x',
  ])
  t.same(await redirect('/calculator/fuel/checkout?data=abc&sig=def'), [
    303,
    '/calculator/fuel?data=abc&sig=def',
  ])
  t.equal((await fetch(`${url}/calculator/rocket/checkout`)).status, 404)
  t.equal((await followCheckout(`${url}/calculator/fuel`)).target, null, 'no result, no link')
})

t.test('has no checkout without CHECKOUT_URL', async (t) => {
  const { url } = await startApp(t)
  t.equal((await followCheckout(`${url}/calculator/fuel?quantity=500`)).target, null)
  t.equal((await fetch(`${url}/calculator/fuel/checkout?quantity=500`)).status, 404)
})
