import axe from 'axe-core'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'

/** Whether everybody can use a page as it stands, and none of it is beyond its edge. */
export async function checkLooks(t: Test, page: Page, name: string): Promise<void> {
  // Colours on their way from one to another have no contrast yet.
  await page.evaluate(() => {
    const passing = document
      .getAnimations()
      .filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity)
    return Promise.allSettled(passing.map(({ finished }) => finished))
  })
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(() => (window as any).axe.run())
  t.same(
    violations.map(({ id, nodes }: any) => [id, nodes.map(({ html }: any) => html)]),
    [],
    name,
  )
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  )
  t.equal(overflow, 0, `${name} does not scroll sideways`)
}
