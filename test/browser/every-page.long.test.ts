import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { postJson, startApp } from '../support/app.js'
import { PHONE, recordBrowserErrors } from '../support/browser.js'
import { openBrowserContext } from '../support/shared-browser.js'
import { TRIPS } from '../support/trips.js'
import { checkAllVariants } from './check-all-variants.js'

const { url } = await startApp(t)

const { body: code } = await postJson(`${url}/api/qr-code/generate`, TRIPS[1])
const { pathname, search } = new URL(code.url as string)
const scannedPath = pathname + search

/** Every page in every state that guests and integrators see. */
const PAGES = {
  home: '/',
  'empty fuel calculator': '/calculator/fuel',
  'fuel result': '/calculator/fuel?fuelType=lng&quantity=1000&unit=kg',
  'fuel errors': '/calculator/fuel?fuelType=mgo&quantity=-1',
  'distance result':
    '/calculator/distance?distance=120&speedKn=10&consumption=60&referenceSpeedKn=12',
  'custom result': '/calculator/custom?amount=150&unit=t&description=A+season',
  'scanned code': scannedPath,
  'changed code': `${scannedPath}x`,
  'QR test page': '/qr-test',
  'QR code': '/qr-test?calculatorType=fuel&vessel.name=Eendracht&fuel.quantity=500',
  'QR errors': '/qr-test?calculatorType=distance&vessel.name=&vessel.imoNumber=123&image.size=1',
  'API documentation': '/docs',
  'unknown address': '/nothing-here',
}

const openContext = (t: Test) => openBrowserContext(t, { viewport: PHONE })

const openDetails = (page: Page) =>
  page.evaluate(() =>
    document.querySelectorAll('details').forEach((details) => (details.open = true)),
  )

t.test('every page is accessible and self-contained', async (t) => {
  const { context, page } = await openContext(t)
  const browserErrors = recordBrowserErrors(context, url)
  for (const [name, path] of Object.entries(PAGES)) {
    await page.goto(url + path)
    await openDetails(page)
    await checkAllVariants(t, page, name)
  }
  t.same(browserErrors.externalRequests, [])
  t.same(
    browserErrors.errors.filter((error) => !error.includes('404')),
    [],
    'logs no errors except for the missing page',
  )
})

t.test('the Tab key reaches every control in the order of the page', async (t) => {
  const { page } = await openContext(t)
  const unreached: object[] = []
  for (const [name, path] of Object.entries(PAGES)) {
    await page.goto(url + path)
    // The API reference would have thousands of controls.
    if (path !== '/docs') await openDetails(page)
    const count = await page.evaluate(async () => {
      // The link in the bar can appear a frame after the page has loaded.
      for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame)
      const controls = document.querySelectorAll<HTMLElement>(
        'a[href], button, input:not([type=hidden]):not([type=radio]), input:checked, select, summary, pre, [tabindex="0"]',
      )
      const visible = [...controls].filter((element) => element.checkVisibility())
      visible.forEach((element, i) => (element.dataset.order = String(i)))
      const { dataset } = document.body
      document.addEventListener('focusin', ({ target }) => {
        dataset.reached = `${dataset.reached ?? ''} ${(target as HTMLElement).dataset.order}`
      })
      return visible.length
    })
    for (let i = 0; i < count; i++) await page.keyboard.press('Tab')
    const reached = await page.evaluate(() => document.body.dataset.reached?.trim())
    const expected = [...Array(count).keys()].join(' ')
    if (count === 0 || reached !== expected) unreached.push({ name, reached, expected })
  }
  t.same(unreached, [])
})

t.test('does not scroll sideways on small phones or with text twice as large', async (t) => {
  const { page } = await openContext(t)
  const failures: string[] = []
  for (const [name, path] of Object.entries(PAGES)) {
    await page.goto(url + path)
    for (const [width, fontSize] of [
      [320, '100%'],
      [360, '100%'],
      [390, '200%'],
    ] as const) {
      await page.setViewportSize({ width, height: 740 })
      const { overflow, rows } = await page.evaluate((fontSize) => {
        const root = document.documentElement
        root.style.fontSize = fontSize
        const labels = [...document.querySelectorAll('.segmented label')]
        return {
          overflow: root.scrollWidth - root.clientWidth,
          rows: new Set(labels.map((label) => label.getBoundingClientRect().top)).size,
        }
      }, fontSize)
      const state = `${name}, ${width} px, text ${fontSize}`
      if (overflow !== 0) failures.push(`${state}: ${overflow} px too wide`)
      if (fontSize === '100%' && rows > 1) failures.push(`${state}: calculators in ${rows} rows`)
    }
  }
  t.same(failures, [])
})
