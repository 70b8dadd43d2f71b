import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { PNG } from 'pngjs'
import t, { type Test } from 'tap'
import { formatMoney } from '../../src/core/formatting/number-formatter.js'
import { PORTFOLIOS } from '../../src/demo/fake-provider/portfolios.js'
import { checkAccessibility } from '../support/accessibility.js'
import { postJson, startApp } from '../support/app.js'
import { PHONE, recordBrowserErrors } from '../support/browser.js'
import { openBrowserContext } from '../support/shared-browser.js'
import { TRIPS } from '../support/trips.js'
import { waitFor } from '../support/wait-for.js'

/** An order source whose responses each test sets. */
const upstream = {
  asked: 0,
  answer: (response: ServerResponse): void => void response.end(),
}
const json = (body: unknown) => (response: ServerResponse) =>
  void response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
const offering = (...portfolios: object[]) => json({ portfolios })
const server = createServer((_request, response) => {
  upstream.asked++
  upstream.answer(response)
}).listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => {
  server.close()
  server.closeAllConnections()
})
const { port } = server.address() as AddressInfo

const CONFIGURED = {
  ORDERSOURCE_BASE_URL: `http://127.0.0.1:${port}/api`,
  ORDERSOURCE_API_TOKEN: 'a-token',
}

/** Starts a service that has not read any portfolios yet. */
async function offer(
  t: Test,
  answer: (response: ServerResponse) => void,
  environment: NodeJS.ProcessEnv = {},
): Promise<string> {
  upstream.answer = answer
  return (await startApp(t, { ...CONFIGURED, ...environment })).url
}

const phone = (t: Test, options: object = {}) =>
  openBrowserContext(t, { viewport: PHONE, locale: 'en-GB', ...options })

const shown = async (page: Page): Promise<string[]> => {
  // A page does not wait long for the provider.
  await waitFor(async () => {
    if ((await page.locator('.portfolios').count()) > 0) return true
    await page.reload()
    return false
  })
  const items = await page.locator('.portfolios > li').allInnerTexts()
  return items.map((text) => text.replace(/\s+/g, ' '))
}

/** Exactly per tonne. */
const ONE_TONNE = '/calculator/custom?amount=1&unit=t'

t.test('a result shows the price of credits for the trip, and updates it', async (t) => {
  const url = await offer(t, offering(...PORTFOLIOS))
  const { context, page } = await phone(t)
  const browserErrors = recordBrowserErrors(context, url)
  const { body: code } = await postJson(`${url}/api/qr-code/generate`, TRIPS[0])
  await page.goto(code.url)
  const [first = '', ...others] = await shown(page)
  t.match(
    first,
    /^Harbour Mix US\$39\.51 US\$23\.90 per tonne Lowest price · Avoidance and removal · Plan Vivo and 2 more · Kenya, Mexico Coast, wind/,
  )
  t.match(first, /Mangroves of Gazi Bay 50% Cook stoves for Nakuru 30%/)
  t.equal(others.length, 2)

  const before = upstream.asked
  await page.locator('#quantity').fill('1000')
  await page.locator('.portfolios strong', { hasText: 'US$79.02' }).waitFor()
  t.equal(await page.locator('.portfolios > li').count(), 3)
  await page.locator('#quantity').fill('-1')
  await page.locator('#quantity-error').waitFor({ state: 'visible' })
  t.equal(await page.locator('#checkout').count(), 0, 'nothing can be bought without a result')
  await page.locator('#quantity').fill('500')
  await page.locator('.portfolios strong', { hasText: 'US$39.51' }).waitFor()
  t.equal(upstream.asked, before, 'the order source is asked once')

  await page.goto(`${url}/calculator/fuel`)
  t.equal(upstream.asked, before, 'and not before there is a result')
  await page.locator('#quantity').fill('1000')
  await page.locator('.portfolios strong', { hasText: 'US$79.02' }).waitFor()
  t.same(browserErrors, { errors: [], externalRequests: [] })
})

t.test('only the chosen card lists its projects, and no link is too small to hit', async (t) => {
  const url = await offer(t, offering(...PORTFOLIOS), { CURRENCY: 'USD', PRICE_PER_TONNE: '20' })
  const { page } = await phone(t)
  await page.goto(url + ONE_TONNE)
  await shown(page)
  const lists = page.locator('#offers .projects:visible')
  t.match(await lists.allInnerTexts(), [/^Mangroves of Gazi Bay 50%/])
  const { height = 0 } = (await page.locator('.portfolios > li').last().boundingBox()) ?? {}
  t.ok(height > 100 && height < 180, `${height} px`)
  await page.getByRole('radio', { name: 'Carbon to Stone' }).check()
  t.match(await lists.allInnerTexts(), [/^Basalt wells 55%/])

  const checkLinks = async (where: string) => {
    const heights = await page
      .locator('main a:visible')
      .evaluateAll((links) => links.map((link) => link.getBoundingClientRect().height))
    t.ok(heights.length > 0 && Math.min(...heights) >= 24, `${where}: ${heights.join(', ')}`)
  }
  await checkLinks('result')
  await page.getByRole('link', { name: 'Basalt wells' }).click()
  await page.getByRole('heading', { name: 'Sold as part of Carbon to Stone' }).waitFor()
  await checkLinks('project')
  await page.getByRole('link', { name: 'See all projects' }).click()
  await page.getByRole('heading', { name: 'Where the credits come from' }).waitFor()
  t.equal(await page.locator('.projects:visible').count(), 3)
  await checkLinks('What am I buying?')
})

t.test('only the title of a portfolio chose it, and a reset forgot the choice', async (t) => {
  const url = await offer(t, offering(...PORTFOLIOS), { CURRENCY: 'USD', PRICE_PER_TONNE: '20' })
  const { page } = await phone(t)
  const { body: code } = await postJson(`${url}/api/qr-code/generate`, TRIPS[0])
  await page.goto(code.url)
  await shown(page)
  const item = page.locator('.portfolios > li', { hasText: 'Blue Carbon' })
  const { width = 0, height = 0 } = (await item.boundingBox()) ?? {}
  await item.click({ position: { x: width - 10, y: height - 10 } })
  t.ok(await page.getByRole('radio', { name: 'Blue Carbon' }).isChecked())
  const button = await page.locator('#checkout').innerText()

  await page.locator('#quantity').fill('400')
  const reset = page.getByRole('link', { name: 'Reset to scanned values' })
  await reset.waitFor()
  const place = (await reset.boundingBox())?.y ?? 0
  await reset.click()
  await page.getByText('Filled in from a QR code').waitFor()
  await shown(page)
  t.equal(await page.locator('#quantity').inputValue(), '500')
  t.ok(await page.getByRole('radio', { name: 'Blue Carbon' }).isChecked())
  t.equal(await page.locator('#checkout').innerText(), button)
  t.ok(place > 0)
  await page.locator('#prefill-source').waitFor()
  const note = (await page.locator('#prefill-source').boundingBox())?.y ?? -1
  t.ok(note >= 0 && note < 844, 'the form stays in view')
})

t.test('the offline note was above the view', async (t) => {
  const url = await offer(t, offering(...PORTFOLIOS))
  const { context, page } = await phone(t)
  await page.goto(url + ONE_TONNE)
  await shown(page)
  await page.locator('#amount').scrollIntoViewIfNeeded()
  await context.setOffline(true)
  await page.locator('#amount').fill('3')
  const notice = page.getByRole('alert').filter({ hasText: 'No connection' })
  await notice.waitFor()
  const { y = -1, height = 0 } = (await notice.boundingBox()) ?? {}
  t.ok(y >= 0 && y + height <= PHONE.height, `in view at ${y}`)
  await context.setOffline(false)
  await notice.waitFor({ state: 'detached' })
})

t.test('if guests can order, the prices are those of orders', async (t) => {
  const portfolios = offering(
    { id: 1, name: 'Cheap', pricePerTonMinor: 2345, currency: 'EUR' },
    { id: 2, name: 'Dear', pricePerTonMinor: 98_765, currency: 'JPY' },
    { id: 3, name: 'Exact', pricePerTonMinor: 7425, currency: 'KWD' },
  )
  const url = await offer(t, portfolios, {
    CURRENCY: 'EUR',
    SERVICE_FEE_PERCENT: '7.5',
    MINIMUM_AMOUNT: '3',
  })
  const { page } = await phone(t, { locale: 'en-GB' })
  for (const amount of [0.5, 100.1, 333.335, 1000, 98_765.4]) {
    const expected = []
    for (const portfolioId of [1, 2, 3]) {
      const calculatorData = { amount, unit: 'kg' }
      const { body } = await postJson(`${url}/api/offset-quotes`, {
        calculatorType: 'custom',
        calculatorData,
        portfolioId,
      })
      expected.push(formatMoney(body.amountMinor, body.currency))
    }
    // A result does not wait long for the prices, which the quotes have fetched.
    await page.goto(`${url}/calculator/custom?amount=${amount}&unit=kg`)
    await page.locator('.portfolios').waitFor()
    t.same(
      await page.locator('.portfolios .price strong').allInnerTexts(),
      expected,
      `${amount} kg`,
    )
    t.match(await page.locator('#checkout').innerText(), `for ${expected[0]}`)
  }
})

t.test('prices are rounded up, in the currency of the portfolio and in one format', async (t) => {
  const priced = (id: number, pricePerTonMinor: number, currency: string) => ({
    id,
    name: currency,
    pricePerTonMinor,
    currency,
  })
  const portfolios = offering(
    priced(1, 1234567, 'EUR'),
    priced(2, 2500, 'JPY'),
    priced(3, 2500, 'KWD'),
    priced(4, 2500, 'huf'),
    { id: 5, name: 'dollars', cost_per_ton: 23.9 },
  )
  const url = await offer(t, portfolios, { CHECKOUT_URL: 'https://shop.example.com' })
  const { page } = await phone(t, { locale: 'de-DE' })
  await page.goto(`${url}/calculator/custom?amount=0.1001&unit=t`)
  t.same(
    (await shown(page)).map((text) => text.replaceAll('\u00a0', ' ')),
    [
      'EUR €1,235.81 €12,345.67 per tonne',
      'JPY JP¥251 JP¥2,500 per tonne',
      'KWD KWD 0.251 KWD 2.500 per tonne',
      'huf HUF 2.51 HUF 25.00 per tonne',
      'dollars US$2.40 US$23.90 per tonne',
    ],
  )
})

t.test('escapes text from the provider, and links to https only', async (t) => {
  const hostile = '<img src=x onerror="window.hacked=1">{{x}}<script>hacked=1</script> x-data="{}"'
  const project = (name: string, link: unknown) => ({ id: 1, name, url: link })
  const portfolios = offering({
    id: 1,
    name: hostile,
    description: `${hostile} \u202egnihton`,
    pricePerTonMinor: 100,
    currency: 'USD',
    projects: [
      project('script', 'javascript:alert(1)'),
      project('data', 'data:text/html,x'),
      project('plain', 'http://example.com/'),
      project('credentials', 'https://user:pw@evil.example/'),
      project('name', 'https://user@evil.example/'),
      project('secure', 'https://example.com/project?a=1'),
      project(hostile, 'https://user@'),
    ],
  })
  const url = await offer(t, portfolios)
  const { context, page } = await phone(t)
  const browserErrors = recordBrowserErrors(context, url)
  await page.goto(url + ONE_TONNE)
  const [item = ''] = await shown(page)
  t.ok(item.startsWith(hostile))
  t.notOk(item.includes('\u202e'))
  t.equal(await page.evaluate(() => (window as any).hacked), undefined)
  t.equal(await page.locator('#offers :is(img, script, iframe)').count(), 0)
  const links = await page
    .locator('#offers .projects a')
    .evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href))
  t.same([...new Set(links)], [`${url}/projects/1/1`])
  t.same(browserErrors, { errors: [], externalRequests: [] })
})

t.test('invalid, failed and missing responses leave the result unchanged', async (t) => {
  const ended = (status: number, text: string) => (response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(text)
  const good = { id: 1, name: 'x', pricePerTonMinor: 100, currency: 'USD' }
  for (const [what, answer] of [
    ['an error', ended(500, '{}')],
    ['no JSON', ended(200, '<html>')],
    ['null', ended(200, 'null')],
    ['an empty list', json({ portfolios: [] })],
    [
      'none that can be priced',
      offering(
        {},
        { ...good, name: 7 },
        { ...good, name: ' \u202e ' },
        { ...good, pricePerTonMinor: -1 },
        { ...good, pricePerTonMinor: 1e300 },
        { ...good, currency: 'dollars' },
        { ...good, currency: '<b>' },
        { id: 1, name: 'x' },
      ),
    ],
    ['silence', () => undefined],
  ] as [string, (response: ServerResponse) => void][]) {
    const url = await offer(t, answer)
    const startedAt = performance.now()
    const html = await (await fetch(url + ONE_TONNE)).text()
    t.match(html, /<data value="1000">1,000<\/data>/, what)
    t.notMatch(html, 'id="offers"', what)
    t.ok(performance.now() - startedAt < 10_000, `${what} does not delay the result`)
  }
})

t.test('truncates long texts at a word, with an ellipsis', async (t) => {
  const portfolios = offering({
    id: 1,
    name: `${'name '.repeat(24)}end`,
    description: 'words '.repeat(100),
    pricePerTonMinor: 100,
    currency: 'USD',
  })
  const url = await offer(t, portfolios)
  const { page } = await phone(t)
  await page.goto(url + ONE_TONNE)
  await shown(page)
  t.match(await page.locator('.portfolios label').textContent(), /^(name ){22,23}name…$/)
  t.match(await page.locator('.portfolios .about').textContent(), /^(words ){48}words…$/)
})

t.test('a long name, a wide price and stacked marks stay within the layout', async (t) => {
  const stacked = `Z${'\u0301\u0302'.repeat(50)}`
  const priced = { pricePerTonMinor: 128_000_000_000, currency: 'JPY' }
  const portfolios = offering(
    { id: 1, name: 'Wetlands of the far northern shore '.repeat(3), ...priced },
    { id: 2, name: stacked, description: stacked, ...priced },
    { id: 3, name: 'Reef', pricePerTonMinor: 2000, currency: 'EUR' },
  )
  const url = await offer(t, portfolios)
  const { page } = await phone(t)
  await page.goto(url + ONE_TONNE)
  await shown(page)
  const boxOf = async (offer: number, part: string) => {
    const box = await page.locator(`.portfolios > li:nth-child(${offer}) ${part}`).boundingBox()
    if (box === null) throw new Error(`${part} is not seen`)
    return box
  }
  const [name, price] = [await boxOf(1, '.name'), await boxOf(1, '.price')]
  t.ok(price.y >= name.y + name.height - 1, 'the price stands below')
  t.ok(name.width > 150, `${name.width} px for the name`)
  const [short, beside] = [await boxOf(3, '.name'), await boxOf(3, '.price')]
  t.ok(beside.y >= short.y + short.height - 1)

  const inkAbove = async (name: string) => {
    const { x, y } = await boxOf(2, '.name')
    const clip = { x, y: y - 8, width: 60, height: 4 }
    const { data } = PNG.sync.read(await page.screenshot({ clip, fullPage: true }))
    t.equal(new Set(Array.from({ length: data.length / 4 }, (_, i) => data[i * 4])).size, 1, name)
  }
  await inkAbove('nothing is painted over the offer above')
})

t.test('limits hostile amounts of data', async (t) => {
  const project = { id: 1, name: 'p'.repeat(500), country: 'c'.repeat(500) }
  const portfolios = offering(
    ...Array.from({ length: 50 }, (_, id) => ({
      id,
      name: 'n'.repeat(500),
      description: 'd'.repeat(10_000),
      pricePerTonMinor: 100,
      currency: 'USD',
      projects: Array(20).fill(project),
    })),
  )
  const url = await offer(t, portfolios)
  const { page } = await phone(t)
  await page.goto(url + ONE_TONNE)
  t.equal((await shown(page)).length, 12)
  t.ok((await page.locator('#offers').innerText()).length < 30_000)
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  )
  t.equal(overflow, 0)
})

t.test('is absent without a provider, or if guests may not list portfolios', async (t) => {
  const { asked } = upstream
  for (const environment of [{}, { ...CONFIGURED, ORDERSOURCE_PUBLIC_ROUTES: 'none' }]) {
    const { url } = await startApp(t, environment)
    t.notMatch(await (await fetch(url + ONE_TONNE)).text(), 'id="offers"')
  }
  t.equal(upstream.asked, asked)
})

t.test(
  'shows the prices without scripts, which the order form lets guests choose from',
  async (t) => {
    const url = await offer(t, offering(...PORTFOLIOS))
    const { page } = await phone(t, { javaScriptEnabled: false })
    await page.goto(url + ONE_TONNE)
    t.equal((await shown(page)).length, 3)
    t.equal(await page.locator('#offers [type=radio]:visible').count(), 0)
    t.equal(await page.locator('#offers .projects:visible').count(), 3)
    await page.getByRole('link', { name: 'Buy credits for US$23.90' }).click()
    await page.locator('.chosen-portfolio summary').click()
    await page.getByRole('radio', { name: /Blue Carbon/ }).waitFor()
  },
)

t.test('is accessible and small', async (t) => {
  const url = await offer(t, offering(...PORTFOLIOS))
  for (const colorScheme of ['light', 'dark'] as const) {
    const { context, page } = await phone(t, { colorScheme })
    const network = await context.newCDPSession(page)
    await network.send('Network.enable')
    let bytes = 0
    let requests = 0
    network.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength
    })
    page.on('requestfinished', (request) => {
      if (!request.url().startsWith('data:')) requests++
    })
    await page.goto(`${url}/calculator/fuel?quantity=1000`, { waitUntil: 'networkidle' })
    await shown(page)
    t.ok(bytes > 5_000 && bytes <= 60_000, `${bytes} bytes`)
    t.ok(requests > 4 && requests <= 8, `${requests} requests`)
    await page.evaluate(axe.source)
    const { violations } = await page.evaluate(() => (window as any).axe.run())
    t.same(
      violations.map(({ id, nodes }: any) => [id, nodes.map(({ html }: any) => html)]),
      [],
      colorScheme,
    )
  }
})

t.test('the checkout button follows the chosen portfolio', async (t) => {
  const url = await offer(t, offering(...PORTFOLIOS), {
    CHECKOUT_URL: 'https://shop.example.com/offset',
    SERVICE_FEE_PERCENT: '10',
  })
  const { page } = await phone(t)
  await page.route('https://shop.example.com/**', (route) => route.fulfill({ body: 'Shop' }))
  await page.goto(url + ONE_TONNE)
  await shown(page)
  await page.getByRole('link', { name: 'Buy credits for US$26.29' }).waitFor()
  await page.getByLabel('Blue Carbon').check()
  const button = page.getByRole('link', { name: 'Buy credits for US$42.35' })
  await button.waitFor()
  await page.locator('#amount').fill('2')
  await page.getByRole('link', { name: 'Buy credits for US$84.70' }).waitFor()
  t.ok(await page.getByLabel('Blue Carbon').isChecked(), 'keeps the choice')
  await checkAccessibility(t, page, 'with a checkout')
  await page.locator('#outcome').scrollIntoViewIfNeeded()
  await page.getByRole('link', { name: 'Buy credits for US$84.70' }).click()
  await page.waitForURL(/shop\.example\.com/)
  t.match(page.url(), /co2eKg=2000&.*portfolioId=2&.*amountMinor=8470&currency=USD/)
})
