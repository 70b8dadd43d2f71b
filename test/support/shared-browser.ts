import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import type { Test } from 'tap'
import { launchBrowser } from './browser.js'
import { teardownProcess } from './process-teardown.js'

let browser: Promise<Browser> | undefined

/** The browser of this process. Tests close the contexts that they open in it. */
export function sharedBrowser(): Promise<Browser> {
  browser ??= launchBrowser().then((launched) => {
    teardownProcess(() => launched.close())
    return launched
  })
  return browser
}

/** Opens a page in a browser context of its own; closed when the test ends. */
export async function openBrowserContext(t: Test, options: BrowserContextOptions = {}) {
  const context = await (await sharedBrowser()).newContext(options)
  t.teardown(() => context.close())
  return { context, page: await context.newPage() }
}

/** Opens a page of a browser context; closed when the test ends. */
export async function openPageOf(t: Test, context: BrowserContext): Promise<Page> {
  const page = await context.newPage()
  t.teardown(() => page.close())
  return page
}
