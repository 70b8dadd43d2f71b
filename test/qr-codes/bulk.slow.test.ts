import { spawnSync } from 'node:child_process'
import { PNG } from 'pngjs'
import t from 'tap'
import { postJson } from '../support/app.js'
import { TYPICAL_CALCULATIONS } from '../support/calculations.js'
import { startOrderApi, type OrderApi } from '../support/order-api.js'
import { drawSvg, readQrCode, toGray } from '../support/zbar.js'

const READ_ZIP = `
import base64, io, json, sys, zipfile
archive = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))
assert archive.testzip() is None
json.dump([[name, base64.b64encode(archive.read(name)).decode()] for name in archive.namelist()], sys.stdout)
`

/** Reads the files of a ZIP with Python. */
function readZip(zip: ArrayBuffer): [name: string, content: Buffer][] {
  const { stdout, stderr, status } = spawnSync('python3', ['-c', READ_ZIP], {
    input: Buffer.from(zip),
    maxBuffer: 256 * 1024 * 1024,
  })
  if (status !== 0) throw new Error(stderr.toString())
  const files = JSON.parse(stdout.toString()) as [string, string][]
  return files.map(([name, content]) => [name, Buffer.from(content, 'base64')])
}

const code = (name: string, imoNumber?: string) => ({
  ...TYPICAL_CALCULATIONS.fuel,
  vessel: { name, ...(imoNumber === undefined ? {} : { imoNumber }) },
})

async function createKey({ call }: OrderApi, scope = 'qr:write'): Promise<string> {
  const { body } = await call('POST', '/api/admin/api-keys', { name: scope, scopes: [scope] })
  return `Bearer ${(body as { key: string }).key}`
}

const api = await startOrderApi(t)
const key = await createKey(api)

const generate = (request: unknown, headers: Record<string, string> = {}, { url } = api) =>
  fetch(`${url}/api/qr-codes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: key, ...headers },
    body: JSON.stringify(request),
  })

t.test('returns a ZIP with a file for each code, named after its vessel', async (t) => {
  const codes = [
    ...[code('Ever Given'), code('Eendracht'), code('Ever Given'), code('海風'), code('山風')],
    code('海風', '9811000'),
    code('Ærø Łódź'),
  ]
  const response = await generate({ codes })
  t.equal(response.status, 200)
  t.equal(response.headers.get('content-type'), 'application/zip')
  const date = new Date().toISOString().slice(0, 10)
  t.equal(
    response.headers.get('content-disposition'),
    `attachment; filename="clearwake-qr-codes-${date}.zip"`,
  )
  const files = readZip(await response.arrayBuffer())
  t.same(
    files.map(([name]) => name.replace(/\d{4}-\d\d-\d\d/, 'DATE')),
    [
      'clearwake-ever-given-fuel-DATE-1.svg',
      'clearwake-eendracht-fuel-DATE.svg',
      'clearwake-ever-given-fuel-DATE-3.svg',
      'clearwake-fuel-DATE-4.svg',
      'clearwake-fuel-DATE-5.svg',
      'clearwake-imo-9811000-fuel-DATE.svg',
      'clearwake-aero-lodz-fuel-DATE.svg',
    ],
  )
  const link = await readQrCode(drawSvg(files[1]?.[1].toString() ?? ''))
  const page = await (await fetch(link ?? '')).text()
  t.match(page, 'Eendracht', 'a printed code opens its own trip')
})

t.test('returns PNG files', async (t) => {
  const response = await generate({ codes: [code('Ever Given')], format: 'png' })
  const [file] = readZip(await response.arrayBuffer())
  if (file === undefined) throw new Error('the ZIP is empty')
  const [name, content] = file
  t.match(name, /\.png$/)
  const { width, height, data } = PNG.sync.read(content)
  t.match(await readQrCode(toGray(width, height, data)), /^http/)
})

t.test('returns newline-delimited JSON', async (t) => {
  const codes = [code('Ever Given'), code('Eendracht')]
  const response = await generate({ codes }, { accept: 'application/x-ndjson' })
  t.equal(response.headers.get('content-type'), 'application/x-ndjson')
  const lines = (await response.text()).trimEnd().split('\n')
  t.equal(lines.length, 2)
  const single = await postJson(`${api.url}/api/qr-code/generate`, codes[1])
  const last = JSON.parse(lines[1] ?? '') as object
  t.same(Object.keys(last), Object.keys(single.body as object), 'each is as of a single code')
})

t.test('generates 500 codes, and serves other requests at the same time', async (t) => {
  const codes = Array.from({ length: 500 }, (_, i) => code(`Vessel ${i}`))
  const finished = new AbortController()
  const all = generate({ codes }).then(async (response) => {
    const zip = await response.arrayBuffer()
    finished.abort()
    return readZip(zip)
  })
  let others = 0
  while (!finished.signal.aborted) {
    await (await fetch(`${api.url}/healthz`)).text()
    others++
  }
  t.equal((await all).length, 500)
  t.ok(others > 5, `${others} requests in the meantime`)
})

t.test('generates none if one is invalid, and says which', async (t) => {
  const long = { ...code('x'.repeat(80)), image: { errorCorrection: 'H', size: 64 } }
  for (const [codes, path] of [
    [[code('Ever Given'), { ...code('Ever Given'), vessel: { name: '' } }], 'codes.1.vessel.name'],
    [[code('Ever Given'), long], 'codes.1.image.size'],
    [[], 'codes'],
    [Array<object>(501).fill(code('Ever Given')), 'codes'],
  ] as const) {
    const response = await generate({ codes })
    t.equal(response.status, 422)
    const { errors } = (await response.json()) as { errors: { path: string }[] }
    t.ok(
      errors.some((error) => error.path === path),
      `${path}: ${JSON.stringify(errors)}`,
    )
  }
})

t.test('requires an administrator or a key with the scope qr:write', async (t) => {
  const request = { codes: [code('Ever Given')] }
  t.equal((await generate(request, { authorization: '' })).status, 401)
  const authorization = await createKey(api, 'orders:read')
  t.equal((await generate(request, { authorization })).status, 403)
})

t.test('each code counts towards the limit of the client', async (t) => {
  const limited = await startOrderApi(t, { QR_RATE_LIMIT_PER_MINUTE: '10' })
  const authorization = await createKey(limited)
  const send = async (count: number) => {
    const codes = Array.from({ length: count }, () => code('Eendracht'))
    const response = await generate({ codes }, { authorization }, limited)
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  t.equal((await send(6)).status, 200)
  const refused = await send(6)
  t.equal(refused.status, 429)
  t.match(refused.text, /10 QR codes per minute, and 3 more now/)
  t.ok(Number(refused.headers.get('retry-after')) > 0)
  t.equal((await send(3)).status, 200, 'what was refused is not counted')
  t.equal((await postJson(`${limited.url}/api/qr-code/generate`, code('Eendracht'))).status, 429)
})
