import { PNG } from 'pngjs'
import t from 'tap'
import { postJson, startApp } from '../support/app.js'
import { TRIPS } from '../support/trips.js'

const PRICE = { PRICE_PER_TONNE: '20', CURRENCY: 'EUR' }
const GROUP = '/calculator/fuel?quantity=500&guests=8'

const getHtml = async (address: string, headers = {}): Promise<string> =>
  (await fetch(address, { headers })).text()

const toText = (html: string): string =>
  html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/&nbsp;|\s+/g, ' ')

/** The target of a link, by a part of its content. */
const findHref = (html: string, content: string): string =>
  Array.from(html.matchAll(/<a [^>]*href="([^"]*)"[^>]*>(.*?)<\/a>/gs))
    .find(([, , inner = '']) => toText(inner).includes(content))?.[1]
    ?.replaceAll('&amp;', '&') ?? ''

t.test('a result compares the emissions and divides them by the guests', async (t) => {
  const { url } = await startApp(t)
  const text = toText(await getHtml(url + GROUP))
  t.match(text, '1,653 kg CO₂e')
  t.match(text, 'Like driving 10,000 km in a petrol car')
  t.match(text, '207 kg for each of 8 guests')
  t.notMatch(await getHtml(`${url}/calculator/fuel?quantity=500&guests=1`), 'for each of')
})

t.test('offers the part of one guest and the whole trip, without scripts', async (t) => {
  const { url } = await startApp(t, PRICE)
  const html = await getHtml(url + GROUP)
  t.match(findHref(html, 'My part €4.14'), /^\/offset\?.*quantity=500.*&forGuests=1$/)
  t.match(findHref(html, 'Whole trip €33.07'), /^\/offset\?(?!.*forGuests)/)
  t.match(findHref(html, 'Buy credits for €4.14'), /forGuests=1$/)
  t.equal(findHref(html, 'What am I buying?'), '/carbon-credits')
  const form = await getHtml(url + findHref(html, 'My part'))
  t.match(form, '€4.14', 'the order form has the same price')

  const alone = await getHtml(`${url}/calculator/fuel?quantity=500`)
  t.match(alone, 'How many on board?')
  t.match(alone, /value="guests"[^>]*> <span>My part<\/span> <strong>Enter guests<\/strong>/)
  t.equal(findHref(alone, 'My part'), '')
  t.match(findHref(alone, 'Buy credits for €33.07'), /^\/offset\?/)
})

t.test('a scanned link keeps its signature with the part of one guest', async (t) => {
  const { url } = await startApp(t, PRICE)
  const trip = { ...TRIPS[0], calculatorData: { ...TRIPS[0].calculatorData, guests: 8 } }
  const { body } = await postJson(`${url}/api/qr-code/generate`, trip)
  const html = await getHtml(body.url)
  t.match(findHref(html, 'My part'), /^\/offset\?data=[\w-]+&sig=[\w-]+&forGuests=1$/)
  t.notMatch(html, 'How many on board?', 'the code has the guests')
})

t.test('shared links have no defaults', async (t) => {
  const { url } = await startApp(t)
  const query =
    'fuelType=mgo&quantity=500&unit=l&certifiedAs=bio&framework=clearwake&guests=&furtherLines.0.fuelType=mgo&furtherLines.0.quantity=5&furtherLines.0.unit=l&furtherLines.0.use=tender'
  const headers = { 'hx-request': 'true', 'hx-request-type': 'partial' }
  const response = await fetch(`${url}/calculator/fuel?${query}`, { headers })
  const short = '/calculator/fuel?quantity=500&furtherLines.0.quantity=5&furtherLines.0.use=tender'
  t.equal(response.headers.get('hx-replace-url'), short)
  const getMass = (html: string) => /<data value="([\d.]+)"/.exec(html)?.[1]
  t.equal(getMass(await getHtml(url + short)), getMass(await response.text()), 'the same result')
})

t.test('public pages have a description and, with a result, a preview image', async (t) => {
  const { url } = await startApp(t)
  for (const type of ['fuel', 'distance', 'custom']) {
    t.match(
      await getHtml(`${url}/calculator/${type}`),
      /<meta name="description" content="[^"]{20}/,
    )
  }
  const { body } = await postJson(`${url}/api/qr-code/generate`, TRIPS[0])
  for (const page of [body.url, url + GROUP]) {
    const html = await getHtml(page)
    const image = /property="og:image" content="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&')
    const response = await fetch(image ?? '')
    t.equal(response.headers.get('content-type'), 'image/png')
    t.match(response.headers.get('cache-control'), 'public, max-age=')
    const { width, height } = PNG.sync.read(Buffer.from(await response.arrayBuffer()))
    t.same([width, height], [1200, 630])
  }
  t.match(await getHtml(body.url), /name="description" content="Ever Given: 1,653 kg CO₂e/)
  for (const path of [
    '/calculator/fuel/preview.png',
    '/calculator/rocket/preview.png?quantity=1',
  ]) {
    t.equal((await fetch(url + path)).status, 404, path)
  }
  const statuses = await Promise.all(
    Array.from(
      { length: 40 },
      async () => (await fetch(`${url}/calculator/fuel/preview.png`)).status,
    ),
  )
  t.ok(statuses.includes(429), 'limited')
})

t.test('names that are markup, long or in other scripts draw an image', async (t) => {
  const { url } = await startApp(t)
  for (const name of ['<b>&"Ever" \'Given\'', 'M'.repeat(80), 'نورس', '⛵ Sail', '海の星']) {
    const { body } = await postJson(`${url}/api/qr-code/generate`, {
      ...TRIPS[0],
      vessel: { name },
    })
    const response = await fetch(body.url.replace('/fuel?', '/fuel/preview.png?'))
    t.equal(response.status, 200, name)
  }
})
