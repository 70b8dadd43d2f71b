import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { createBrotliDecompress, createGunzip } from 'node:zlib'
import t from 'tap'
import { buildApp } from '../../src/app.js'
import { createPrefillLinks } from '../../src/qr-codes/prefill-link.js'
import { postJson, SECRET, startApp, temporaryFolder } from '../support/app.js'
import { TYPICAL_CALCULATIONS } from '../support/calculations.js'
import { startTwoAdmins } from '../support/page-client.js'
import { rawGet } from '../support/raw-http.js'
import { waitUntil } from '../support/wait-for.js'

const { url, log } = await startApp(t, { CONTACT: 'crew@example.com' })
const links = createPrefillLinks([SECRET], () => url)

const EVER_GIVEN = { name: 'Ever Given', imoNumber: '9811000' }
const DAY = 24 * 60 * 60 * 1000
const TYPES = ['fuel', 'distance', 'custom'] as const
const FRAGMENT = { 'hx-request': 'true', 'hx-request-type': 'partial' }

interface Page {
  status: number
  headers: Headers
  html: string
}

async function open(target: string, headers: Record<string, string> = {}): Promise<Page> {
  const response = await fetch(target.startsWith('/') ? url + target : target, { headers })
  return { status: response.status, headers: response.headers, html: await response.text() }
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
const unescape = (html: string): string =>
  html.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '')

/** The value of an input. */
function getValue(html: string, name: string): string | undefined {
  const input = [...html.matchAll(/<input [^>]*>/g)]
    .map(([tag]) => tag)
    .find((tag) => tag.includes(` name="${name}"`))
  return input === undefined ? undefined : unescape(/ value="([^"]*)"/.exec(input)?.[1] ?? '')
}

/** The selected option of a select field. */
function getSelected(html: string, name: string): string | undefined {
  const [, options = ''] =
    new RegExp(`<select [^>]*name="${name}"[^>]*>(.*?)</select>`, 's').exec(html) ?? []
  return /<option(?: value="([^"]*)")?[^>]* selected>/.exec(options)?.[1]
}

const getError = (html: string, id: string): string =>
  unescape(new RegExp(`<p class="error" id="${id}-error"[^>]*>([^<]*)</p>`).exec(html)?.[1] ?? '')

const getFigure = (html: string): number =>
  Number(/<data value="([^"]+)">/.exec(html)?.[1] ?? Number.NaN)

const getReason = (html: string): string | undefined => /data-reason="([^"]+)"/.exec(html)?.[1]

const isFilled = (html: string): boolean => html.includes('id="trip"') || html.includes('<data ')

/** The chunks of a response, which fetch would join. */
async function getChunks(path: string): Promise<string[]> {
  const { head, body: chunked } = await rawGet(url, path)
  if (!/transfer-encoding: chunked/i.test(head)) throw new Error('response is not chunked')
  let body = chunked
  const chunks = []
  for (;;) {
    const end = body.indexOf('\r\n')
    const length = Number.parseInt(body.slice(0, end), 16)
    if (!length) return chunks
    chunks.push(Buffer.from(body.slice(end + 2, end + 2 + length), 'latin1').toString())
    body = body.slice(end + 2 + length + 2)
  }
}

const getPath = (link: { url: string }): string => link.url.slice(url.length)

t.test('opens a scanned link with values and result', async (t) => {
  for (const type of TYPES) {
    const link = links.create(TYPICAL_CALCULATIONS[type], EVER_GIVEN)
    const { status, headers, html } = await open(link.url)
    t.equal(status, 200)
    t.match(headers.get('content-type'), /^text\/html/)
    t.equal(headers.get('cache-control'), 'no-store')
    t.match(headers.get('x-robots-tag'), /noindex/)
    t.match(html, /Ever Given/)
    t.match(html, /IMO 9811000/)
    for (const [name, value] of Object.entries(TYPICAL_CALCULATIONS[type].calculatorData)) {
      t.equal(
        getValue(html, name) ?? getSelected(html, name),
        String(value as string | number),
        `${type} ${name}`,
      )
    }
    const { body } = await postJson(
      `${url}/api/calculators/${type}/estimate`,
      TYPICAL_CALCULATIONS[type].calculatorData,
    )
    t.equal(getFigure(html), (body as { co2eKg: number }).co2eKg, `${type}: same result as the API`)
    t.equal(getReason(html), undefined)
    t.match(html, /<\/html>\s*$/, 'the page is complete')
  }
})

t.test('sends the loading state before the trip', async (t) => {
  for (const [link, rest] of [
    [getPath(links.create(TYPICAL_CALCULATIONS.distance, EVER_GIVEN)), /id="trip"/],
    ['/calculator/distance?data=x&sig=y', /data-reason/],
  ] as const) {
    const chunks = await getChunks(link)
    t.ok(chunks.length >= 2)
    const [first = '', ...others] = chunks
    t.match(first, /<!doctype html>/)
    t.match(first, /class="loading"[^>]*aria-busy="true"/)
    t.match(first, /<link rel="stylesheet"/, 'with its style sheet')
    t.notMatch(first, rest)
    t.match(others.join(''), rest)
    t.notMatch(others.join(''), /class="loading"/)
  }
})

t.test('sends the loading state first with compression too', async (t) => {
  let release = (): void => undefined
  const held = new Promise<string>((resolve) => (release = () => resolve('<p>the rest</p>')))
  const app = await buildApp({
    environment: { DATA_DIR: temporaryFolder(t), SESSION_SECRET: SECRET, LOG_LEVEL: 'silent' },
  })
  t.teardown(() => app.close())
  app.get('/slow', (_request, reply) =>
    reply.streamPage(
      'calculator/prefill',
      { type: 'fuel', calculator: { title: 'Slow' } },
      () => held,
    ),
  )
  const slow = await app.listen({ host: '127.0.0.1', port: 0 })
  for (const [coding, decoder] of [
    ['br', createBrotliDecompress()],
    ['gzip', createGunzip()],
  ] as const) {
    const response = await new Promise<IncomingMessage>((resolve) =>
      get(`${slow}/slow`, { headers: { 'accept-encoding': coding } }, resolve),
    )
    t.equal(response.headers['content-encoding'], coding)
    let text = ''
    response.pipe(decoder).on('data', (part: Buffer) => (text += part.toString()))
    while (!text.includes('class="loading"')) await new Promise((resolve) => setTimeout(resolve, 5))
    t.notMatch(text, /the rest/, `${coding}: only the first part`)
    if (coding === 'br') continue
    release()
    await once(decoder, 'end')
    t.match(text, /the rest.*<\/html>/s)
  }
})

t.test('shows the reason for an invalid link and no calculator', async (t) => {
  const good = links.create(TYPICAL_CALCULATIONS.fuel, EVER_GIVEN)
  const edited = links.create(
    { calculatorType: 'fuel', calculatorData: { fuelType: 'mgo', quantity: 5, unit: 'l' } },
    EVER_GIVEN,
  )
  const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const past = links.create(TYPICAL_CALCULATIONS.fuel, EVER_GIVEN, new Date(Date.now() - 31 * DAY))
  const future = links.create(TYPICAL_CALCULATIONS.fuel, EVER_GIVEN, new Date(Date.now() + 2 * DAY))
  const distance = links.create(TYPICAL_CALCULATIONS.distance, EVER_GIVEN)
  const query = (data: string, sig: string) => `/calculator/fuel?data=${data}&sig=${sig}`
  const cases: [string, string, string, RegExp][] = [
    ['not Base64', query('%21%21', good.sig), 'not_base64', /cut short/],
    [
      'not our schema',
      query(base64({ a: 1 }), good.sig),
      'invalid_data',
      /not contain a valid trip/,
    ],
    ['another type', query(distance.data, distance.sig), 'wrong_type', /opened the wrong one/],
    ['edited', query(edited.data, good.sig), 'edited', /edited/],
    ['no signature', `/calculator/fuel?data=${good.data}`, 'incomplete', /code is missing/],
    ['expired', getPath(past), 'expired', /30 days/],
    ['not yet valid', getPath(future), 'not_yet_valid', /future/],
    ['empty', '/calculator/fuel?data=&sig=', 'empty', /contains no trip/],
    ['a signature alone', `/calculator/fuel?sig=${good.sig}`, 'empty', /contains no trip/],
    [
      'twice the data',
      `${getPath(good)}&data=${good.data}`,
      'invalid_data',
      /not contain a valid trip/,
    ],
    ['20 kB', query('A'.repeat(20_000), good.sig), 'too_long', /longer than any valid code/],
    ['20 kB of signature', query(good.data, 'A'.repeat(20_000)), 'incomplete', /incomplete/],
    ['other characters', query('%00%ff%F0', '%27%22%3Cscript%3E'), 'not_base64', /cut short/],
  ]
  for (const [name, target, reason, message] of cases) {
    const { status, html } = await open(target)
    t.ok(status < 500, `${name}: ${status}`)
    t.equal(getReason(html), reason, name)
    t.match(html, message, name)
    t.notOk(isFilled(html), `${name}: no calculator`)
    t.notMatch(html, /Ever Given/, `${name}: no vessel`)
    t.match(html, /role="alert"/, name)
    t.match(html, '<a href="mailto:crew@example.com">Contact us</a>', name)
    t.notMatch(html, /aria-current/, `${name}: no calculator is the current page`)
    t.match(html, /href="\/calculator\/fuel"/, `${name}: links to the empty calculator`)
    t.match(html, /<\/html>\s*$/, name)
    t.notMatch(html, /<script>/, name)
  }
})

t.test('links to the right calculator only for a genuine code', async (t) => {
  const { data, sig } = links.create(TYPICAL_CALCULATIONS.distance, EVER_GIVEN)
  const elsewhere = `/calculator/distance?data=${data}&sig=${sig}`
  const genuine = await open(`/calculator/fuel?data=${data}&sig=${sig}`)
  t.ok(unescape(genuine.html).includes(`href="${elsewhere}"`))
  t.ok(isFilled((await open(elsewhere)).html))
  const forged = await open(`/calculator/fuel?data=${data}&sig=${'A'.repeat(22)}`)
  t.equal(getReason(forged.html), 'wrong_type')
  t.notMatch(forged.html, /\?data=/)
})

t.test('accepts links signed with SESSION_SECRET_PREVIOUS', async (t) => {
  const fresh = 'a fresh secret, of more than 32 bytes too'
  const during = await startApp(t, { SESSION_SECRET: fresh, SESSION_SECRET_PREVIOUS: SECRET })
  const after = await startApp(t, { SESSION_SECRET: fresh })
  const old = getPath(links.create(TYPICAL_CALCULATIONS.fuel, EVER_GIVEN))
  const { path: recent } = during.app.prefillLinks.create(TYPICAL_CALCULATIONS.fuel, EVER_GIVEN)
  t.ok(isFilled((await open(during.url + old)).html))
  t.ok(isFilled((await open(after.url + recent)).html), 'new links have the new signature')
  t.equal(getReason((await open(after.url + old)).html), 'edited')
  t.equal(getReason((await open(url + recent)).html), 'edited')
})

t.test('shows markup in names as text', async (t) => {
  const names = [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '"><svg onload=alert(1)>',
    "' autofocus onfocus='alert(1)",
    '</title></head><h1>Hi',
    '<%= it.asset %><%~ x %>',
    '{{ 7*7 }} x-data="{}" ${1}',
    '" hx-get="/x" hx-trigger="load',
    '<!-- the rest -->',
    '&lt;b&gt; &amp;amp;',
  ]
  for (const name of names) {
    const { status, html } = await open(links.create(TYPICAL_CALCULATIONS.fuel, { name }).url)
    t.equal(status, 200)
    const shown = /<bdi>([^<]*)<\/bdi>/.exec(html)?.[1]
    t.equal(shown === undefined ? shown : unescape(shown), name, 'shown unchanged')
    t.notMatch(html, /<script>|<img src=x|<svg onload|onfocus='|hx-get="\/x|<h1>Hi/)
    t.equal(html.match(/<h1[ >]/g)?.length, 1)

    const target = `/qr-test?${new URLSearchParams({ calculatorType: 'fuel', 'fuel.quantity': '5', 'vessel.name': name })}`
    const generated = await open(target)
    t.notMatch(generated.html, /<script>|<img src=x|<svg onload|onfocus='|hx-get="\/x|<h1>Hi/)
    t.equal(getValue(generated.html, 'vessel.name'), name)
    t.match(generated.html, /class="card code-card"/)
  }
  const description = '<b>bold</b> "quoted"'
  const custom = await open(
    links.create(
      { calculatorType: 'custom', calculatorData: { amount: 1, unit: 't', description } },
      EVER_GIVEN,
    ).url,
  )
  t.equal(getValue(custom.html, 'description'), description)
  t.notMatch(custom.html, /<b>bold/)
})

t.test('shows an empty calculator without errors', async (t) => {
  const missing = {
    fuel: 'Enter the quantity to see the result',
    distance: 'Still needed: distance, average speed, fuel per hour or mile',
    custom: 'Enter the amount of CO₂e to see the result',
  }
  for (const type of TYPES) {
    const { status, html } = await open(`/calculator/${type}`)
    t.equal(status, 200)
    t.match(html, /id="trip"/)
    t.match(html, missing[type])
    t.notMatch(html, /aria-invalid/)
    t.notMatch(html, /class="loading"/)
    t.equal(html.match(/<p class="error"[^>]*>[^<]+</g), null)
  }
  const home = await open('/')
  for (const type of TYPES) t.ok(home.html.includes(`href="/calculator/${type}"`))
})

t.test('the home page says what it is, how to start and what a guest gets', async (t) => {
  const { html } = await open('/')
  const [, description = ''] = /<meta name="description" content="([^"]+)">/.exec(html) ?? []
  t.match(description, /^See what a boat trip emitted/)
  t.same(
    [...html.matchAll(/<h3>([^<]+)<\/h3>/g)].map(([, title]) => title),
    [
      ...['Scan a code', 'Calculate a trip'],
      ...['One figure', 'Every number behind it', 'A link to share'],
    ],
    'nothing about credits where none are sold',
  )
  const [, example = ''] = /class="sample" href="([^"]+)"/.exec(html) ?? []
  t.equal(Math.round(getFigure((await open(example.replaceAll('&amp;', '&'))).html)), 3306)
  for (const path of ['/admin', '/docs']) t.match(html, `href="${path}"`)
})

t.test('calculates from a plain form submit', async (t) => {
  const { status, html, headers } = await open(
    '/calculator/distance?distance=120&distanceUnit=nmi&speedKn=10&fuelType=mgo&consumption=60&consumptionUnit=l%2Fh&referenceSpeedKn=&generatorLitresPerHour=&generatorHours=',
  )
  t.equal(status, 200)
  t.match(headers.get('vary'), /HX-Request/i)
  t.ok(Math.abs(getFigure(html) - 2380.51) < 0.1)
  t.equal(getValue(html, 'distance'), '120')
  t.equal(getSelected(html, 'consumptionUnit'), 'l/h')
  t.match(html, /Regulation \(EU\) 2023\/1805/, 'lists sources')
  t.match(html, /720 l/, 'lists calculation steps')
})

t.test('shows an error at each invalid field and keeps its value', async (t) => {
  const { html } = await open(
    '/calculator/distance?distance=1%2C234&distanceUnit=nmi&speedKn=&fuelType=mgo&consumption=lots&consumptionUnit=l%2Fh',
  )
  t.equal(getError(html, 'distance'), '', 'is read by the locale')
  t.equal(getError(html, 'speedKn'), 'enter the average speed')
  t.match(getError(html, 'consumption'), /number/)
  t.equal(getValue(html, 'distance'), '1,234')
  t.equal(getValue(html, 'consumption'), 'lots')
  t.notOk(html.includes('<data '), 'no result')
  const invalid = /<input id="consumption"[^>]*>/.exec(html)?.[0] ?? ''
  t.match(invalid, /aria-invalid="true"/)
  t.match(invalid, /aria-describedby="consumption-error/)

  const units = await open('/qr-test?calculatorType=fuel&fuel.quantity=1&fuel.unit=x&vessel.name=')
  for (const id of ['fuel-unit', 'vessel-name']) {
    t.match(units.html, new RegExp(`id="${id}"[^>]*aria-invalid="true"`), id)
  }

  const markup = await open(`/calculator/fuel?quantity=${encodeURIComponent('"><script>x')}`)
  t.equal(getValue(markup.html, 'quantity'), '"><script>x')
  t.notMatch(markup.html, /<script>x/)
  t.equal((await open('/calculator/fuel?quantity=1&quantity=2')).status, 200)
  t.equal((await open('/calculator/fuel?quantity[a]=1&__proto__=2&constructor=x')).status, 200)
})

t.test('pages are in English, and so are their numbers', async (t) => {
  const link = links.create(
    { calculatorType: 'fuel', calculatorData: { fuelType: 'mgo', quantity: 1000.5, unit: 'l' } },
    EVER_GIVEN,
  )
  for (const [language, mass, density, share, quantity] of [
    ['de-DE,de;q=0.9,en-US;q=0.8', '3,308', '0.854 kg/l', '84%', '1000.5'],
    ['en', '3,308', '0.854 kg/l', '84%', '1000.5'],
    ['fr-FR', '3,308', '0.854 kg/l', '84%', '1000.5'],
    ['en-DE', '3,308', '0.854 kg/l', '84%', '1000.5'],
  ] as const) {
    const { html } = await open(link.url, { 'accept-language': language })
    t.match(html, `>${mass}</data>`, language)
    t.match(html, density, language)
    t.equal(/<small>([^<]*)<\/small>/.exec(html)?.[1]?.replace(/\s/, ' '), share, language)
    t.equal(getValue(html, 'quantity'), quantity, language)
    t.match(html, /<html lang="en">/)
    const typed = await open(`/calculator/fuel?quantity=${quantity}&unit=l&fuelType=mgo`)
    t.equal(getFigure(typed.html), getFigure(html), `${language}: the filled-in value is accepted`)
  }
  const german = { 'accept-language': 'de' }
  const { html } = await open('/calculator/fuel?quantity=20000000&unit=l&fuelType=mgo', german)
  t.equal(getError(html, 'quantity'), 'must be at most 10,000,000')
})

t.test('formats numbers of any size', async (t) => {
  for (const quantity of ['5e-324', '0.000001', '10000000']) {
    const { html } = await open(`/calculator/fuel?quantity=${quantity}&fuelType=hvo&unit=l`)
    t.notMatch(html, /NaN|Infinity|undefined/, quantity)
  }
})

t.test('returns a fragment to htmx and the page otherwise', async (t) => {
  const address = '/calculator/fuel?quantity=500&unit=l&fuelType=mgo'
  const fragment = await open(address, FRAGMENT)
  t.equal(fragment.status, 200)
  t.notMatch(fragment.html, /<html|<form|<main/)
  t.ok(getFigure(fragment.html) > 1600)
  t.match(fragment.html, /data-announcement="Result: 1,653 kilograms of carbon dioxide equivalent"/)
  t.match(fragment.headers.get('vary'), /HX-Request\b.*HX-Request-Type/i)

  const typing = await open('/calculator/fuel?quantity=&unit=l&fuelType=mgo', FRAGMENT)
  t.equal(getError(typing.html, 'quantity'), '', 'no error for a blank field before submit')
  const invalid = await open('/calculator/fuel?quantity=-1&unit=l&fuelType=mgo', FRAGMENT)
  t.match(getError(invalid.html, 'quantity'), /than 0/)

  for (const headers of [
    {},
    { 'hx-request': 'true', 'hx-request-type': 'full' },
    { 'hx-history-restore-request': 'true', 'hx-request-type': 'full' },
  ]) {
    const page = await open(address, headers)
    t.match(page.html, /<!doctype html>/)
    t.match(page.headers.get('vary'), /HX-Request/i)
  }
})

t.test('keeps the scanned vessel with the form and accepts no other', async (t) => {
  const { data, sig, path } = links.create(TYPICAL_CALCULATIONS.fuel, EVER_GIVEN)
  const { html } = await open(path)
  t.equal(getValue(html, 'code'), data)
  t.equal(getValue(html, 'codeSig'), sig)
  const changed = await open(`/calculator/fuel?code=${data}&codeSig=${sig}&quantity=7`)
  t.match(changed.html, /<bdi>Ever Given<\/bdi>/)
  t.match(changed.html, /IMO 9811000/)
  t.equal(getValue(changed.html, 'quantity'), '7')
  t.match(changed.html, 'Changed: Quantity (scanned: ')
  t.ok(unescape(changed.html).includes(`<a href="${path}#correct">Reset to scanned values</a>`))
  const forged = await open(
    `/calculator/fuel?code=${data}&codeSig=${sig.replace(/./, '!')}&quantity=7`,
  )
  t.notMatch(forged.html, /Ever Given/)
  t.match(forged.html, /<data value/, 'typed values are still calculated')
  const named = await open('/calculator/fuel?vesselName=Ever+Given&quantity=7')
  t.notMatch(named.html, /Ever Given/)
})

t.test('does not count a HEAD request as a scan', async (t) => {
  const { path } = links.create(TYPICAL_CALCULATIONS.fuel, EVER_GIVEN)
  const before = log.filter(({ msg }) => msg === 'prefill').length
  const codes = log.filter(({ msg }) => msg === 'qr code').length
  const response = await fetch(url + path, { method: 'HEAD' })
  t.equal(response.status, 200)
  t.equal(response.headers.get('content-length'), null)
  t.equal(
    (
      await fetch(`${url}/qr-test?calculatorType=custom&custom.amount=1&vessel.name=Eendracht`, {
        method: 'HEAD',
      })
    ).status,
    200,
  )
  t.equal(log.filter(({ msg }) => msg === 'prefill').length, before)
  t.equal(log.filter(({ msg }) => msg === 'qr code').length, codes)
})

t.test('logs an aborted request without an error', async (t) => {
  const { path } = links.create(TYPICAL_CALCULATIONS.fuel, EVER_GIVEN)
  const from = log.length
  for (let i = 0; i < 20; i++) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\naccept-encoding: br\r\n\r\n`)
    await new Promise((resolve) => setTimeout(resolve, i % 4))
    socket.resetAndDestroy()
  }
  const requests = () => log.slice(from).filter(({ msg }) => msg === 'request')
  t.ok(await waitUntil(() => requests().length > 0), 'requests are logged')
  t.same(
    log.slice(from).filter(({ level }) => Number(level) >= 50),
    [],
  )
  t.equal((await open(path)).status, 200)
})

t.test('generates a code for each calculator on the test page', async (t) => {
  const start = await open('/qr-test')
  t.equal(start.status, 200)
  t.equal(start.html.match(/<p class="error"[^>]*>[^<]+</g), null, 'no errors initially')

  const fields: Record<(typeof TYPES)[number], Record<string, string>> = {
    fuel: { 'fuel.fuelType': 'mgo', 'fuel.quantity': '500', 'fuel.unit': 'l' },
    distance: {
      'distance.fuelType': 'mgo',
      'distance.distance': '120',
      'distance.distanceUnit': 'nmi',
      'distance.speedKn': '10',
      'distance.consumption': '60',
      'distance.consumptionUnit': 'l/h',
    },
    custom: { 'custom.amount': '1,5', 'custom.unit': 't' },
  }
  for (const type of TYPES) {
    const query = new URLSearchParams({
      calculatorType: type,
      ...fields[type],
      'vessel.name': 'Ever Given',
      'vessel.imoNumber': 'IMO 9811000',
      'image.size': '400',
      'image.margin': '2',
      'image.errorCorrection': 'Q',
    })
    const { status, html } = await open(`/qr-test?${query}`)
    t.equal(status, 200)
    t.match(html, /href="data:image\/png;base64,[^"]+" download="clearwake-[a-z-]+-[\d-]+\.png"/)
    t.match(
      html,
      /href="data:image\/svg\+xml;base64,[^"]+" download="clearwake-[a-z-]+-[\d-]+\.svg"/,
    )

    const link = unescape(
      /class="button secondary" href="([^"]+)">Open the link/.exec(html)?.[1] ?? '',
    )
    const opened = await open(link)
    t.ok(isFilled(opened.html), `${type}: the link opens the pre-filled calculator`)
    t.match(opened.html, /IMO 9811000/)

    const request: unknown = JSON.parse(
      unescape(/<pre[^>]*><code>([^<]*)<\/code>/.exec(html)?.[1] ?? ''),
    )
    const { status: accepted, body } = await postJson(`${url}/api/qr-code/generate`, request)
    t.equal(accepted, 200, `${type}: the API accepts the request shown`)
    const again = new URL((body as { url: string }).url)
    const readTrip = (target: URL) => {
      const read = links.read(type, Object.fromEntries(target.searchParams))
      return read.ok ? { ...read.prefill, issuedAt: null } : null
    }
    t.ok(readTrip(again))
    t.same(readTrip(again), readTrip(new URL(link)), `${type}: and creates the same link`)
    t.match(body, { errorCorrection: 'Q' })
  }
})

t.test('shows errors at their fields on the test page and keeps values', async (t) => {
  const buildPath = (fields: Record<string, string>) =>
    `/qr-test?${new URLSearchParams({
      calculatorType: 'fuel',
      'fuel.quantity': '500',
      'vessel.name': 'Ever Given',
      ...fields,
    })}`
  const invalid = await open(
    buildPath({
      'fuel.quantity': '-5',
      'vessel.name': '',
      'vessel.imoNumber': '8712345',
      'image.size': '50',
      'image.margin': 'wide',
    }),
  )
  t.equal(invalid.status, 200)
  t.match(getError(invalid.html, 'fuel-quantity'), /than 0/)
  t.equal(getError(invalid.html, 'vessel-name'), 'enter the vessel name')
  t.match(getError(invalid.html, 'vessel-imoNumber'), /IMO number/)
  t.match(getError(invalid.html, 'image-size'), /at least 64/)
  t.ok(getError(invalid.html, 'image-margin'))
  t.equal(getValue(invalid.html, 'vessel.imoNumber'), '8712345')
  t.equal(getValue(invalid.html, 'image.margin'), 'wide')
  t.notMatch(invalid.html, /class="card code-card"/)

  const small = await open(buildPath({ 'image.size': '64', 'image.margin': '16' }))
  t.match(getError(small.html, 'image-size'), /at least \d+ for this code/)

  const slow = await open(
    buildPath({
      calculatorType: 'distance',
      'distance.distance': '120',
      'distance.speedKn': '0.001',
      'distance.consumption': '60',
    }),
  )
  t.match(getError(slow.html, 'distance-speedKn'), /longer than a year/)

  const long = await open(
    buildPath({
      calculatorType: 'custom',
      'custom.amount': '1',
      'custom.description': '🚢'.repeat(120),
      'vessel.name': '船'.repeat(80),
    }),
  )
  t.match(getError(long.html, 'vessel-name'), /shorten/)
  t.match(getError(long.html, 'custom-description'), /shorten/)

  const fragment = await open(buildPath({ 'vessel.imoNumber': '1' }), FRAGMENT)
  t.notMatch(fragment.html, /<html|<form/)
  t.match(getError(fragment.html, 'vessel-imoNumber'), /IMO number/)
  const corrected = await open(buildPath({}), FRAGMENT)
  t.equal(getError(corrected.html, 'vessel-imoNumber'), '')
  t.match(corrected.html, /class="card code-card"/)
})

t.test('returns 404 and 405 as pages', async (t) => {
  for (const path of [
    '/calculator/boat',
    '/calculator/toString',
    '/calculator/__proto__',
    '/calculator/',
    '/calculator',
    '/nowhere?data=x',
  ]) {
    const { status, headers, html } = await open(path)
    t.equal(status, 404, path)
    t.match(headers.get('content-type'), /^text\/html/)
    t.match(html, /<h1>/)
    t.notMatch(html, /keeps happening/)
    t.match(html, /<!doctype html>/)
  }
  const unknown = await open(
    `/calculator/boat${new URL(links.create(TYPICAL_CALCULATIONS.fuel, EVER_GIVEN).url).search}`,
  )
  t.equal(unknown.status, 404)
  for (const path of ['/calculator/fuel', '/qr-test', '/']) {
    const posted = await fetch(url + path, { method: 'POST' })
    t.equal(posted.status, 405, path)
    t.match(posted.headers.get('allow'), /GET/)
    t.match(await posted.text(), /<!doctype html>/)
  }
})

t.test('asks what a number means if the page and the browser disagree', async (t) => {
  const read = (quantity: string, language: string) =>
    open(`/calculator/fuel?fuelType=mgo&unit=l&quantity=${encodeURIComponent(quantity)}`, {
      'accept-language': language,
    })
  for (const language of ['de-DE,de;q=0.9,en;q=0.8', 'fr', 'en-ZA']) {
    for (const text of ['1,234', '1.234']) {
      const { html } = await read(text, language)
      t.equal(getError(html, 'quantity'), `“${text}” could mean two numbers`, language)
      t.match(html, /Did you mean <a href="[^"]*quantity=1234#outcome"[^>]*>1,234<\/a> or/)
      t.match(html, /or <a href="[^"]*quantity=1\.2340#outcome"[^>]*>1\.234<\/a>\?/)
      t.notMatch(html, '<data ', 'nothing is calculated')
    }
    const expected = getFigure(
      (await open('/calculator/fuel?fuelType=mgo&unit=l&quantity=1234.5')).html,
    )
    for (const text of ['1234,5', '1.234,5', '1234.5', '1,234.5', '1 234,5 l']) {
      t.equal(getFigure((await read(text, language)).html), expected, `${text} in ${language}`)
    }
  }
})

t.test(
  'reads ambiguous numbers as pages print them, and keeps them out of the address',
  async (t) => {
    const path = '/calculator/fuel?fuelType=mgo&unit=l&quantity='
    const fragment = { 'hx-request': 'true', 'hx-request-type': 'partial' }
    for (const [language, typed, litres, question] of [
      ['en-GB', '1,500', '1500', /1,500 litres\. Did you mean <a [^>]*>1\.5</],
      ['en-US', '1.500', '1.5', /1\.5 litres\? Did you mean <a [^>]*>1,500</],
      ['ja', '1,500', '1500', /1,500 litres\. Did you mean <a [^>]*>1\.5</],
    ] as const) {
      const response = await fetch(`${url}${path}${typed}`, {
        headers: { ...fragment, 'accept-language': language },
      })
      const html = await response.text()
      const expected = await open(path + litres)
      t.equal(getFigure(html), getFigure(expected.html), `${typed} in ${language}`)
      t.match(html, question)
      const address = new URL(response.headers.get('hx-replace-url') ?? '', url)
      t.equal(Number(address.searchParams.get('quantity')), Number(litres))
      const reopened = await open(address.pathname + address.search)
      t.equal(getFigure(reopened.html), getFigure(expected.html), 'the same in another locale')
      t.notMatch(reopened.html, /Did you mean/)
    }
  },
)

t.test('a copied link carried blank fields and lines', async (t) => {
  const query =
    'fuelType=mgo&quantity=1500&unit=l&hvoPercent=&certifiedGCo2ePerMj=&guests=&submitted=yes' +
    '&furtherLines.0.use=tender&furtherLines.0.fuelType=petrol&furtherLines.0.quantity=40&furtherLines.0.unit=l' +
    '&furtherLines.1.use=&furtherLines.1.fuelType=mgo&furtherLines.1.quantity=&furtherLines.1.unit=l'
  const headers = { 'hx-request': 'true', 'hx-request-type': 'partial' }
  const response = await fetch(`${url}/calculator/fuel?${query}`, { headers })
  const shared = response.headers.get('hx-replace-url') ?? ''
  t.same(
    [...new URL(shared, url).searchParams.keys()],
    ['quantity'].concat(['use', 'fuelType', 'quantity'].map((name) => `furtherLines.0.${name}`)),
  )
  t.equal(getFigure((await open(shared)).html), getFigure(await response.text()))
})

t.test('does not repeat an endless query in a header', async (t) => {
  const query = `fuelType=mgo&quantity=1500&unit=l&note=${'x'.repeat(20_000)}`
  const response = await fetch(`${url}/calculator/fuel?${query}`, {
    headers: { 'hx-request': 'true', 'hx-request-type': 'partial' },
  })
  t.equal(response.status, 200)
  t.equal(response.headers.get('hx-replace-url'), null)
})

t.test('a tab in the header dropped the scanned trip', async (t) => {
  const { pathname, search } = new URL(
    links.create(TYPICAL_CALCULATIONS.fuel, { name: 'Eendracht' }).url,
  )
  const tabs = '<nav aria-label="Calculators">'
  t.notMatch((await open(pathname + search)).html, tabs)
  t.match((await open(`${pathname}${search}x`)).html, tabs, 'an error still leads elsewhere')
  t.match((await open('/calculator/fuel')).html, tabs)
})

t.test('a link opens with what is stuck to its end when it is copied', async (t) => {
  const { pathname, search } = new URL(
    links.create(TYPICAL_CALCULATIONS.fuel, { name: 'Eendracht' }).url,
  )
  const path = pathname + search
  for (const end of [
    ...['.', ')', ',', '"', '%22', '%20', ' ', '%E2%80%8B', '/', '>', '%E2%80%9D).', ')**'],
    ...['?utm_source=mail', '&utm_source=mail', '&amp;utm_source=mail', '.&utm_source=mail'],
  ]) {
    t.match((await open(path + end)).html, '<title>Trip of Eendracht', end)
  }
  t.match((await open(path.replace('&', '&amp;'))).html, '<title>Trip of Eendracht')
  for (const [cut, title] of [
    [path.slice(0, -1), 'This link is incomplete'],
    [`${path.slice(0, -1)}.`, 'This link is incomplete'],
    [`${path}x`, 'This link is incomplete'],
    [path.replace(/&.*/, ''), 'This link is incomplete'],
    [path.replace(/sig=./, path.includes('sig=A') ? 'sig=B' : 'sig=A'), 'This code cannot be used'],
  ] as const) {
    t.match((await open(cut)).html, title, cut)
  }
})

t.test('previews of a scanned link name the vessel and the result', async (t) => {
  const trip = {
    calculatorType: 'fuel',
    calculatorData: { fuelType: 'mgo', quantity: 500, unit: 'l' },
  } as const
  const { pathname, search } = new URL(links.create(trip, { name: 'Søn & "Far"' }).url)
  const { html } = await open(pathname + search)
  t.match(html, '<title>Trip of Søn &amp; &quot;Far&quot; · Clearwake</title>')
  t.match(html, '<meta property="og:title" content="Trip of Søn &amp; &quot;Far&quot;">')
  t.match(
    html,
    /<meta property="og:description" content="Søn &amp; &quot;Far&quot;: 1,653 kg CO₂e,/,
  )
  t.ok(html.indexOf('id="result"') < html.indexOf('id="trip"'), 'the result comes first')
  const rejected = await open(`${pathname}${search}x`)
  t.match(rejected.html, /<title>This (?:code|link) [^<]+ · Clearwake<\/title>/)
})

t.test('staff have the navigation of the portal and an empty form', async (t) => {
  const { ann, url: address } = await startTwoAdmins(t)
  const { text } = await ann.get('/qr-test')
  t.match(text, /<nav aria-label="Portal">[^]*<a href="\/admin\/orders">/)
  t.match(text, /<a href="\/qr-test" aria-current="page">QR codes<\/a>/)
  t.match(text, /name="vessel.name" value=""/)
  t.notMatch(text, '8814275', 'no example that could end up on a label')
  for (const cookie of ['', 'clearwake=expired']) {
    const html = await (await fetch(`${address}/qr-test`, { headers: { cookie } })).text()
    t.match(html, /<nav aria-label="Calculators">/)
    t.match(html, '8814275')
  }
})
