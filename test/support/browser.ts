import { existsSync } from 'node:fs'
import { chromium, type Browser, type BrowserContext, type Locator } from 'playwright-core'
import { PNG } from 'pngjs'
import { MAX_WAIT_MS, waitFor } from './wait-for.js'
import { readQrCode, toGray } from './zbar.js'

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Each window would load hidden pages of the address bar, and a spare process. This replaces
  // Playwright's list of features, of which we need the others here.
  `--disable-features=${[
    'WebUIOmniboxPopup',
    'WebUIOmniboxAimPopup',
    'SpareRendererForSitePerProcess',
    'DestroyProfileOnBrowserClose',
    'HttpsFirstBalancedModeAutoEnable',
    'HttpsUpgrades',
    'NetworkTimeServiceQuerying',
    'PaintHolding',
    'PreconnectToSearch',
    'Translate',
  ].join()}`,
]

/** Finds Chromium or Chrome; `null` if there is none. */
export function findBrowser(): string | null {
  const candidates = [
    process.env.CHROMIUM_PATH,
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
    chromium.executablePath(),
  ]
  return candidates.find((path) => path !== undefined && path !== '' && existsSync(path)) ?? null
}

/** Starts a browser. Throws if there is none, because browser tests are never skipped. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = findBrowser()
  if (executablePath === null)
    throw new Error('Chromium not found; set CHROMIUM_PATH, or run npm test to install it')
  const browser = await chromium.launch({ executablePath, args: FLAGS })
  const newContext = browser.newContext.bind(browser)
  browser.newContext = async (options) => {
    const context = await newContext(options)
    context.setDefaultTimeout(MAX_WAIT_MS)
    return context
  }
  // A browser that has just started sometimes refuses to take a screenshot.
  const page = await browser.newPage()
  await waitFor(() => page.screenshot().catch(() => null))
  await page.close()
  return browser
}

export const PHONE = { width: 390, height: 844 }
export const DESKTOP = { width: 1280, height: 900 }

export interface BrowserErrors {
  /** Console errors, uncaught exceptions and violations of the Content Security Policy */
  errors: string[]
  /** Requests to hosts other than the service */
  externalRequests: string[]
}

/** Records the errors of all pages of a browser context. */
export function recordBrowserErrors(context: BrowserContext, origin: string): BrowserErrors {
  const browserErrors: BrowserErrors = { errors: [], externalRequests: [] }
  context.on('console', (message) => {
    if (message.type() === 'error') browserErrors.errors.push(message.text())
  })
  context.on('weberror', (error) => browserErrors.errors.push(String(error.error())))
  context.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:'))
      browserErrors.externalRequests.push(url)
  })
  return browserErrors
}

/** Reads the QR code in a PNG, such as a screenshot; `null` if there is none. */
export function readPng(png: Buffer): Promise<string | null> {
  const { width, height, data } = PNG.sync.read(png)
  return readQrCode(toGray(width, height, data))
}

/**
 * Reads the QR code of an `<img>` as the browser draws it; `null` if there is none. Uses a canvas,
 * because the browser now and then refuses a screenshot of a page that has just opened.
 */
export async function readImage(image: Locator): Promise<string | null> {
  const png = await image.evaluate(async (element: HTMLImageElement) => {
    await element.decode()
    const canvas = document.createElement('canvas')
    const { width, height } = element.getBoundingClientRect()
    Object.assign(canvas, { width, height })
    canvas.getContext('2d')?.drawImage(element, 0, 0, width, height)
    return canvas.toDataURL('image/png').replace('data:image/png;base64,', '')
  })
  return readPng(Buffer.from(png, 'base64'))
}

/** HTML of an image that shows an SVG document. */
export const svgImage = (svg: string): string =>
  `<img src="data:image/svg+xml,${encodeURIComponent(svg)}" width="600" height="600">`
