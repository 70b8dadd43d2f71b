import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildApp } from '../../src/app.js'
import { getDatabasePath } from '../../src/database/database-path.js'
import { seedOrderStore } from '../../src/demo/seed-order-store.js'
import { projectRoot } from '../../src/config/project-root.js'
import { createLinkSigner } from '../../src/qr-code/link-signature.js'
import { createPrefillLinks } from '../../src/qr-code/prefill-link.js'
import { ADMIN, ADMIN_ACCOUNTS } from '../support/sign-in.js'
import { DESKTOP, launchBrowser, PHONE } from '../support/browser.js'
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
seedOrderStore(getDatabasePath(DATA_DIR))
await app.listen({ host: '127.0.0.1', port: 0 })
const base = app.publicBaseUrl()
const links = createPrefillLinks(createLinkSigner(app.config.sessionSecrets), app.publicBaseUrl)
const [, trip] = TRIPS
const { url } = links.create(trip, trip.vessel)

const screenshots = [
  { name: 'scanned-phone', path: url, viewport: { ...PHONE, height: 1180 }, scheme: 'light' },
  {
    name: 'result-phone-dark',
    path: '/calculator/fuel?quantity=1000',
    viewport: PHONE,
    scheme: 'dark',
  },
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
for (const { name, path, viewport, scheme } of screenshots) {
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
  await page.screenshot({ path: join(folder, `${name}.png`) })
  await context.close()
}
await browser.close()
await app.close()
rmSync(DATA_DIR, { recursive: true })
