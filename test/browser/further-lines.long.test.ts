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
  const line = (index: number, name: string) => page.locator(`#furtherLines-${index}-${name}`)

  await page.getByText('Add tender').click()
  t.equal(await line(0, 'fuelType').inputValue(), 'petrol')
  await line(0, 'quantity').fill('40')

  await page.getByText('Add shore power').click()
  t.equal(await line(2, 'kgCo2ePerKwh').isVisible(), true)
  t.equal(await line(2, 'unit').isVisible(), false, 'electricity has no choice of unit')
  t.equal(await line(2, 'hvoPercent').isVisible(), false)
  await line(2, 'quantity').fill('300')
  await line(2, 'kgCo2ePerKwh').fill('0.2')
  await line(2, 'factorSource').fill('Grid 2025')

  await page.getByText('Add another fuel').click()
  t.equal(await line(3, 'kgCo2ePerKwh').isVisible(), false)
  await line(3, 'use').selectOption('shore-power')
  t.equal(await line(3, 'fuelType').inputValue(), 'electricity')
  await line(3, 'use').selectOption('boilers')
  await line(3, 'fuelType').selectOption('mgo')
  t.equal(await line(4, 'quantity').count(), 0)
  await line(3, 'quantity').fill('1')
  await line(4, 'quantity').waitFor({ state: 'attached' })
  await line(3, 'quantity').fill('')

  await page.getByText('How this is calculated').click()
  await page.getByText('Shore power: Electricity').first().waitFor()
  t.match(await page.locator('#result').innerText(), /Tender: Petrol \(mineral\)\s+119\skg/)
  t.match(await page.locator('#result').innerText(), /Per person\s+290\.4\skg/)
  await checkAccessibility(t, page, 'three lines')
  await checkNoSidewaysScrolling(t, page, 'three lines')

  await page.reload()
  t.equal(await line(2, 'factorSource').inputValue(), 'Grid 2025', 'a reload keeps the lines')
  t.same(browserErrors, { errors: [], externalRequests: [] })
})
