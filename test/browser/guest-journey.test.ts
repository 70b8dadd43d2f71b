import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserContext, Page } from 'playwright-core'
import t from 'tap'
import { EDITION_2026_11 } from '../../src/calculator/factors/2026-11.js'
import { createPrefillLinks } from '../../src/qr-codes/prefill-link.js'
import { postJson, SECRET, startApp } from '../support/app.js'
import { PHONE, readImage, readPng, recordBrowserErrors, svgImage } from '../support/browser.js'
import { sharedBrowser } from '../support/shared-browser.js'
import { TRIPS } from '../support/trips.js'
import { waitForEqual, waitUntil } from '../support/wait-for.js'

const { url } = await startApp(t)
const browser = await sharedBrowser()

async function phone(options: object = {}): Promise<{ context: BrowserContext; page: Page }> {
  const context = await browser.newContext({ viewport: PHONE, ...options })
  return { context, page: await context.newPage() }
}

const generate = async (trip: object) => (await postJson(`${url}/api/qr-code/generate`, trip)).body

/** The values of a form's fields, by name. */
const valuesOf = (page: Page): Promise<Record<string, string>> =>
  page.evaluate(() =>
    Object.fromEntries(
      [...new FormData(document.querySelector<HTMLFormElement>('#trip') ?? undefined)].map(
        ([name, value]) => [name, typeof value === 'string' ? value : ''],
      ),
    ),
  )

const shownKilograms = async (page: Page): Promise<number> =>
  Number(await page.locator('.figure data').getAttribute('value'))

t.test(
  'a code is readable as PNG and SVG, and opens the calculator with values and result',
  async (t) => {
    const { context, page } = await phone()
    t.teardown(() => context.close())
    const browserErrors = recordBrowserErrors(context, url)

    for (const trip of TRIPS) {
      const code = await generate(trip)
      const png = Buffer.from(code.png.split(',')[1], 'base64')
      t.equal(await readPng(png), code.url, `${trip.vessel.name}: PNG`)

      await page.setContent(svgImage(code.svg))
      t.equal(await readImage(page.locator('img')), code.url, `${trip.vessel.name}: SVG`)
      t.ok(code.version <= 10, 'a usual trip fits version 10')

      await page.goto(code.url)
      await page.locator('.loading').waitFor({ state: 'hidden' })
      t.equal(await page.locator('.vessel bdi').textContent(), trip.vessel.name)
      const values = await valuesOf(page)
      for (const [name, value] of Object.entries(trip.calculatorData)) {
        t.equal(values[name], String(value), `${trip.vessel.name}: ${name}`)
      }
      const { body } = await postJson(
        `${url}/api/calculators/${trip.calculatorType}/estimate`,
        trip.calculatorData,
      )
      t.equal(await shownKilograms(page), body.co2eKg, 'the page and the API agree')
    }
    t.same(browserErrors, { errors: [], externalRequests: [] })
  },
)

t.test('edits after a scan change the result and keep the vessel', async (t) => {
  const { context, page } = await phone()
  t.teardown(() => context.close())
  await page.goto((await generate(TRIPS[0])).url)
  await page.locator('#quantity').fill('1000')
  await page.waitForFunction(() =>
    document.querySelector('.figure data')?.textContent.startsWith('3'),
  )
  t.ok(Math.abs((await shownKilograms(page)) - 3306.27) < 0.01)

  await page.reload()
  t.equal(await page.locator('#quantity').inputValue(), '1000', 'a reload keeps what was typed')
  t.equal(await page.locator('.vessel bdi').textContent(), 'Ever Given')
})

t.test(
  'says what was changed since the scan, and keeps the result while a value is wrong',
  async (t) => {
    const { context, page } = await phone()
    t.teardown(() => context.close())
    await page.goto((await generate(TRIPS[0])).url)
    await page.locator('#quantity').fill('600')
    await page.getByText('Changed: Quantity (scanned: 500).').waitFor()
    const address = page.url()
    const shown = await shownKilograms(page)

    for (const [value, message] of [
      ['-600', 'Quantity: must be greater than 0.'],
      ['', 'Enter the quantity to see the new result'],
      ['six', 'Quantity: must be a number.'],
    ] as const) {
      await page.locator('#quantity').fill(value)
      await page.locator('.kept').getByText(message).waitFor()
      t.equal(await shownKilograms(page), shown, `${value}: the earlier result`)
      t.equal(await page.locator('#result').getAttribute('data-stale'), 'true', 'marked as such')
      t.equal(await page.locator('#checkout, .buy-bar').count(), 0, 'nothing can be bought')
      t.equal(page.url(), address, 'a reload opens the earlier result')
    }
    await page.locator('#quantity').fill('500')
    await page.locator('.buy-bar').waitFor()
    t.notOk(await page.locator('#result').getAttribute('data-stale'))
    await page.getByRole('link', { name: 'Back to the result' }).click()
    await page.waitForFunction(() => scrollY < 100)
  },
)

t.test('shows the result of a scan first, and keeps it in view below', async (t) => {
  const { context, page } = await phone()
  t.teardown(() => context.close())
  await page.goto((await generate(TRIPS[0])).url)
  t.equal(await page.title(), 'Trip of Ever Given · Clearwake')
  const getTop = (selector: string): Promise<number> =>
    page.locator(selector).evaluate((element) => element.getBoundingClientRect().top)
  t.ok((await getTop('.figure')) < PHONE.height / 3)
  t.ok((await getTop('#outcome')) < (await getTop('#trip')))

  await page.locator('#quantity').scrollIntoViewIfNeeded()
  t.ok((await getTop('.bar-figure')) >= 0, 'while the form is in view')
  t.equal(await page.getByRole('button', { name: 'Calculate' }).isVisible(), false)
})

t.test('copies the link of a result and prints it without the form', async (t) => {
  const { context, page } = await phone({ permissions: ['clipboard-read', 'clipboard-write'] })
  t.teardown(() => context.close())
  await page.goto((await generate(TRIPS[0])).url)
  await page.getByRole('button', { name: 'Copy link' }).click()
  await page.getByRole('button', { name: 'Link copied' }).waitFor()
  t.equal(await page.evaluate(() => navigator.clipboard.readText()), page.url(), 'the scanned link')

  await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
  await page.emulateMedia({ media: 'print' })
  for (const selector of ['#trip', '.share', '.site-header nav']) {
    t.equal(await page.locator(selector).isVisible(), false, selector)
  }
  t.match(await page.locator('#result').innerText(), /Emission factors and conversions/)
  t.match(await page.locator('#result').innerText(), /Calculated on \d+ \w+ \d{4} by Clearwake/)
  await page.evaluate(() => dispatchEvent(new Event('afterprint')))
  t.equal(await page.locator('.calculation-details[open]').count(), 0, 'closed again')
  const pdf = (await page.pdf({ format: 'A4' })).toString('latin1')
  t.equal(pdf.match(/\/Type \/Page\b/g)?.length, 1, 'on one sheet')
})

t.test('a number typed with a thousands separator leaves a plain one in the address', async (t) => {
  const { context, page } = await phone({ locale: 'en-US' })
  t.teardown(() => context.close())
  await page.goto(`${url}/calculator/fuel`)
  await page.locator('#quantity').fill('1,500')
  await page.locator('#quantity-question').getByText('1,500 litres. Did you mean 1.5?').waitFor()
  await waitUntil(async () => new URL(page.url()).searchParams.get('quantity') === '1500')
  t.equal(await page.locator('#quantity').inputValue(), '1,500', 'typed text stays')
})

t.test('asks about a number that may be a thousand times larger', async (t) => {
  const { context, page } = await phone({ locale: 'en-GB' })
  t.teardown(() => context.close())
  await page.goto(`${url}/calculator/fuel`)
  await page.locator('#quantity').fill('1.234')
  await page.locator('#quantity-question').getByText('1.234 litres? Did you mean 1,234?').waitFor()
  await page.getByRole('link', { name: '1,234' }).click()
  await page.waitForFunction(() =>
    document.querySelector('.figure data')?.textContent.startsWith('4,080'),
  )
  t.equal(await page.locator('#quantity').inputValue(), '1234')
  await waitForEqual(t, () => page.locator('#quantity-question').innerText(), '')
})

t.test('asks which number is meant if the language of the browser does not say', async (t) => {
  const { context, page } = await phone({ locale: 'de-DE', javaScriptEnabled: false })
  t.teardown(() => context.close())
  await page.goto(`${url}/calculator/fuel`)
  await page.locator('#quantity').fill('1.234')
  await page.locator('#quantity').press('Enter')
  t.equal(await page.locator('#quantity-error').innerText(), '“1.234” could mean two numbers')
  t.equal(await page.locator('#quantity-question').innerText(), 'Did you mean 1,234 or 1.234?')
  await page.getByRole('link', { name: '1.234' }).click()
  t.equal(await page.locator('#quantity').inputValue(), '1.2340')
  t.match(await page.locator('.figure').innerText(), /^4\.08/)
})

t.test('works without scripts', async (t) => {
  const { context, page } = await phone({ javaScriptEnabled: false })
  t.teardown(() => context.close())
  const code = await generate(TRIPS[1])
  await page.goto(code.url)
  await page.locator('.loading').waitFor({ state: 'hidden' })
  t.equal(await page.locator('#speedKn').inputValue(), '10')
  t.ok((await page.locator('.figure').innerText()).includes('2,613'))

  await page.locator('#speedKn').fill('12')
  await page.getByRole('button', { name: 'Calculate' }).click()
  t.ok(page.url().endsWith('#outcome'), 'the result is what comes into view')
  t.ok(await page.locator('.figure').evaluate((figure) => figure.getBoundingClientRect().top < 800))
  t.ok((await page.locator('.figure').innerText()).includes('3,571'))
})

t.test('shows the loading state until the rest of the page arrives', async (t) => {
  const code = await generate(TRIPS[0])
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  // A slow network: forwards the first part of the response and delays the rest.
  const network = createServer((request, response) => {
    const path = request.url ?? '/'
    get(url + path, { headers: { accept: 'text/html' } }, (answer: IncomingMessage) => {
      response.writeHead(answer.statusCode ?? 502, {
        ...answer.headers,
        'transfer-encoding': 'chunked',
      })
      let first = true
      answer.on('data', (part: Buffer) => {
        if (first || path.startsWith('/assets/')) response.write(part)
        else void held.then(() => response.write(part))
        first = false
      })
      answer.on(
        'end',
        () => void (path.startsWith('/assets/') ? response.end() : held.then(() => response.end())),
      )
    })
  }).listen(0, '127.0.0.1')
  t.teardown(() => network.close())
  const { context, page } = await phone()
  t.teardown(() => context.close())

  const { port } = network.address() as AddressInfo
  await page.goto(code.url.replace(url, `http://127.0.0.1:${port}`), { waitUntil: 'commit' })
  await page.locator('.loading').waitFor({ state: 'visible' })
  t.equal(await page.locator('[aria-busy=true]').innerText(), 'Opening your trip …')
  t.equal(await page.locator('#trip').count(), 0)
  release()
  await page.locator('.figure').waitFor({ state: 'visible' })
  await page.locator('.loading').waitFor({ state: 'hidden' })
})

t.test('an invalid link explains the reason, and fills in nothing', async (t) => {
  const { context, page } = await phone()
  t.teardown(() => context.close())
  const browserErrors = recordBrowserErrors(context, url)
  const { url: good, data, sig } = await generate(TRIPS[0])
  const links = createPrefillLinks([SECRET], () => url)
  const madeAt = (time: string) => links.create(TRIPS[0], TRIPS[0].vessel, new Date(time)).url
  const at = (query: string) => `${url}/calculator/fuel?${query}`

  const cases: [what: string, link: string, title: string][] = [
    ['not Base64', at(`data=%C3%A9%20!&sig=${sig}`), 'This code is damaged'],
    [
      'not our schema',
      at(`data=${btoa('{"quantity":500}')}&sig=${sig}`),
      'This code could not be read',
    ],
    ['wrong type', good.replace('/fuel?', '/distance?'), 'This code is for another calculator'],
    [
      'edited',
      good.replace(/sig=./, (s: string) => (s === 'sig=A' ? 'sig=B' : 'sig=A')),
      'This code cannot be used',
    ],
    ['expired', madeAt('2020-01-01'), 'This code has expired'],
    ['not yet valid', madeAt('2100-01-01'), 'This code is not valid yet'],
    ['empty', at('data=&sig='), 'This link is empty'],
    ['20 kB long', at(`data=${'A'.repeat(20_000)}&sig=${sig}`), 'This link is too long'],
    ['without a signature', at(`data=${data}`), 'This link is incomplete'],
  ]
  for (const [what, link, title] of cases) {
    await page.goto(link)
    t.equal(await page.getByRole('heading', { level: 1 }).innerText(), title, what)
    await page.locator('.loading').waitFor({ state: 'hidden' })
    t.equal(await page.locator('form, .figure').count(), 0, 'no calculator is shown')
    t.ok(await page.getByRole('link', { name: 'Enter the trip yourself' }).isVisible())
  }

  await page.goto(good.replace('/fuel?', '/distance?'))
  await page.getByRole('link', { name: 'Open the right calculator' }).click()
  t.equal(
    await page.locator('#quantity').inputValue(),
    '500',
    'the right calculator is one tap away',
  )
  t.same(browserErrors, { errors: [], externalRequests: [] })
})

t.test('the result updates while typing, and the focus stays', async (t) => {
  const { context, page } = await phone()
  t.teardown(() => context.close())
  const browserErrors = recordBrowserErrors(context, url)
  await page.goto(`${url}/calculator/fuel`)
  const bar = page.locator('.result-bar')
  t.equal(await bar.innerText(), 'Enter the quantity to see the result')
  const { y, height } = (await bar.boundingBox()) ?? { y: 0, height: 0 }
  t.equal(y + height, PHONE.height, 'at the bottom of the screen')
  await page.evaluate(() => {
    // Whether the result was ever blank during an update
    const result = document.querySelector('#result') ?? document.body
    new MutationObserver(() => {
      if (result.textContent.trim() === '') document.body.dataset.flickered = 'true'
    }).observe(result, { childList: true, subtree: true })
  })
  await page.locator('#quantity').pressSequentially('1000', { delay: 30 })
  await page.waitForFunction(() => document.querySelector('.figure data')?.textContent === '3,306')
  await waitForEqual(t, () => page.evaluate(() => document.activeElement?.id), 'quantity')
  t.equal(await page.evaluate(() => document.body.dataset.flickered), undefined)
  await page.waitForFunction(() => document.querySelector('#announcement')?.textContent !== '')
  t.equal(
    await page.locator('#announcement').textContent(),
    'Result: 3,306 kilograms of carbon dioxide equivalent',
    'it is announced',
  )

  await page.locator('summary', { hasText: 'How this is calculated' }).click()
  await page.locator('#unit').selectOption('gal-us')
  await page.locator('#fuelType').selectOption('petrol')
  await page.waitForFunction(() => document.querySelector('.figure data')?.textContent === '11.21')
  t.equal(
    await page.locator('.calculation-details').getAttribute('open'),
    '',
    'what was unfolded stays so',
  )
  t.ok((await page.locator('.factors').innerText()).includes('DESNZ'))
  t.ok(
    (await page.locator('.factors').innerText()).includes(
      String(EDITION_2026_11.fuels.petrol.tankToWake.value),
    ),
    'each number stands with its source',
  )

  await page.locator('#quantity').fill('-5')
  await page.locator('#quantity-error').waitFor({ state: 'visible' })
  t.equal(await page.locator('#quantity-error').innerText(), 'Must be greater than 0')
  t.equal(await page.locator('#quantity').getAttribute('aria-invalid'), 'true')
  t.equal(await page.locator('#result').getAttribute('data-stale'), 'true', 'an earlier result')
  await page.locator('#quantity').fill('1,5')
  await page.locator('#result:not([data-stale])').waitFor()
  t.equal(await page.locator('#quantity').getAttribute('aria-invalid'), null)
  t.same(browserErrors, { errors: [], externalRequests: [] })
})

t.test('the response to the latest input wins', async (t) => {
  const { context, page } = await phone()
  t.teardown(() => context.close())
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  await page.route('**/calculator/fuel?*quantity=1&*', async (route) => {
    await held
    await route.continue().catch(() => undefined)
  })
  await page.goto(`${url}/calculator/fuel`)
  const request = page.waitForRequest(/quantity=1&/)
  await page.locator('#quantity').fill('1')
  await request
  await page.locator('#quantity').fill('1000')
  const shows = () => document.querySelector('.figure data')?.textContent === '3,306'
  await page.waitForFunction(shows)
  release()
  await page.waitForTimeout(300)
  t.equal(await page.evaluate(shows), true, 'the answer that comes late changes nothing')
})

t.test('keeps the last result without a connection, with a notice', async (t) => {
  const { context, page } = await phone()
  t.teardown(() => context.close())
  await page.goto(`${url}/calculator/fuel?quantity=1000`)
  await context.setOffline(true)
  await page.locator('#quantity').fill('2000')
  await page.locator('.alert').waitFor()
  t.equal(await page.locator('.figure data').innerText(), '3,306')
  await context.setOffline(false)
  await page.locator('#quantity').fill('3000')
  await page.waitForFunction(() => document.querySelector('.figure data')?.textContent === '9,919')
  t.equal(await page.locator('.alert').count(), 0)
})

t.test('a submit moves the focus to the result, or to the first invalid field', async (t) => {
  const { context, page } = await phone()
  t.teardown(() => context.close())
  await page.goto(`${url}/calculator/distance`)
  const focused = () => page.evaluate(() => document.activeElement?.id)
  await page.locator('#distance').press('Enter')
  await page.locator('.error:not(:empty)').first().waitFor()
  await page.waitForFunction(() => document.activeElement?.id === 'distance')
  t.same(
    await page.locator('.error:not(:empty)').allInnerTexts(),
    ['Enter the distance', 'Enter the average speed', 'Enter the fuel per hour or mile'],
    'every blank field is named at once',
  )

  await page.locator('#distance').fill('120')
  await page.locator('#speedKn').fill('60')
  await page.locator('#consumption').fill('60')
  await page.getByText('Fuel known at another speed').click()
  await page.locator('#referenceSpeedKn').fill('12')
  await page.getByText('Fuel known at another speed').click()
  await page.locator('#consumption').press('Enter')
  await page.waitForFunction(() => document.activeElement?.id === 'referenceSpeedKn')
  t.equal(await page.locator('#referenceSpeedKn-error').isVisible(), true, 'it is unfolded')
  t.match(await page.locator('.result-bar').innerText(), /^Speed when measured: .+\.$/)

  await page.locator('#speedKn').fill('10')
  await page.locator('#speedKn').press('Enter')
  await page.waitForFunction(() => document.activeElement?.id === 'outcome')
  await waitForEqual(t, focused, 'outcome')
  t.ok(
    await page.locator('.trip-hero').evaluate((part) => {
      const { top, bottom } = part.getBoundingClientRect()
      return top > 0 && bottom < innerHeight
    }),
    'the result is in view',
  )
})

t.test('the bar leads to the result while that is below', async (t) => {
  const { context, page } = await phone()
  t.teardown(() => context.close())
  await page.goto(`${url}/calculator/fuel?quantity=1000`)
  const link = page.getByRole('link', { name: 'See the result' })
  await link.click()
  await link.waitFor({ state: 'hidden' })
  const { y = -1 } = (await page.locator('#outcome').boundingBox()) ?? {}
  t.ok(y >= 0 && y < 100, `the result is ${y} px below the top`)

  await page.goto((await generate(TRIPS[0])).url)
  t.equal(await link.count(), 0, 'a scanned result comes first')
})

t.test('the sticky bar covers no focused field', async (t) => {
  const pages = [
    (await generate(TRIPS[1])).url,
    `${url}/calculator/fuel?quantity=1000`,
    `${url}/calculator/distance`,
  ]
  for (const viewport of [
    PHONE,
    { width: 390, height: 664 },
    { width: 320, height: 568 },
    { width: 390, height: 420 },
  ]) {
    const { context, page } = await phone({ viewport })
    for (const address of pages) {
      await page.goto(address)
      const hidden: string[] = []
      for (let i = 0; i < 25; i++) {
        await page.keyboard.press('Tab')
        const covered = () =>
          page.evaluate(() => {
            const element = document.activeElement
            const bar = document.querySelector('.result-bar, .buy-bar')
            if (!bar || !element?.closest('main') || bar.contains(element)) return ''
            const field = element.getBoundingClientRect()
            const { top, bottom } = bar.getBoundingClientRect()
            const isClear = field.bottom <= top || field.top >= bottom
            return isClear ? '' : element.id || element.tagName
          })
        // Waits for scrolling.
        if (!(await waitUntil(async () => (await covered()) === ''))) hidden.push(await covered())
      }
      t.same(hidden, [], `${viewport.width} × ${viewport.height}: ${address}`)
    }
    await context.close()
  }
})

t.test('a rate-limited update keeps the input', async (t) => {
  const limited = await startApp(t, { RATE_LIMIT_PER_MINUTE: '2' })
  const { context, page } = await phone()
  t.teardown(() => context.close())
  await page.goto(`${limited.url}/calculator/fuel`)
  await page.locator('#quantity').fill('1000')
  await page.locator('.figure').waitFor()
  await page.locator('#quantity').fill('2000')
  await page.getByText('Too many requests').waitFor()
  t.equal(await page.locator('#quantity').inputValue(), '2000')
  t.equal(await page.getByRole('heading', { level: 1 }).count(), 1)
})
