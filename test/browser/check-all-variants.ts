import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { ACCESSIBILITY_VARIANTS, checkAccessibility } from '../support/accessibility.js'

/**
 * Checks the current state of a page in every accessibility variant without loading it again.
 *
 * @param part as in `checkAccessibility`
 */
export async function checkAllVariants(
  t: Test,
  page: Page,
  state: string,
  part?: string,
): Promise<void> {
  for (const [device, { viewport, colorScheme }] of ACCESSIBILITY_VARIANTS) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme })
    await checkAccessibility(t, page, `${state}, ${device}`, part)
  }
}
