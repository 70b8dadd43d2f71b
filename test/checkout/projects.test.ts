import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { findLowestPrice } from '../../src/checkout/portfolio-view.js'
import { createProjectImages } from '../../src/provider/project-images.js'
import { startApp } from '../support/app.js'
import { offerCredits, startProvider } from '../support/guest-orders.js'
import { createGuest, findLink, readForm, toText } from '../support/guest.js'
import { recordingUpstream, upstreamEnvironment } from '../support/recording-upstream.js'
import { waitFor } from '../support/wait-for.js'

const TRIP = '/offset?type=custom&amount=2.3754&unit=t'
const RESULT = '/calculator/custom?amount=2.3754&unit=t'
const PNG = Buffer.from('\x89PNG\r\n\x1a\n rest', 'latin1')

/** Starts a service whose provider offers projects, and serves files at the same origin. */
async function offerProjects(
  t: Test,
  toProjects: (origin: string) => object[],
  files: Record<string, Buffer> = {},
) {
  const upstream = await recordingUpstream(t)
  const { origin } = new URL(upstream.url)
  const portfolio = { id: 7, name: 'Mix', pricePerTonMinor: 2000, currency: 'EUR' }
  const portfolios = [{ ...portfolio, projects: toProjects(origin) }]
  upstream.respond = ({ url = '' }, response) => {
    const file = files[url]
    if (file !== undefined) response.end(file)
    else response.setHeader('content-type', 'application/json').end(JSON.stringify({ portfolios }))
  }
  const { url } = await startApp(t, upstreamEnvironment(upstream.url))
  const guest = createGuest(url)
  await guest.get(TRIP)
  return { url, guest, upstream }
}

t.test('a portfolio is the same card next to a result and in the order form', async (t) => {
  const { url } = await startApp(t, offerCredits(await startProvider(t)))
  const guest = createGuest(url)
  const form = await guest.get(TRIP)
  const card =
    /Harbour Mix US\$56\.78 US\$23\.90 per tonne Lowest price · Avoidance and removal · Plan Vivo and 2 more · Kenya, Mexico Coast, wind/
  t.match(toText(form), card)
  t.match(toText(await guest.get(RESULT)), card)
  t.match(toText(form), /Total US\$56\.78 for 2,375 kg CO₂e/, 'rounded for people')
  t.match(toText(form), /Price details Carbon credits for 2,375\.4 kg of CO₂e/, 'exact in details')
  t.equal(readForm(form).get('portfolioId'), '1')

  const project = await guest.get(findLink(form, '<bdi>Cook stoves'))
  t.equal(project.status, 200)
  t.match(
    toText(project),
    /Clean cooking · Kenya .* cut less\. What it does Prevents emissions \(avoidance\) Certified under Gold Standard Year of the credits 2023–2024 Listed in Example Registry .* 30% of the credits in Harbour Mix come from this project\. A tonne costs US\$23\.90 \./,
  )
  t.equal(findLink(project, '<bdi>Example Registry'), 'https://registry.example/projects/12')
  for (const path of [
    '/projects/1/99',
    '/projects/9/11',
    '/projects/x/11',
    '/projects/1/11/image',
  ]) {
    t.equal((await guest.get(path)).status, 404, path)
  }
})

t.test('a project leads to the order form with its portfolio and the guest’s part', async (t) => {
  const { url } = await startApp(t, offerCredits(await startProvider(t)))
  const guest = createGuest(url)
  const path = findLink(await guest.get(TRIP), '<bdi>Cook stoves')
  const open = async (from: string | null, share = '') =>
    toText(await guest.get(path + share, from === null ? {} : { referer: url + from }))
  const shared = `${RESULT}&guests=4`
  const part = await open(shared)
  t.match(part, /Buy for my part: US\$14\.20/)
  t.match(part, /Of your 594 kg, 178 kg come from this project\./)
  const whole = await open(shared, '?share=whole')
  t.match(whole, /Buy for the whole trip: US\$56\.78/)
  t.match(whole, /Of your 2,375 kg, 713 kg come from this project\./)
  t.match(await open(RESULT), /Buy for the whole trip: US\$56\.78/)
  const project = await guest.get(path, { referer: url + shared })
  const form = await guest.get(findLink(project, 'Buy for my part'))
  t.equal(readForm(form).get('portfolioId'), '1')
  t.match(toText(form), /Total US\$14\.20/)
  for (const from of [null, '/', '/calculator/custom?amount=x', '/calculator/nothing?a=1', TRIP]) {
    t.notMatch(await open(from), /Buy for|Of your/, from ?? 'without a referrer')
  }
})

t.test('the trip is kept from one project to the next', async (t) => {
  const { url } = await startApp(t, offerCredits(await startProvider(t)))
  const guest = createGuest(url)
  const path = findLink(await guest.get(TRIP), '<bdi>Cook stoves')
  const first = await guest.get(`${path}?share=whole`, { referer: `${url}${RESULT}&guests=4` })
  const all = await guest.get(findLink(first, 'See all projects'))
  t.match(all.text, `href="${RESULT.replaceAll('&', '&amp;')}&amp;guests=4">Back to your trip`)
  const again = await guest.get(findLink(all, '<bdi>Cook stoves'))
  t.match(toText(again), /Buy for the whole trip: US\$56\.78/)
  for (const trip of [
    'https://evil.example/calculator/fuel?a=1',
    '//evil.example/offset',
    '/admin',
  ]) {
    const { text } = await guest.get(`${path}?${new URLSearchParams({ trip }).toString()}`)
    t.notMatch(text, /Back to your trip|evil/, trip)
  }
})

t.test('the portfolio that costs the least says so, if there is clearly one', (t) => {
  const offer = (id: number, amountMinor: number, currency = 'EUR') => ({
    portfolio: { id, name: 'Mix', description: null, projects: [] },
    paidPerTonne: { amountMinor, currency },
  })
  t.equal(findLowestPrice([offer(1, 3000), offer(2, 2000), offer(3, 4000)]), 2)
  t.equal(findLowestPrice([offer(1, 2000), offer(2, 2000), offer(3, 4000)]), null, 'the same')
  t.equal(findLowestPrice([offer(1, 2000), offer(2, 3000, 'USD')]), null, 'two currencies')
  t.equal(findLowestPrice([offer(1, 2000)]), null, 'only one')
  t.end()
})

t.test('a trip below the smallest order has no portfolio with the lowest price', async (t) => {
  const { url } = await startApp(t, {
    ...offerCredits(await startProvider(t)),
    CURRENCY: 'USD',
    MINIMUM_AMOUNT: '2000',
  })
  const guest = createGuest(url)
  t.notMatch(toText(await guest.get(TRIP)), 'Lowest price')
  t.notMatch(toText(await guest.get(RESULT)), 'Lowest price')
  const page = toText(await guest.get('/carbon-credits'))
  t.match(page, /per tonne Lowest price/)
  t.match(
    page,
    /no service fee, unless your credits cost less than the smallest order, US\$2,000\.00\./,
  )
})

t.test('a project shows what the provider says of it, escaped, and nothing else', async (t) => {
  const hostile = '<img src=x onerror=alert(1)>'
  const { guest } = await offerProjects(t, () => [
    { id: 1, name: 'Bare' },
    {
      id: '../2 ?',
      name: hostile,
      description: hostile,
      standard: hostile,
      registry: hostile,
      registryUrl: 'javascript:alert(1)',
      url: 'https://user:pw@evil.example/',
      imageUrl: 'data:image/png,x',
      vintage: 2024,
      method: { removal: true },
      percentage: -3,
    },
    { id: 3, name: 'Odd', vintage: ['x'], standard: 7, method: 'REMOVAL', url: 'http://a.example' },
  ])
  const form = await guest.get(TRIP)
  t.notMatch(toText(form), /Removal|Avoidance/, 'not all projects say so')
  const bare = toText(await guest.get('/projects/7/1'))
  t.notMatch(bare, /Certified|Listed in|Website|What it does|come from this/)

  const path = findLink(form, '<bdi>&lt;img')
  t.equal(path, '/projects/7/..%2F2%20%3F')
  const page = await guest.get(path)
  t.equal(page.status, 200)
  t.notMatch(page.text, /<img|href="(javascript|data|http:)|evil\.example|undefined|null/)
  t.match(toText(page), /Certified under <img .*Year of the credits 2024 Listed in <img/)
  t.notMatch(toText(page), /What it does|% of the credits/)
  t.match(
    toText(await guest.get('/projects/7/3')),
    /Takes CO₂ out of the air \(removal\) Certified under 7/,
  )
})

t.test('pictures are served by the service, without the provider’s token', async (t) => {
  const { url, guest, upstream } = await offerProjects(
    t,
    (origin) => [
      { id: 1, name: 'Reef', imageUrl: `${origin}/reef.png` },
      { id: 2, name: 'Script', imageUrl: `${origin}/script.svg` },
      { id: 3, name: 'Large', imageUrl: `${origin}/large.png` },
      { id: 4, name: 'Missing', imageUrl: `${origin}/../missing` },
    ],
    {
      '/reef.png': PNG,
      '/script.svg': Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      '/large.png': Buffer.concat([PNG, Buffer.alloc(1024 * 1024)]),
    },
  )
  const page = await waitFor(async () => {
    const { text } = await guest.get(TRIP)
    return text.includes('src="/projects/7/1/image"') && text
  })
  t.notMatch(page, /<img[^>]*src="http/)
  const image = await fetch(`${url}/projects/7/1/image`)
  t.same(Buffer.from(await image.arrayBuffer()), PNG)
  t.equal(image.headers.get('content-type'), 'image/png')
  t.equal(image.headers.get('x-content-type-options'), 'nosniff')
  t.match(image.headers.get('cache-control'), /public, max-age=/)
  for (const id of [2, 3, 4]) {
    t.equal((await guest.get(`/projects/7/${id}/image`)).status, 404, `project ${id}`)
    t.match((await guest.get(`/projects/7/${id}`)).text, '<svg class="drawing"')
  }
  const asked = upstream.requests.filter((request) => request.url === '/reef.png')
  t.equal(asked.length, 1, 'kept in memory')
  t.equal(asked[0]?.headers.authorization, undefined)
})

t.test('pictures are not fetched from private addresses', async (t) => {
  let asked = 0
  const server = createServer(() => asked++).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const images = createProjectImages('https://provider.example/v1')
  t.teardown(() => images.close())
  for (const address of [
    `https://127.0.0.1:${port}/a.png`,
    `https://localhost:${port}/a.png`,
    `https://[::1]:${port}/a.png`,
    `http://127.0.0.1:${port}/a.png`,
    'http://192.0.2.1/a.png',
    'https://169.254.169.254/latest',
    'https://user@provider.example/a.png',
    'https://provider.example:8443/a.png',
  ]) {
    t.equal(await images.get(address), null, address)
    t.notOk(images.has(address))
  }
  t.equal(asked, 0)
})

t.test('“What am I buying?” answers five questions', async (t) => {
  const { url } = await startApp(t, {
    ...offerCredits(await startProvider(t)),
    SERVICE_FEE_PERCENT: '5',
    ORDERSOURCE_NAME: 'Harbour <Climate>',
    REFUND_POLICY: 'Full refund until the credits are retired.',
    CONTACT: 'crew@example.com',
    TERMS_URL: 'https://example.com/terms',
  })
  const guest = createGuest(url)
  const form = await guest.get(TRIP)
  const page = await guest.get(findLink(form, 'What am I buying?'))
  t.equal(page.status, 200)
  const text = toText(page)
  t.equal([...page.text.matchAll(/<dd>/g)].length, 5)
  t.match(text, /retired on your behalf.*Your trip’s own emissions do not change/)
  t.match(
    text,
    /Harbour <Climate> receives the price of the credits, and Clearwake keeps a service fee of 5%\. You see the fee before you pay\./,
  )
  t.match(text, /Harbour Mix US\$25\.10 per tonne/)
  t.match(text, /Full refund until the credits are retired\./)
  t.equal(findLink(page, 'Ask <bdi>Clearwake'), 'mailto:crew@example.com')
  t.equal(findLink(page, 'Calculate a trip'), '/')

  const own = await startApp(t, { CURRENCY: 'EUR', PRICE_PER_TONNE: '20' })
  const plain = toText(await createGuest(own.url).get('/carbon-credits'))
  t.match(plain, /Clearwake buys the credits with your payment, and there is no service fee\./)
  t.notMatch(plain, /Refunds and contact|Where the credits/)
  t.equal((await createGuest((await startApp(t)).url).get('/carbon-credits')).status, 404)
})
