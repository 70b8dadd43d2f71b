import t from 'tap'
import { checkAccessibility, checkNoSidewaysScrolling } from '../support/accessibility.js'
import { startApp } from '../support/app.js'
import { PHONE, recordBrowserErrors } from '../support/browser.js'
import { openBrowserContext } from '../support/shared-browser.js'

const { url } = await startApp(t)

t.test('a guest adds a tender and shore power on a phone', async (t) => {
  const options = { viewport: PHONE, colorScheme: 'dark', locale: 'en-GB' } as const
  const { context, page } = await openBrowserContext(t, options)
  const browserErrors = recordBrowserErrors(context, url)
  await page.goto(`${url}/calculator/fuel`)
  await page.locator('#quantity').fill('1000')
  await page.locator('#guests').fill('12')
  await page.getByText('More fuels, shore power').click()
  const line = (index: number, name: string) => page.locator(`#furtherLines-${index}-${name}`)

  await line(0, 'use').selectOption('tender')
  await line(0, 'fuelType').selectOption('petrol')
  t.equal(await line(1, 'quantity').count(), 0)
  await line(0, 'quantity').fill('40')
  await line(1, 'quantity').waitFor()

  t.equal(await line(1, 'kgCo2ePerKwh').isVisible(), false)
  await line(1, 'use').selectOption('shore-power')
  t.equal(await line(1, 'fuelType').inputValue(), 'electricity')
  t.equal(await line(1, 'kgCo2ePerKwh').isVisible(), true)
  t.equal(await line(1, 'unit').isVisible(), false, 'electricity has no choice of unit')
  t.equal(await line(1, 'hvoPercent').isVisible(), false)
  await line(1, 'quantity').fill('300')
  await line(1, 'kgCo2ePerKwh').fill('0.2')
  await line(1, 'factorSource').fill('Grid 2025')

  await page.getByText('Shore power: Electricity').first().waitFor()
  t.match(await page.locator('#result').innerText(), /Tender: Petrol \(mineral\)\s+119\skg/)
  t.match(await page.locator('#result').innerText(), /Per person\s+290\.4\skg/)
  await checkAccessibility(t, page, 'three lines')
  await checkNoSidewaysScrolling(t, page, 'three lines')

  await page.reload()
  t.equal(await line(1, 'factorSource').inputValue(), 'Grid 2025', 'a reload keeps the lines')
  t.same(browserErrors, { errors: [], externalRequests: [] })
})
