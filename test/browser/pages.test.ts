import type { Page } from 'playwright-core'
import t from 'tap'
import { startFakeProvider } from '../../src/provider/fake-provider/fake-provider.js'
import { ACCESSIBILITY_VARIANTS, checkAccessibility } from '../support/accessibility.js'
import { postJson, startApp } from '../support/app.js'
import { DESKTOP, launchBrowser, recordBrowserErrors, PHONE, readPng } from '../support/browser.js'
import { measurePageWeight } from '../support/page-weight.js'
import { TRIPS } from '../support/trips.js'
import { waitForEqual } from '../support/wait-for.js'

const { url } = await startApp(t)
const browser = await launchBrowser()
t.teardown(() => browser.close())

const scanned = new URL(
  (await postJson(`${url}/api/qr-code/generate`, TRIPS[1])).body.url as string,
)

/** Every page in every state that a guest or an integrator meets. */
const PAGES = {
  home: '/',
  'empty fuel calculator': '/calculator/fuel',
  'fuel result': '/calculator/fuel?fuelType=lng&quantity=1000&unit=kg',
  'fuel errors': '/calculator/fuel?fuelType=mgo&quantity=-1',
  'distance result':
    '/calculator/distance?distance=120&speedKn=10&consumption=60&referenceSpeedKn=12',
  'custom result': '/calculator/custom?amount=150&unit=t&description=A+season',
  'scanned code': scanned.pathname + scanned.search,
  'changed code': `${scanned.pathname}${scanned.search}x`,
  'QR test page': '/qr-test',
  'QR code': '/qr-test?calculatorType=fuel&vessel.name=Eendracht&fuel.quantity=500',
  'QR errors': '/qr-test?calculatorType=distance&vessel.name=&vessel.imoNumber=123&image.size=1',
  'API documentation': '/docs',
  'unknown address': '/nothing-here',
}

const unfold = (page: Page) =>
  page.evaluate(() => document.querySelectorAll('details').forEach((d) => (d.open = true)))

for (const [device, options] of ACCESSIBILITY_VARIANTS) {
  t.test(`every page is accessible and self-contained on ${device}`, async (t) => {
    const context = await browser.newContext(options)
    t.teardown(() => context.close())
    const browserErrors = recordBrowserErrors(context, url)
    const page = await context.newPage()
    for (const [name, path] of Object.entries(PAGES)) {
      await page.goto(url + path)
      await unfold(page)
      await checkAccessibility(t, page, name)
    }
    t.same(browserErrors.externalRequests, [])
    t.same(
      browserErrors.errors.filter((error) => !error.includes('404')),
      [],
      'no console errors except for the missing page',
    )
  })
}

t.test('everything can be reached by keyboard, in the order of the page', async (t) => {
  const context = await browser.newContext({ viewport: PHONE })
  t.teardown(() => context.close())
  const page = await context.newPage()
  for (const [name, path] of Object.entries(PAGES)) {
    await page.goto(url + path)
    await unfold(page)
    const expected = await page.evaluate(() => {
      const all = document.querySelectorAll<HTMLElement>(
        'a[href], button, input:not([type=hidden]):not([type=radio]), input:checked, select, summary, pre, [tabindex="0"]',
      )
      const reachable = [...all].filter((element) => element.checkVisibility())
      reachable.forEach((element, i) => (element.dataset.order = String(i)))
      return reachable.length
    })
    const reached: string[] = []
    for (let i = 0; i < expected; i++) {
      await page.keyboard.press('Tab')
      reached.push(
        await page.evaluate(() => (document.activeElement as HTMLElement).dataset.order ?? '-'),
      )
    }
    t.same(
      reached,
      Array.from({ length: expected }, (_, i) => String(i)),
      name,
    )
  }
})

t.test('a guest page costs at most 60 kB and 8 requests, prices of offsets included', async (t) => {
  const source = await startFakeProvider({ token: 'a-token-for-tests' })
  t.teardown(() => source.close())
  const { url: offering } = await startApp(t, {
    ORDERSOURCE_BASE_URL: source.url,
    ORDERSOURCE_API_TOKEN: 'a-token-for-tests',
  })
  const result = '/calculator/fuel?fuelType=mgo&quantity=20000&unit=l'
  for (const [service, path] of [
    [url, scanned.pathname + scanned.search],
    [url, '/calculator/fuel'],
    [url, '/calculator/distance'],
    [url, '/calculator/custom'],
    [offering, '/calculator/fuel'],
    [offering, result],
  ] as const) {
    const context = await browser.newContext({ viewport: PHONE })
    const { bytes, paths } = await measurePageWeight(await context.newPage(), service + path)
    t.ok(bytes > 5_000 && bytes <= 60_000, `${path.split('?')[0]}: ${bytes} bytes`)
    t.ok(paths.length <= 8, paths.join(' '))
    t.equal(paths.includes('/api/ordersource/portfolios'), path === result, 'prices are asked for')
    await context.close()
  }
})

t.test('a scanned code is shown on a slow network before any script has come', async (t) => {
  const context = await browser.newContext({ viewport: PHONE })
  t.teardown(() => context.close())
  const page = await context.newPage()
  const network = await context.newCDPSession(page)
  // Slow 3G, as browsers' own tools define it
  await network.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 400,
    downloadThroughput: 50_000,
    uploadThroughput: 50_000,
  })
  let scripts = 0
  await page.route('**/*.js', () => {
    scripts++ // and never answered
  })
  await page.goto(scanned.href, { waitUntil: 'commit' })
  await page.locator('.figure').waitFor({ state: 'visible' })
  t.ok(scripts > 0, 'scripts were asked for')
  t.ok((await page.locator('.figure').innerText()).includes('2,613'))
  const painted = await page.waitForFunction(
    () => performance.getEntriesByName('first-contentful-paint').length > 0,
  )
  t.ok(painted)
})

t.test('the QR test page makes codes of all three types', async (t) => {
  const context = await browser.newContext({ viewport: DESKTOP, acceptDownloads: true })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url })
  t.teardown(() => context.close())
  const browserErrors = recordBrowserErrors(context, url)
  const page = await context.newPage()

  for (const type of ['Fuel', 'Distance', 'Custom amount']) {
    await page.goto(`${url}/qr-test`)
    await page.getByRole('radio', { name: type }).check()
    t.equal(await page.getByRole('group', { name: type }).isVisible(), true)
    await page.locator('#vessel-name').fill('Ελπίς & "Søn"')
    await page.getByRole('button', { name: 'Generate' }).click()
    await page.getByRole('img', { name: 'QR code' }).waitFor()
    const link =
      (await page.getByRole('link', { name: 'Open the link' }).getAttribute('href')) ?? ''

    const picture = page.getByRole('img', { name: 'QR code' })
    t.equal(await readPng(await picture.screenshot()), link, `${type}: the code shown`)
    const [png] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'PNG' }).click(),
    ])
    t.match(png.suggestedFilename(), /^clearwake-\w+-[\d-]+\.png$/)
    t.equal(await readPng(await bytesOf(await png.createReadStream())), link, `${type}: PNG`)
    const [svg] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'SVG' }).click(),
    ])
    const drawing = await context.newPage()
    await drawing.setContent((await bytesOf(await svg.createReadStream())).toString())
    t.equal(await readPng(await drawing.screenshot()), link, `${type}: SVG`)
    await drawing.close()

    await page.getByRole('button', { name: 'Copy' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    const { status, body } = await postJson(`${url}/api/qr-code/generate`, JSON.parse(copied))
    t.equal(status, 200, 'the copied request works as it is')
    t.equal(new URL(body.url).pathname, new URL(link).pathname)

    await page.goto(link)
    t.equal(await page.locator('.vessel bdi').innerText(), 'Ελπίς & "Søn"')
    t.equal(await page.locator('.figure').isVisible(), true)
  }
  t.same(browserErrors, { errors: [], externalRequests: [] })
})

t.test('the QR test page shows errors beside their fields and goes to the first', async (t) => {
  const context = await browser.newContext({ viewport: PHONE })
  t.teardown(() => context.close())
  const page = await context.newPage()
  await page.goto(`${url}/qr-test`)
  await page.locator('#fuel-quantity').fill('lots')
  await page.locator('#vessel-imoNumber').fill('8712345')
  await page.getByText('Image options').click()
  await page.locator('#image-size').fill('10')
  await page.getByText('Image options').click()
  await page.getByRole('button', { name: 'Generate' }).click()
  await page.locator('#fuel-quantity-error').waitFor({ state: 'visible' })
  t.equal(await page.locator('#fuel-quantity-error').innerText(), 'Must be a number')
  t.match(await page.locator('#vessel-imoNumber-error').innerText(), /must be an IMO number/i)
  await waitForEqual(t, () => page.evaluate(() => document.activeElement?.id), 'fuel-quantity')
  t.equal(await page.locator('#fuel-quantity').inputValue(), 'lots', 'nothing typed is lost')
  t.equal(await page.getByRole('img', { name: 'QR code' }).count(), 0)

  await page.locator('#fuel-quantity').fill('500')
  await page.locator('#vessel-imoNumber').fill('8814275')
  await page.getByRole('button', { name: 'Generate' }).click()
  await page.locator('#image-size-error').waitFor({ state: 'visible' })
  await waitForEqual(
    t,
    () => page.evaluate(() => document.activeElement?.id),
    'image-size',
    'a folded field is unfolded',
  )
})

t.test('a code for earlier values says so until there is a new one', async (t) => {
  const context = await browser.newContext({ viewport: DESKTOP })
  t.teardown(() => context.close())
  const page = await context.newPage()
  await page.goto(url + PAGES['QR code'])
  const stale = page.getByText('The values have changed')
  t.equal(await stale.isVisible(), false)
  await page.locator('#vessel-name').fill('Another')
  t.equal(await stale.isVisible(), true)
  await context.setOffline(true)
  await page.getByRole('button', { name: 'Generate' }).click()
  await page.getByText('No connection').waitFor()
  t.equal(await stale.isVisible(), true)
  await context.setOffline(false)
  await page.getByRole('button', { name: 'Generate' }).click()
  await page.locator('.code-card bdi', { hasText: 'Another' }).waitFor()
  t.equal(await stale.isVisible(), false)
  t.equal(await page.getByText('No connection').count(), 0)
})

t.test('a printed page has the code whole, and what it is', async (t) => {
  const context = await browser.newContext({ viewport: { width: 794, height: 1123 } })
  t.teardown(() => context.close())
  const page = await context.newPage()
  await page.goto(url + PAGES['QR code'])
  const link = (await page.getByRole('link', { name: 'Open the link' }).getAttribute('href')) ?? ''
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  t.equal(await readPng(await page.screenshot()), link, 'on the first sheet')
  t.equal(await page.locator('form').isVisible(), false)
  t.match(await page.locator('.code-card').innerText(), /Eendracht.*Valid until/s)
})

t.test('nothing scrolls sideways on a small phone or with text twice as large', async (t) => {
  for (const [width, size] of [
    [320, '100%'],
    [360, '100%'],
    [390, '200%'],
  ] as const) {
    const context = await browser.newContext({ viewport: { width, height: 740 } })
    const page = await context.newPage()
    for (const [name, path] of Object.entries(PAGES)) {
      await page.goto(url + path)
      await page.evaluate((fontSize) => (document.documentElement.style.fontSize = fontSize), size)
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      )
      t.equal(overflow, 0, `${name} at ${width}, text ${size}`)
      if (size !== '100%') continue
      const rows = await page
        .locator('.segmented label')
        .evaluateAll((tabs) => new Set(tabs.map((tab) => tab.getBoundingClientRect().top)).size)
      t.ok(rows <= 1, `${name} at ${width}: the calculators to choose from are in one row`)
    }
    await context.close()
  }
})

t.test('the QR test page works with scripts off', async (t) => {
  const context = await browser.newContext({ viewport: PHONE, javaScriptEnabled: false })
  t.teardown(() => context.close())
  const page = await context.newPage()
  await page.goto(`${url}/qr-test`)
  await page.locator('label', { hasText: 'Distance' }).first().click()
  await page.locator('#distance-speedKn').fill('0')
  await page.getByRole('button', { name: 'Generate' }).click()
  t.equal(await page.locator('#distance-speedKn-error').innerText(), 'Must be greater than 0')
  await page.locator('#distance-speedKn').fill('8')
  await page.getByRole('button', { name: 'Generate' }).click()
  await page.getByRole('link', { name: 'Open the link' }).click()
  t.equal(await page.locator('#speedKn').inputValue(), '8')
})

async function bytesOf(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part as Buffer)
  return Buffer.concat(parts)
}
