import t from 'tap'
import { postJson, startApp } from '../support/app.js'
import { PHONE, recordBrowserErrors } from '../support/browser.js'
import { offerCredits, startProvider } from '../support/guest-orders.js'
import { openBrowserContext } from '../support/shared-browser.js'
import { TRIPS } from '../support/trips.js'

t.test('a guest sees the button at once, enters the guests and buys their own part', async (t) => {
  const { url } = await startApp(t, offerCredits(await startProvider(t)))
  // The form waits for the provider's prices, a result does not wait long.
  await fetch(`${url}/offset?type=custom&amount=1&unit=t`)
  const { context, page } = await openBrowserContext(t, { viewport: PHONE, locale: 'en-GB' })
  const browserErrors = recordBrowserErrors(context, url)
  await page.goto((await postJson(`${url}/api/qr-code/generate`, TRIPS[0])).body.url)
  const button = page.locator('#checkout')
  const { y = 0, height = 0 } = (await button.boundingBox()) ?? {}
  t.ok(y + height <= 640, `the button ends at ${y + height} px`)
  t.equal(await button.innerText(), 'Buy credits for US$39.51')
  const part = page.getByRole('radio', { name: 'My part' })
  t.notOk(await part.isChecked())

  await page.getByText('Enter guests').click()
  const guests = page.getByLabel('How many on board?')
  t.ok(await guests.evaluate((field) => field === document.activeElement))
  t.ok(await part.isChecked())
  t.equal(await button.innerText(), 'Enter the guests on board')
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('ArrowRight')
  t.equal(await button.innerText(), 'Buy credits for US$39.51')
  await page.keyboard.press('ArrowLeft')
  t.ok(await part.evaluate((field) => field === document.activeElement), 'not moved from a choice')
  await button.click()
  t.ok(await guests.evaluate((field) => field === document.activeElement))
  await guests.fill('8')
  const hero = page.locator('.trip-hero .of-part')
  await hero.getByText(/^207\s+kg/).waitFor()
  await hero.getByText('One of 8 guests').waitFor()
  t.ok(await part.isChecked())
  t.equal(await page.locator('#trip [name=guests]').inputValue(), '8')
  t.equal(await button.innerText(), 'Buy credits for US$4.94')
  const figure = page.locator('.bar-figure')
  t.match(await figure.innerText(), /^207\s+kg/, 'the figure is that of the part')
  await page.getByRole('radio', { name: 'Blue Carbon' }).check()
  t.equal(await page.locator('#purchase-portfolio').innerText(), 'Blue Carbon')
  await page.getByRole('radio', { name: 'Whole trip' }).check()
  t.match(await button.getAttribute('href'), /portfolioId=2$/)
  t.match(await figure.innerText(), /^1,653\s+kg/)
  await part.check()
  t.match(await button.getAttribute('href'), /portfolioId=2&forGuests=1$/)

  await page.getByRole('link', { name: 'Correct it' }).click()
  await page.keyboard.type('1000')
  await hero.getByText(/^413\s+kg/).waitFor()
  t.ok(await part.isChecked(), 'the choice is kept')
  t.ok(((await button.boundingBox())?.y ?? -1) >= 0, 'the button stays in view')
  await page.getByRole('link', { name: 'What am I buying?' }).first().click()
  await page.getByRole('link', { name: 'Back to your trip' }).click()
  await hero.getByText(/^413\s+kg/).waitFor()
  await page.getByRole('radio', { name: 'Blue Carbon' }).waitFor()
  t.ok(await part.isChecked(), 'also after a look at what is bought')

  const price = /US\$[\d.]+/.exec(await button.innerText())?.[0] ?? ''
  await button.click()
  await page.locator('#total strong', { hasText: price }).waitFor()
  t.same(browserErrors, { errors: [], externalRequests: [] })
})
