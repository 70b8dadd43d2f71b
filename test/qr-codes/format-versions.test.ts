import t from 'tap'
import { createPrefillLinks } from '../../src/qr-codes/prefill-link.js'
import { postJson, SECRET, startApp } from '../support/app.js'
import { TYPICAL_CALCULATIONS } from '../support/calculations.js'
import { signLink } from '../support/sign-link.js'

const { url } = await startApp(t)

interface Code {
  data: string
  url: string
  version: number
}

async function generate(calculation: object): Promise<Code> {
  const { status, body } = await postJson(`${url}/api/qr-code/generate`, {
    ...calculation,
    vessel: { name: 'Symphony of the Seas', imoNumber: '9744001' },
  })
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return body as Code
}

const decode = ({ data }: Code): unknown[] =>
  JSON.parse(Buffer.from(data, 'base64url').toString()) as unknown[]

const THREE_LINES = {
  calculatorType: 'fuel',
  calculatorData: {
    fuelType: 'mgo',
    quantity: 1000,
    unit: 'l',
    hvoPercent: 30,
    guests: 12,
    furtherLines: [
      { use: 'tender', fuelType: 'petrol', quantity: 40, unit: 'l' },
      {
        use: 'shore-power',
        fuelType: 'electricity',
        quantity: 300,
        unit: 'kWh',
        kgCo2ePerKwh: 0.2,
        factorSource: 'Grid 2025',
      },
    ],
  },
}

t.test('further lines, blends and guests use format version 2', async (t) => {
  const code = await generate(THREE_LINES)
  const [version, type, , , , ...fields] = decode(code)
  t.same([version, type], [2, 0])
  // Frozen: printed codes have this order.
  t.same(fields, [
    'mgo',
    1000,
    'l',
    12,
    30,
    0,
    0,
    0,
    [
      ['petrol', 40, 'l', 4],
      ['electricity', 300, 'kWh', 5, 0, 0, 0.2, 'Grid 2025'],
    ],
  ])
  const html = await (await fetch(code.url)).text()
  const { body } = await postJson(
    `${url}/api/calculators/fuel/estimate`,
    THREE_LINES.calculatorData,
  )
  t.match(html, `<data value="${(body as { co2eKg: number }).co2eKg}">`)
  t.match(html, /name="furtherLines\.1\.factorSource" value="Grid 2025"/)
  t.match(html, /name="guests" value="12"/)
})

t.test('frameworks, hull types and certificates are appended; defaults are left out', async (t) => {
  const { data: before } = await generate(TYPICAL_CALCULATIONS.distance)
  const withDefaults = await generate({
    calculatorType: 'distance',
    calculatorData: {
      ...TYPICAL_CALCULATIONS.distance.calculatorData,
      ...{ framework: 'clearwake', hullType: 'displacement' },
    },
  })
  t.same(decode(withDefaults).slice(3), decode({ ...withDefaults, data: before }).slice(3))
  const code = await generate({
    calculatorType: 'fuel',
    calculatorData: {
      ...{ fuelType: 'methanol', quantity: 5, unit: 't', certifiedGCo2ePerMj: 0 },
      ...{ certifiedAs: 'rfnbo', certificateReference: 'A1, ISCC EU', framework: 'imo' },
      furtherLines: [
        {
          ...{ use: 'shore-power', fuelType: 'electricity', quantity: 300, unit: 'kWh' },
          ...{ kgCo2ePerKwh: 0, factorSource: 'Renewable' },
        },
      ],
    },
  })
  // Frozen: printed codes have this order.
  t.same(decode(code).slice(5), [
    ...['methanol', 5, 't', 0, 0, '0', 0, 0],
    [['electricity', 300, 'kWh', 5, 0, 0, '0', 'Renewable']],
    ...['imo', 'rfnbo', 'A1, ISCC EU'],
  ])
  const html = await (await fetch(code.url)).text()
  t.match(html, /<option value="imo" selected>/)
  t.match(html, /<option value="rfnbo" selected>/)
  t.match(html, /name="furtherLines\.0\.kgCo2ePerKwh" value="0"/)
})

t.test('version 1 has no room for the fields of version 2', (t) => {
  const links = createPrefillLinks([SECRET], () => url)
  const data = Buffer.from(
    JSON.stringify([1, 0, 1_790_000_000, 'x', 0, 'mgo', 5, 'l', 12]),
  ).toString('base64url')
  const result = links.read('fuel', { data, sig: signLink('fuel', data) })
  t.match(result, { ok: false, error: { reason: 'invalid_data' } })
  t.end()
})
