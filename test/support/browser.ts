import { existsSync } from 'node:fs'
import { chromium, type Browser, type BrowserContext } from 'playwright-core'
import { PNG } from 'pngjs'
import { readQrCode, toGray } from './zbar.js'

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Returns the path of an installed browser, or `null`. */
export function findBrowser(): string | null {
  const places = [
    process.env.CHROMIUM_PATH,
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
    chromium.executablePath(),
  ]
  return (
    places.find(
      (placeOrder) => placeOrder !== undefined && placeOrder !== '' && existsSync(placeOrder),
    ) ?? null
  )
}

/** Starts the browser. Throws if there is none, because browser tests are never skipped. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = findBrowser()
  if (executablePath === null)
    throw new Error('no Chromium found: set CHROMIUM_PATH, or run npm test')
  return chromium.launch({ executablePath, args: FLAGS })
}

export const PHONE = { width: 390, height: 844 }
export const DESKTOP = { width: 1280, height: 900 }

/** Errors in a browser, added as they occur. */
export interface BrowserErrors {
  /** Errors on the console, uncaught exceptions and violations of the security policy */
  errors: string[]
  /** Requests to any host but the service's own */
  externalRequests: string[]
}

/** Records the errors of all pages in a context. */
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

/** Decodes the QR code in a PNG, such as a screenshot; `null` if there is none. */
export function readPng(png: Buffer): Promise<string | null> {
  const { width, height, data } = PNG.sync.read(png)
  return readQrCode(toGray(width, height, data))
}
