import axe from 'axe-core'
import type { BrowserContextOptions, Page } from 'playwright-core'
import type { Test } from 'tap'
import { DESKTOP, PHONE } from './browser.js'

/** Covers both screen sizes and both colour schemes. */
export const ACCESSIBILITY_VARIANTS = [
  ['a phone, light', { viewport: PHONE, colorScheme: 'light' }],
  ['a desktop, dark', { viewport: DESKTOP, colorScheme: 'dark' }],
] as const satisfies [string, BrowserContextOptions][]

/**
 * Asserts that axe finds no violations, and that the page does not scroll sideways.
 *
 * @param part selector of the part that axe examines; the whole page by default
 */
export async function checkAccessibility(
  t: Test,
  page: Page,
  name: string,
  part = 'html',
): Promise<void> {
  // The contrast is only final once the colour transitions have finished.
  await page.evaluate(() => {
    const animations = document
      .getAnimations()
      .filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity)
    return Promise.allSettled(animations.map(({ finished }) => finished))
  })
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  const violations = await page.evaluate(async (part) => {
    // Describing everything that passes, and loading the style sheets again, takes most of the time.
    const options = { resultTypes: ['violations'], preload: false }
    const results = await (window as any).axe.run(part, options)
    return results.violations.map(({ id, nodes }: any) => [id, nodes.map(({ html }: any) => html)])
  }, part)
  t.same(violations, [], name)
  await checkNoSidewaysScrolling(t, page, name)
}

/** Asserts that a page is not wider than the screen. */
export async function checkNoSidewaysScrolling(t: Test, page: Page, name: string): Promise<void> {
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  )
  t.equal(overflow, 0, `${name} does not scroll sideways`)
}
