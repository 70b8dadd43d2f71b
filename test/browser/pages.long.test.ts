import type { BrowserContextOptions, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { postJson, startApp } from '../support/app.js'
import {
  DESKTOP,
  PHONE,
  readImage,
  readPng,
  recordBrowserErrors,
  svgImage,
} from '../support/browser.js'
import { offerCredits, startProvider } from '../support/guest-orders.js'
import { measurePageWeight } from '../support/page-weight.js'
import { openBrowserContext } from '../support/shared-browser.js'
import { TRIPS } from '../support/trips.js'
import { waitForEqual } from '../support/wait-for.js'

const { url } = await startApp(t)

const { body: code } = await postJson(`${url}/api/qr-code/generate`, TRIPS[1])
const { pathname, search } = new URL(code.url as string)
const scannedPath = pathname + search

const QR_CODE = '/qr-test?calculatorType=fuel&vessel.name=Eendracht&fuel.quantity=500'

const openContext = (t: Test, options: BrowserContextOptions = {}) =>
  openBrowserContext(t, { viewport: PHONE, ...options })

const getFocusedId = (page: Page) => page.evaluate(() => document.activeElement?.id)

async function readAll(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

t.test('a guest page loads at most 60 kB with 8 requests, including prices', async (t) => {
  const { url: urlWithProvider } = await startApp(t, offerCredits(await startProvider(t)))
  const measure = async (address: string) => {
    // Without a cache.
    const { context, page } = await openContext(t)
    const { bytes, paths } = await measurePageWeight(page, address)
    await context.close()
    const isWithinBudget = bytes > 5_000 && bytes <= 60_000 && paths.length <= 8
    return { isWithinBudget, address, bytes, paths }
  }
  const pages = await Promise.all(
    [
      url + scannedPath,
      `${url}/calculator/fuel`,
      `${url}/calculator/distance`,
      `${url}/calculator/custom`,
      `${urlWithProvider}/calculator/fuel?fuelType=mgo&quantity=20000&unit=l`,
    ].map(measure),
  )
  t.same(
    pages.filter(({ isWithinBudget }) => !isWithinBudget),
    [],
  )
})

t.test('shows a scanned code on a slow network before any script has loaded', async (t) => {
  const { context, page } = await openContext(t)
  const network = await context.newCDPSession(page)
  // Slow 3G, as defined by browser developer tools
  await network.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 400,
    downloadThroughput: 50_000,
    uploadThroughput: 50_000,
  })
  let scripts = 0
  // Scripts never load.
  await page.route('**/*.js', () => {
    scripts++
  })
  await page.goto(url + scannedPath, { waitUntil: 'commit' })
  await page.locator('.figure').waitFor({ state: 'visible' })
  t.ok(scripts > 0, 'requests scripts')
  t.match(await page.locator('.figure').innerText(), '2,613')
  const painted = await page.waitForFunction(
    () => performance.getEntriesByName('first-contentful-paint').length > 0,
  )
  t.ok(painted)
})

t.test('the QR test page creates codes for all three calculators', async (t) => {
  const { context, page } = await openContext(t, { viewport: DESKTOP })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url })
  const browserErrors = recordBrowserErrors(context, url)

  for (const type of ['Fuel', 'Distance', 'CO₂e amount']) {
    await page.goto(`${url}/qr-test`)
    await page.getByRole('radio', { name: type }).check()
    t.equal(await page.getByRole('group', { name: type }).isVisible(), true)
    await page.locator('#vessel-name').fill('Ελπίς & "Søn"')
    await page.getByRole('button', { name: 'Generate' }).click()
    const image = page.getByRole('img', { name: 'QR code' })
    await image.waitFor()
    const link =
      (await page.getByRole('link', { name: 'Open the link' }).getAttribute('href')) ?? ''
    t.equal(await readImage(image), link, `${type}: the image shown`)

    await page.getByRole('button', { name: 'Copy' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    const { status, body } = await postJson(`${url}/api/qr-code/generate`, JSON.parse(copied))
    t.equal(status, 200, 'the copied request is valid')
    t.equal(new URL(body.url).pathname, new URL(link).pathname)

    await page.goto(link)
    t.equal(await page.locator('.vessel bdi').innerText(), 'Ελπίς & "Søn"')
    t.equal(await page.locator('.figure').isVisible(), true)
  }
  t.same(browserErrors, { errors: [], externalRequests: [] })
})

t.test('the QR test page offers codes as PNG and SVG files', async (t) => {
  const { page } = await openContext(t, { viewport: DESKTOP })
  await page.goto(url + QR_CODE)
  const link = await page.getByRole('link', { name: 'Open the link' }).getAttribute('href')
  await page.evaluate(() => (window.print = () => (document.title = 'printed')))
  await page.getByRole('button', { name: 'Print label' }).click()
  t.equal(await page.title(), 'printed')
  const download = async (format: string) => {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: format }).click(),
    ])
    return { name: file.suggestedFilename(), data: await readAll(await file.createReadStream()) }
  }
  const png = await download('PNG')
  t.match(png.name, /^clearwake-eendracht-\w+-[\d-]+\.png$/)
  t.equal(await readPng(png.data), link)
  const svg = await download('SVG')
  await page.setContent(svgImage(svg.data.toString()))
  t.equal(await readImage(page.locator('img')), link)
})

t.test('the QR test page shows field errors and focuses the first', async (t) => {
  const { page } = await openContext(t)
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
  await waitForEqual(t, () => getFocusedId(page), 'fuel-quantity')
  t.equal(await page.locator('#fuel-quantity').inputValue(), 'lots', 'keeps the input')
  t.equal(await page.getByRole('img', { name: 'QR code' }).count(), 0)

  await page.locator('#fuel-quantity').fill('500')
  await page.locator('#vessel-imoNumber').fill('8814275')
  await page.getByRole('button', { name: 'Generate' }).click()
  await page.locator('#image-size-error').waitFor({ state: 'visible' })
  await waitForEqual(t, () => getFocusedId(page), 'image-size', 'opens the options with the error')
})

t.test('marks a code as outdated until it is generated again', async (t) => {
  const { context, page } = await openContext(t, { viewport: DESKTOP })
  await page.goto(url + QR_CODE)
  const notice = page.getByText('The values have changed')
  t.equal(await notice.isVisible(), false)
  await page.locator('#vessel-name').fill('Another')
  t.equal(await notice.isVisible(), true)
  await context.setOffline(true)
  await page.getByRole('button', { name: 'Generate' }).click()
  await page.getByText('No connection').waitFor()
  t.equal(await notice.isVisible(), true)
  await context.setOffline(false)
  await page.getByRole('button', { name: 'Generate' }).click()
  await page.locator('.code-card bdi', { hasText: 'Another' }).waitFor()
  t.equal(await notice.isVisible(), false)
  t.equal(await page.getByText('No connection').count(), 0)
})

t.test('prints a complete code with its details', async (t) => {
  const { page } = await openContext(t, { viewport: { width: 794, height: 1123 } })
  await page.goto(url + QR_CODE)
  const link = await page.getByRole('link', { name: 'Open the link' }).getAttribute('href')
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  t.equal(await readPng(await page.screenshot()), link, 'on the first sheet')
  t.equal(await page.locator('form').isVisible(), false)
  t.match(await page.locator('.code-card').innerText(), /Eendracht.*Valid until/s)
})

t.test('the QR test page works without JavaScript', async (t) => {
  const { page } = await openContext(t, { javaScriptEnabled: false })
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
