import { PNG } from 'pngjs'
import t from 'tap'
import { createPrefillLinks } from '../../src/qr-codes/prefill-link.js'
import { postJson, SECRET, startApp } from '../support/app.js'
import { REAL_VESSELS, TYPICAL_CALCULATIONS } from '../support/calculations.js'
import { avoidMidnight } from '../support/midnight.js'
import { ADMIN_ACCOUNTS, cookieHeader, postLogin } from '../support/sign-in.js'
import { waitUntil } from '../support/wait-for.js'
import { drawSvg, readQrCode, toGray, type GrayImage } from '../support/zbar.js'

interface QrCodeResponse {
  calculatorType: 'fuel' | 'distance' | 'custom'
  url: string
  data: string
  sig: string
  generatedAt: string
  expiresAt: string
  version: number
  errorCorrection: string
  svg: string
  png: string
}

const EVER_GIVEN = { name: 'Ever Given', imoNumber: '9811000' }
const REQUEST = { ...TYPICAL_CALCULATIONS.fuel, vessel: EVER_GIVEN }

const { url, log } = await startApp(t)
const endpoint = `${url}/api/qr-code/generate`

async function generate(request: object): Promise<QrCodeResponse> {
  const { status, body } = await postJson(endpoint, request)
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return body as QrCodeResponse
}

async function getErrors(request: object): Promise<Map<string, string>> {
  const { status, body } = await postJson(endpoint, request)
  if (status !== 422) throw new Error(`${status}: ${JSON.stringify(body).slice(0, 300)}`)
  const { errors } = body as { errors: { path: string; message: string }[] }
  return new Map(errors.map(({ path, message }) => [path, message]))
}

const requestImage = (accept: string, request: object = REQUEST) =>
  fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify(request),
  })

function decodePng(png: Buffer) {
  const { width, height, data } = PNG.sync.read(png)
  return { width, height, gray: toGray(width, height, data) }
}

const pngOf = ({ png }: QrCodeResponse) =>
  decodePng(Buffer.from(png.replace('data:image/png;base64,', ''), 'base64'))

/** Light lines on the left, top, right and bottom of a code. */
function getMargins({ width, pixels }: GrayImage): number[] {
  const dark = [...pixels.entries()].filter(([, shade]) => shade === 0).map(([at]) => at)
  const columns = dark.map((at) => at % width)
  const rows = dark.map((at) => Math.floor(at / width))
  const last = width - 1
  return [
    Math.min(...columns),
    Math.min(...rows),
    last - Math.max(...columns),
    last - Math.max(...rows),
  ]
}

const links = createPrefillLinks([SECRET], () => url)
const getVessel = ({ calculatorType, data, sig }: QrCodeResponse) => {
  const read = links.read(calculatorType, { data, sig })
  return read.ok ? read.prefill.vessel : null
}

t.test('returns the documented fields and nothing else', async (t) => {
  const before = Math.floor(Date.now() / 1000) * 1000
  const { status, headers, body } = await postJson(endpoint, {
    ...REQUEST,
    image: { size: 512, margin: 4, errorCorrection: 'M' },
  })
  const code = body as QrCodeResponse
  t.equal(status, 200)
  t.match(headers.get('content-type'), /^application\/json/)
  t.equal(headers.get('cache-control'), 'no-store')
  t.same(Object.keys(code).sort(), [
    'calculatorType',
    'data',
    'errorCorrection',
    'expiresAt',
    'generatedAt',
    'png',
    'sig',
    'svg',
    'url',
    'version',
  ])
  t.equal(code.calculatorType, 'fuel')
  t.equal(code.url, `${url}/calculator/fuel?data=${code.data}&sig=${code.sig}`)
  t.match(code.generatedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
  const generatedAt = Date.parse(code.generatedAt)
  t.ok(generatedAt >= before && generatedAt <= Date.now())
  t.equal(Date.parse(code.expiresAt) - generatedAt, 30 * 24 * 60 * 60 * 1000)
  t.equal(code.errorCorrection, 'M')
  t.ok(code.version >= 1 && code.version <= 10)
  t.match(code.svg, /^<svg [^>]*width="512" height="512"/)
  t.match(code.png, /^data:image\/png;base64,[A-Za-z0-9+/]+=*$/)
})

t.test('starts the link with PUBLIC_BASE_URL, whatever the request headers', async (t) => {
  const { url: behind } = await startApp(t, { PUBLIC_BASE_URL: 'https://carbon.example.com/' })
  const { body } = await postJson(`${behind}/api/qr-code/generate`, REQUEST, {
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'gopher',
    forwarded: 'host=evil.example',
  })
  const { url: link } = body as QrCodeResponse
  t.ok(link.startsWith('https://carbon.example.com/calculator/fuel?data='))
  t.ok(link.length <= 213)
})

t.test('encodes the link in the PNG, small and large, at every level', async (t) => {
  for (const errorCorrection of ['L', 'M', 'Q', 'H']) {
    for (const size of [128, 601, ...(errorCorrection === 'M' ? [2048] : [])]) {
      const margin = [0, 1, 4, 16][(size + errorCorrection.charCodeAt(0)) % 4]
      const code = await generate({ ...REQUEST, image: { size, margin, errorCorrection } })
      const { width, height, gray } = pngOf(code)
      const name = `${size} px, margin ${margin}, level ${errorCorrection}`
      t.same([width, height], [size, size], name)
      t.equal(code.errorCorrection, errorCorrection, name)
      t.equal(await readQrCode(gray), code.url, name)
    }
  }
  for (const margin of [0, 1, 4, 16]) {
    const code = await generate({ ...REQUEST, image: { size: 301, margin } })
    const { width, height, gray } = pngOf(code)
    t.same([width, height], [301, 301])
    t.equal(await readQrCode(gray), code.url, `margin ${margin}`)
    const modules = 17 + 4 * code.version + 2 * margin
    const quiet = Math.floor(301 / modules) * margin
    const edge = gray.pixels.subarray(0, quiet * 301)
    t.ok(
      edge.every((shade) => shade === 255),
      `margin ${margin} is light`,
    )
    const drawn = drawSvg(code.svg)
    t.equal(drawn.width, modules, `margin ${margin} in the SVG`)
    t.same(getMargins(drawn), [margin, margin, margin, margin], 'on every side')
  }
})

t.test('renders the smallest image that holds the code', async (t) => {
  const request = {
    calculatorType: 'custom',
    calculatorData: { amount: 1, unit: 't' },
    vessel: { name: 'A' },
  }
  const { version } = await generate(request)
  const smallest = 17 + 4 * version
  const image = { size: Math.max(64, smallest), margin: 0, errorCorrection: 'M' }
  const code = await generate({ ...request, image })
  const { width, gray } = pngOf(code)
  t.equal(width, image.size)
  t.equal(await readQrCode(gray), code.url)
  const tooSmall = await getErrors({ ...REQUEST, image: { size: 64, margin: 16 } })
  t.same([...tooSmall.keys()], ['image.size'])
  t.match(tooSmall.get('image.size'), /at least \d+/)
  const minSize = Number(/\d+/.exec(tooSmall.get('image.size') ?? '')?.[0])
  t.equal(
    pngOf(await generate({ ...REQUEST, image: { size: minSize, margin: 16 } })).width,
    minSize,
  )
  t.ok(
    (await getErrors({ ...REQUEST, image: { size: minSize - 1, margin: 16 } })).has('image.size'),
  )
})

t.test('encodes the link in the SVG', async (t) => {
  const mismatches: object[] = []
  for (const type of ['fuel', 'distance', 'custom'] as const) {
    for (const vessel of REAL_VESSELS) {
      for (const errorCorrection of ['L', 'M', 'Q', 'H']) {
        const code = await generate({
          ...TYPICAL_CALCULATIONS[type],
          vessel,
          image: { errorCorrection },
        })
        const decoded = await readQrCode(drawSvg(code.svg))
        if (decoded !== code.url || getVessel(code)?.name !== vessel.name) {
          mismatches.push({ type, vessel, errorCorrection, decoded })
        }
      }
    }
  }
  t.same(mismatches, [])
})

t.test('returns the image itself if the client prefers one', async (t) => {
  await avoidMidnight()
  const day = new Date().toISOString().slice(0, 10)
  const svg = await requestImage('image/svg+xml')
  t.equal(svg.status, 200)
  t.match(svg.headers.get('content-type'), /^image\/svg\+xml/)
  t.match(
    svg.headers.get('content-disposition'),
    new RegExp(`^attachment; filename="clearwake-ever-given-fuel-${day}\\.svg"$`),
  )
  t.match(svg.headers.get('vary'), /accept\b/i)
  const drawn = await readQrCode(drawSvg(await svg.text()))
  t.match(drawn, new RegExp(`^${url}/calculator/fuel\\?data=`))

  const png = await requestImage('image/png', { ...REQUEST, image: { size: 300 } })
  t.equal(png.headers.get('content-type'), 'image/png')
  t.match(
    png.headers.get('content-disposition'),
    /^attachment; filename="clearwake-ever-given-fuel-.*\.png"$/,
  )
  const decoded = decodePng(Buffer.from(await png.arrayBuffer()))
  t.equal(decoded.width, 300)
  t.match(await readQrCode(decoded.gray), new RegExp(`^${url}/calculator/fuel\\?data=`))

  const rejected = await requestImage('image/png', { ...REQUEST, vessel: {} })
  t.equal(rejected.status, 422)
  t.match(rejected.headers.get('content-type'), /^application\/problem\+json/)
  t.equal(rejected.headers.get('content-disposition'), null)
})

t.test('negotiates the content type by the Accept header', async (t) => {
  const json = /^application\/json/
  const cases: [string, RegExp][] = [
    ['', json],
    ['*/*', json],
    ['application/*', json],
    ['application/json', json],
    ['text/html', json],
    ['image/png', /^image\/png/],
    ['IMAGE/PNG', /^image\/png/],
    ['image/svg+xml', /^image\/svg/],
    ['image/*', /^image\//],
    ['image/*;q=0.9, application/json;q=0.5', /^image\//],
    ['image/png, image/svg+xml;q=0.5', /^image\/png/],
    ['image/png;q=0.5, image/svg+xml', /^image\/svg/],
    ['image/svg+xml;q=0.2 , image/png; q=0.9', /^image\/png/],
    ['application/json;q=0.1, image/png;q=0.2', /^image\/png/],
    ['image/png;q=0.5, application/json', json],
    ['image/png;q=0.5, */*', json],
    ['image/png;q=0', json],
    ['image/png, */*;q=0.8', /^image\/png/],
    ['application/json;q=0, */*', /^image\//],
    ['image/png;q=zero', json],
    [',,;q=1,', json],
  ]
  for (const [accept, expected] of cases) {
    const response = await requestImage(accept)
    t.equal(response.status, 200, accept)
    t.match(response.headers.get('content-type'), expected, `Accept: ${accept}`)
    await response.arrayBuffer()
  }
})

t.test('keeps names of any script and IMO numbers of any notation', async (t) => {
  const names = [
    'Ægir Ýmir',
    'Ναυσικά',
    'Надежда',
    '長江號',
    'أم القيوين',
    'O’Hara "Quote" \'n\' `tick`',
    '<script>alert(1)</script>',
    '&amp; <%= it %> {{ x }}',
    '👩‍✈️ ⛵',
    'e\u0301',
    '0',
    'null',
    '/../..?a=b&c=d#e',
  ]
  for (const name of names) {
    const code = await generate({ ...TYPICAL_CALCULATIONS.custom, vessel: { name } })
    t.same(getVessel(code), { name })
    t.equal(await readQrCode(drawSvg(code.svg)), code.url, name)
    t.notMatch(code.svg, /script|Quote/, 'no text in the SVG')
  }
  for (const imoNumber of ['9811000', 'IMO 9811000', 'imo9811000', ' IMO 9811000 ']) {
    const code = await generate({ ...REQUEST, vessel: { name: 'Ever Given', imoNumber } })
    t.same(getVessel(code), EVER_GIVEN, imoNumber)
  }
  t.same(getVessel(await generate({ ...REQUEST, vessel: { name: '  Ever Given ' } })), {
    name: 'Ever Given',
  })
  t.ok(getVessel(await generate({ ...REQUEST, vessel: { name: '船'.repeat(80) } })))
})

t.test('reports every invalid field at once', async (t) => {
  const errors = await getErrors({
    calculatorType: 'fuel',
    calculatorData: { fuelType: 'mgo', quantity: -5, unit: 'l', colour: 'red' },
    vessel: { name: '', imoNumber: '8712345', flag: 'PA' },
    image: { size: 5000, margin: 1.5, errorCorrection: 'X', colour: 'red' },
    callback: 'x',
  })
  t.same([...errors.keys()].sort(), [
    'calculatorData.colour',
    'calculatorData.quantity',
    'callback',
    'image.colour',
    'image.errorCorrection',
    'image.margin',
    'image.size',
    'vessel.flag',
    'vessel.imoNumber',
    'vessel.name',
  ])
  t.match(errors.get('vessel.imoNumber'), /IMO number/)
  t.match(errors.get('image.size'), /2048/)

  const { distance } = TYPICAL_CALCULATIONS
  const slow = { ...distance.calculatorData, speedKn: 0.001 }
  for (const [request, paths] of [
    [{}, ['calculatorData', 'calculatorType', 'vessel']],
    [{ ...REQUEST, calculatorType: 'boat' }, ['calculatorType']],
    [
      { ...REQUEST, calculatorData: {}, vessel: {} },
      [
        ...['calculatorData.fuelType', 'calculatorData.quantity', 'calculatorData.unit'],
        'vessel.name',
      ],
    ],
    [{ ...REQUEST, calculatorData: [] }, ['calculatorData']],
    [{ ...REQUEST, vessel: 'Ever Given' }, ['vessel']],
    [{ ...REQUEST, vessel: null }, ['vessel']],
    [{ ...REQUEST, image: { size: '512' } }, ['image.size']],
    [{ ...REQUEST, image: { size: 63 } }, ['image.size']],
    [{ ...REQUEST, image: { margin: 17 } }, ['image.margin']],
    [
      { ...REQUEST, calculatorType: 'distance' },
      [
        ...['consumption', 'consumptionUnit', 'distance', 'distanceUnit'],
        ...['quantity', 'speedKn', 'unit'],
      ].map((name) => `calculatorData.${name}`),
    ],
    [{ ...distance, calculatorData: slow, vessel: EVER_GIVEN }, ['calculatorData.speedKn']],
  ] as [object, string[]][]) {
    t.same([...(await getErrors(request)).keys()].sort(), paths, JSON.stringify(request))
  }
})

t.test('rejects names that are not one visible line', async (t) => {
  const invalid: [string, string][] = [
    ['spaces', '   '],
    ['no-break spaces', '\u00a0\u00a0'],
    ['a line break', 'Ever\nGiven'],
    ['a tab', 'Ever\tGiven'],
    ['NUL', 'Ever\0Given'],
    ['escape', '\u001b[31mred'],
    ['C1 control', 'a\u0085b'],
    ['line separator', 'a\u2028b'],
    ['a lone high surrogate', 'a\ud83d'],
    ['a lone low surrogate', '\udea2a'],
    ['a right-to-left override', '\u202etfelmaet'],
    ['nothing but zero width', '\u200b'],
    ['nothing but a soft hyphen', '\u00ad'],
    ['nothing but joiners', '\u200d\u2060'],
    ['81 characters', 'x'.repeat(81)],
  ]
  for (const [description, name] of invalid) {
    const errors = await getErrors({ ...REQUEST, vessel: { name } })
    t.same([...errors.keys()], ['vessel.name'], description)
  }
})

t.test('rejects a link too long to scan and names the fields to shorten', async (t) => {
  const request = {
    calculatorType: 'custom',
    calculatorData: { amount: 1, unit: 't', description: '🚢'.repeat(120) },
    vessel: { name: '船'.repeat(80) },
  }
  const errors = await getErrors(request)
  t.ok(errors.has('vessel.name'))
  t.ok(errors.has('calculatorData.description'))
  t.match(errors.get('vessel.name'), /shorten/)

  const shorePower = {
    fuelType: 'electricity',
    quantity: 300,
    unit: 'kWh',
    kgCo2ePerKwh: 0.2,
    factorSource: '港'.repeat(80),
  }
  const lines = await getErrors({
    calculatorType: 'fuel',
    calculatorData: { ...shorePower, furtherLines: Array(3).fill(shorePower) as object[] },
    vessel: { name: 'Ever Given' },
  })
  t.ok(lines.has('calculatorData.factorSource'))
  t.match(lines.get('calculatorData.furtherLines.2.factorSource'), /use fewer lines, or shorten/)

  const high = await getErrors({
    ...REQUEST,
    vessel: { name: '船'.repeat(80) },
    image: { errorCorrection: 'H' },
  })
  t.match(high.get('image.errorCorrection'), /\bL\b.*\bM\b/, 'suggests sufficient levels')
  t.equal((await generate({ ...REQUEST, vessel: { name: '船'.repeat(80) } })).errorCorrection, 'M')
})

t.test('accepts a name shortened by the suggested number of bytes', async (t) => {
  const buildRequest = (length: number) => ({
    ...REQUEST,
    vessel: { name: '船'.repeat(length) },
    image: { errorCorrection: 'H' },
  })
  const message = (await getErrors(buildRequest(80))).get('vessel.name') ?? ''
  const surplus = Number(/about (\d+) bytes/.exec(message)?.[1])
  const shorter = 80 - Math.ceil((surplus + 2) / 3)
  t.equal((await generate(buildRequest(shorter))).errorCorrection, 'H')
  t.ok((await getErrors(buildRequest(shorter + 3))).has('vessel.name'))
})

t.test('keeps concurrent requests apart', async (t) => {
  const responses = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const code = await generate({
        calculatorType: 'fuel',
        calculatorData: { fuelType: 'mgo', quantity: i + 1, unit: 'l' },
        vessel: { name: `Vessel ${i}` },
        image: { size: 200 + i },
      })
      const read = links.read('fuel', code)
      return { code, i, read }
    }),
  )
  const contents = responses.map(({ code, read }) => ({
    vessel: read.ok && read.prefill.vessel.name,
    data: read.ok && read.prefill.calculatorData,
    width: Buffer.from(code.png.slice(22), 'base64').readUInt32BE(16),
  }))
  t.same(
    contents,
    responses.map(({ i }) => ({
      vessel: `Vessel ${i}`,
      data: { fuelType: 'mgo', quantity: i + 1, unit: 'l' },
      width: 200 + i,
    })),
  )
  for (const { code } of responses) t.equal(await readQrCode(drawSvg(code.svg)), code.url)
})

t.test('logs every request, rejected ones too', async (t) => {
  const entries = () => log.filter(({ msg }) => msg === 'qr code')
  // The entry is written after the response.
  async function entryOf(call: () => Promise<unknown>) {
    const before = entries().length
    await call()
    await waitUntil(() => entries().length > before)
    t.equal(entries().length, before + 1, 'one entry per request')
    return entries().at(-1) ?? {}
  }

  let code: QrCodeResponse | undefined
  const created = await entryOf(async () => {
    code = await generate(REQUEST)
  })
  t.match(created, {
    calculatorType: 'fuel',
    vessel: 'Ever Given',
    imoNumber: '9811000',
    bytes: code?.url.length,
    version: code?.version,
    expiresAt: code?.expiresAt,
    outcome: 'created',
  })
  t.type(created.responseTime, 'number')
  t.notMatch(JSON.stringify(created), code?.sig ?? 'no signature', 'the signature is not logged')

  const tooLong = {
    calculatorType: 'custom',
    calculatorData: { amount: 1, unit: 't', description: '🚢'.repeat(120) },
    vessel: { name: '船'.repeat(80) },
  }
  const long = await entryOf(() => getErrors(tooLong))
  t.match(long, { calculatorType: 'custom', outcome: 'rejected' })
  t.type(long.bytes, 'number')
  t.match(await entryOf(() => getErrors({ ...REQUEST, vessel: { name: 'x', imoNumber: '1' } })), {
    vessel: 'x',
    imoNumber: '1',
    outcome: 'rejected',
  })
  for (const body of ['{', 'null', '"x"', '[]', '{"vessel":null}', '{"vessel":[1]}']) {
    const rejected = await entryOf(() =>
      fetch(endpoint, { method: 'POST', headers: { 'content-type': 'application/json' }, body }),
    )
    t.equal(rejected.outcome, 'rejected', body)
    t.type(rejected.responseTime, 'number', body)
  }
})

t.test('requires a sign-in if QR_REQUIRE_ADMIN is set', async (t) => {
  const closed = await startApp(t, { QR_REQUIRE_ADMIN: 'true', ADMIN_ACCOUNTS })
  const to = `${closed.url}/api/qr-code/generate`
  const rejected = await postJson(to, REQUEST)
  t.equal(rejected.status, 401)
  t.match(rejected.headers.get('content-type'), /^application\/problem\+json/)
  t.match(rejected.headers.get('www-authenticate'), /^Bearer/)
  const away = await fetch(`${closed.url}/qr-test?calculatorType=fuel`, { redirect: 'manual' })
  t.equal(away.status, 303)
  const way = away.headers.get('location') ?? ''
  t.equal(way, `/admin/login?returnTo=${encodeURIComponent('/qr-test?calculatorType=fuel')}`)
  t.match(await (await fetch(closed.url + way)).text(), 'value="/qr-test?calculatorType=fuel"')

  const login = await postLogin(closed.url)
  const authorization = `Bearer ${login.body.token}`
  t.equal((await postJson(to, REQUEST, { authorization })).status, 200, 'accepts a session token')
  const cookie = cookieHeader(login)
  t.equal((await fetch(`${closed.url}/qr-test`, { headers: { cookie } })).status, 200)
  const fromThePage = { cookie, origin: closed.url }
  t.equal((await postJson(to, REQUEST, fromThePage)).status, 200)
  t.equal((await postJson(to, REQUEST, { cookie, origin: 'https://evil.example' })).status, 403)
  t.equal((await postJson(to, REQUEST, { authorization: 'Bearer x' })).status, 401)

  const link = await generate(REQUEST)
  const opened = await fetch(link.url.replace(url, closed.url))
  t.match(await opened.text(), /id="trip"/, 'scanned links stay public')
})

t.test('limits requests per client and returns Retry-After', async (t) => {
  const limited = await startApp(t, { QR_RATE_LIMIT_PER_MINUTE: '3' })
  const to = `${limited.url}/api/qr-code/generate`
  for (let i = 0; i < 3; i++) t.equal((await postJson(to, REQUEST)).status, 200)
  const rejected = await postJson(to, REQUEST)
  t.equal(rejected.status, 429)
  t.match(rejected.headers.get('content-type'), /^application\/problem\+json/)
  const seconds = Number(rejected.headers.get('retry-after'))
  t.ok(seconds > 0 && seconds <= 60)
  t.match(rejected.body, { status: 429, title: 'Too Many Requests' })
  t.equal(
    (await fetch(`${limited.url}/calculator/fuel`)).status,
    200,
    'pages have a separate limit',
  )
})
