import type { Browser } from 'playwright-core'
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
