import t from 'tap'
import { DESKTOP } from '../support/browser.js'
import { adminContext, manyOrders, startPortal } from '../support/portal.js'
import { sharedBrowser } from '../support/shared-browser.js'

const service = await startPortal(t, manyOrders(40))
const browser = await sharedBrowser()
const context = await adminContext(t, browser, service, { viewport: DESKTOP })

const PAGES = [
  '/',
  '/calculator/fuel?fuelType=mgo&quantity=500&unit=l',
  '/calculator/distance',
  '/calculator/fuel?data=abc&sig=def',
  '/qr-test?calculatorType=fuel&vessel.name=Eendracht&fuel.quantity=500',
  '/docs',
  '/nothing-here',
  '/admin',
  '/admin/orders?status=paid&status=pending',
  '/admin/orders/2',
  '/admin/orders/2/edit?group=customer',
  '/admin/orders/new',
]

t.test('all text has one of at most seven sizes', async (t) => {
  const page = await context.newPage()
  const sizes = new Map<string, string>()
  for (const path of PAGES) {
    await page.goto(service.url + path)
    const found = await page.evaluate(() => {
      document.querySelectorAll('details').forEach((details) => (details.open = true))
      return [...document.querySelectorAll<HTMLElement>('body *')]
        .filter((element) => element instanceof HTMLElement && element.checkVisibility())
        .filter(({ childNodes }) =>
          [...childNodes].some(({ nodeType, data }: any) => nodeType === 3 && data.trim() !== ''),
        )
        .filter((element) => element.matches(':not(sub, sup, .apexcharts-canvas *)'))
        .map((element) => [getComputedStyle(element).fontSize, element.outerHTML.slice(0, 80)])
    })
    for (const [size = '', html = ''] of found) {
      if (!sizes.has(size)) sizes.set(size, `${path} ${html}`)
    }
  }
  t.ok(sizes.size > 3 && sizes.size <= 7, JSON.stringify([...sizes], null, 2))
})

t.test('the focus ring is the same everywhere, and not the colour of errors', async (t) => {
  const page = await context.newPage()
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const rings = new Set<string>()
    for (const path of PAGES) {
      await page.goto(service.url + path)
      for (let presses = 0; presses < 8; presses++) {
        await page.keyboard.press('Tab')
        const ring = await page.evaluate(() => {
          const element = document.activeElement
          if (element === null || element === document.body) return ''
          // Radio buttons, and links that cover a row, show the ring beside or inside themselves.
          const styles = [element, element.nextElementSibling ?? element].map((one) =>
            getComputedStyle(one),
          )
          styles.push(getComputedStyle(element, '::after'))
          const { outlineColor, outlineWidth } =
            styles.find(({ outlineStyle }) => outlineStyle !== 'none') ?? {}
          return `${outlineWidth} ${outlineColor}`
        })
        if (ring !== '') rings.add(ring)
      }
    }
    t.equal(rings.size, 1, [...rings].join(', '))
    const error = await page.evaluate(() => {
      const probe = document.createElement('p')
      probe.style.setProperty('color', 'var(--error)')
      document.body.append(probe)
      return getComputedStyle(probe).color
    })
    t.notMatch([...rings][0], error, colorScheme)
  }
})
