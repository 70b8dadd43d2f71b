import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildApp } from '../../src/app.js'
import { projectRoot } from '../../src/core/config/config-part.js'
import { seedOrderStore } from '../../src/demo/sample-data.js'
import { DESKTOP, launchBrowser, PHONE } from '../support/browser.js'
import { ADMIN, ADMIN_ACCOUNTS } from '../support/sign-in.js'
import { TRIPS } from '../support/trips.js'

// Takes the screenshots of the README: npm run screenshots.

const folder = join(projectRoot, '.github/screenshots')
mkdirSync(folder, { recursive: true })

const DATA_DIR = mkdtempSync(join(tmpdir(), 'clearwake-screenshots-'))
const app = await buildApp({
  environment: {
    DATA_DIR,
    ADMIN_ACCOUNTS,
    TIME_ZONE: 'Europe/Lisbon',
    CURRENCY: 'EUR',
    PORT: '0',
    LOG_LEVEL: 'silent',
    SESSION_SECRET: 'a secret for screenshots, of 32 bytes or more',
  },
})
await seedOrderStore(app.database)
await app.listen({ host: '127.0.0.1', port: 0 })
const base = app.publicBaseUrl()
const [, trip] = TRIPS
const { url } = app.prefillLinks.create(trip, trip.vessel)

const TRIP = new URLSearchParams({
  fuelType: 'mgo',
  quantity: '1000',
  unit: 'l',
  guests: '12',
  'furtherLines.0.use': 'tender',
  'furtherLines.0.fuelType': 'petrol',
  'furtherLines.0.quantity': '40',
  'furtherLines.0.unit': 'l',
  'furtherLines.1.use': 'shore-power',
  'furtherLines.1.fuelType': 'electricity',
  'furtherLines.1.quantity': '300',
  'furtherLines.1.unit': 'kWh',
  'furtherLines.1.kgCo2ePerKwh': '0.2',
  'furtherLines.1.factorSource': 'Port of Palma, 2025',
}).toString()

const screenshots = [
  { name: 'scanned-phone', path: url, viewport: { ...PHONE, height: 1180 }, scheme: 'light' },
  {
    name: 'result-phone-dark',
    path: '/calculator/fuel?quantity=1000',
    viewport: PHONE,
    scheme: 'dark',
  },
  ...(['light', 'dark'] as const).map((scheme) => ({
    name: `three-fuels-phone${scheme === 'dark' ? '-dark' : ''}`,
    path: `/calculator/fuel?${TRIP}`,
    centre: 'Per person',
    viewport: PHONE,
    scheme,
  })),
  { name: 'changed-phone', path: `${url}x`, viewport: PHONE, scheme: 'light' },
  { name: 'home', path: '/', viewport: { ...DESKTOP, height: 700 }, scheme: 'light' },
  {
    name: 'qr-test-dark',
    path: '/qr-test?calculatorType=fuel&vessel.name=Eendracht&vessel.imoNumber=8814275&fuel.quantity=500',
    viewport: { ...DESKTOP, height: 1180 },
    scheme: 'dark',
  },
  { name: 'dashboard', path: '/admin?range=90d', viewport: DESKTOP, scheme: 'light' },
  { name: 'orders-dark', path: '/admin/orders?status=paid', viewport: DESKTOP, scheme: 'dark' },
  { name: 'order-phone', path: '/admin/orders/3990', viewport: PHONE, scheme: 'light' },
  { name: 'orders-phone', path: '/admin/orders', viewport: PHONE, scheme: 'light' },
  { name: 'dashboard-phone', path: '/admin', viewport: PHONE, scheme: 'dark' },
] as const

const browser = await launchBrowser()
for (const screenshot of screenshots) {
  const { name, path, viewport, scheme } = screenshot
  const context = await browser.newContext({
    viewport,
    colorScheme: scheme,
    locale: 'en-GB',
    // Skips the animations of charts.
    reducedMotion: 'reduce',
  })
  if (path.startsWith('/admin')) {
    await context.request.post(`${base}/api/admin/login`, { data: ADMIN })
  }
  const page = await context.newPage()
  await page.goto(path.startsWith('/') ? base + path : path, { waitUntil: 'networkidle' })
  if ('centre' in screenshot) {
    const text = page.getByText(screenshot.centre, { exact: true }).first()
    await text.evaluate((element) => element.scrollIntoView({ block: 'center' }))
  }
  await page.screenshot({ path: join(folder, `${name}.png`) })
  await context.close()
}
await browser.close()
await app.close()
rmSync(DATA_DIR, { recursive: true })
