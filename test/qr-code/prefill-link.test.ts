import fc from 'fast-check'
import t from 'tap'
import type { Calculation, CalculatorType } from '../../src/calculator/calculator-data.js'
import { createLinkSigner } from '../../src/qr-code/link-signature.js'
import { decodePrefillData, encodePrefillData } from '../../src/qr-code/prefill-data.js'
import { createPrefillLinks, type LinkResult } from '../../src/qr-code/prefill-link.js'
import { createQrMatrix } from '../../src/qr-code/qr-image.js'
import { SECRET } from '../support/app.js'
import { calculation, REAL_VESSELS, USUAL, vessel } from '../support/calculations.js'

const HOST = 'https://carbon.example.com'
const signer = createLinkSigner([SECRET])
const links = createPrefillLinks(signer, () => HOST)
const EVER_GIVEN = { name: 'Ever Given', imoNumber: '9811000' }

const DAY = 24 * 60 * 60 * 1000
const NOW = new Date('2026-11-20T12:00:00Z')
const at = (milliseconds: number) => new Date(NOW.getTime() + milliseconds)

const TYPES = ['fuel', 'distance', 'custom'] as const

/** What reading came to, in a word. */
const outcome = (read: LinkResult): string => (read.ok ? 'ok' : read.fault.reason)

const same = (a: object, b: object): boolean => {
  const entries = (value: object) =>
    JSON.stringify(Object.entries(value).sort(([x], [y]) => x.localeCompare(y)))
  return entries(a) === entries(b)
}

t.test('a link reads back as what it was made of, for any trip and vessel', async () => {
  fc.assert(
    fc.property(calculation, vessel, (one, ship) => {
      const link = links.create(one, ship, NOW)
      const { calculatorType } = one
      const query = Object.fromEntries(new URL(link.url).searchParams)
      const read = links.read(calculatorType, query, NOW)
      if (!read.ok) throw new Error(read.fault.reason)
      const { prefill } = read
      return (
        same(prefill.vessel, ship) &&
        prefill.calculatorType === calculatorType &&
        same(prefill.calculatorData, one.calculatorData) &&
        prefill.issuedAt === NOW.getTime() / 1000
      )
    }),
    { numRuns: 2000 },
  )
})

t.test('an IMO number is kept to its seven digits, zeros in front included', async (t) => {
  for (const [written, digits] of [
    ['IMO 9811000', '9811000'],
    ['0000012', '0000012'],
  ] as const) {
    const link = links.create(USUAL.fuel, { name: 'x', imoNumber: written }, NOW)
    const read = links.read('fuel', link, NOW)
    t.equal(read.ok && read.prefill.vessel.imoNumber, digits)
  }
})

t.test('a link says when it was made and ends 30 days later', async (t) => {
  const link = links.create(USUAL.fuel, EVER_GIVEN, new Date('2026-11-20T12:00:00.789Z'))
  t.equal(link.generatedAt.toISOString(), '2026-11-20T12:00:00.000Z')
  t.equal(link.expiresAt.toISOString(), '2026-12-20T12:00:00.000Z')
  t.equal(link.url, `${HOST}/calculator/fuel?data=${link.data}&sig=${link.sig}`)
  t.match(link.data, /^[A-Za-z0-9_-]+$/, 'URL-safe Base64 without padding')
  t.match(link.sig, /^[A-Za-z0-9_-]{22}$/)
})

t.test('a link holds to the last moment of its 30 days and not beyond', async (t) => {
  const link = links.create(USUAL.fuel, EVER_GIVEN, NOW)
  const readAt = (now: Date) => links.read('fuel', link, now)
  t.equal(outcome(readAt(NOW)), 'ok')
  t.equal(outcome(readAt(at(30 * DAY - 1))), 'ok')
  t.equal(outcome(readAt(at(30 * DAY))), 'expired')
  t.equal(outcome(readAt(at(3000 * DAY))), 'expired')
  const read = readAt(at(31 * DAY))
  t.same(!read.ok && read.fault, { reason: 'expired', expiredAt: at(30 * DAY) })
})

t.test('clocks may differ by five minutes, no more', async (t) => {
  const link = (ahead: number) => links.create(USUAL.fuel, EVER_GIVEN, at(ahead))
  t.equal(outcome(links.read('fuel', link(5 * 60_000), NOW)), 'ok')
  const read = links.read('fuel', link(5 * 60_000 + 1000), NOW)
  t.same(!read.ok && read.fault, { reason: 'not-yet-valid', validFrom: at(5 * 60_000 + 1000) })
  t.equal(outcome(links.read('fuel', link(365 * DAY), NOW)), 'not-yet-valid')
})

t.test('no byte of a link can be changed', async (t) => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  for (const type of TYPES) {
    const link = links.create(USUAL[type], EVER_GIVEN, NOW)
    const admitted: string[] = []
    const attempt = (data: string, sig: string, what: string) => {
      for (const opened of TYPES) {
        if (links.read(opened, { data, sig }, NOW).ok) admitted.push(`${opened}: ${what}`)
      }
    }
    for (const name of ['data', 'sig'] as const) {
      const text = link[name]
      for (let i = 0; i < text.length; i++) {
        const bits = Array.from({ length: 8 }, (_, bit) =>
          String.fromCharCode(text.charCodeAt(i) ^ (1 << bit)),
        )
        const other = Array.from(alphabet).filter((letter) => letter !== text[i])
        for (const letter of [...bits, ...other, '', '=', '%', ' ', 'é', '\0', '🚢']) {
          const edited = text.slice(0, i) + letter + text.slice(i + 1)
          attempt(
            name === 'data' ? edited : link.data,
            name === 'sig' ? edited : link.sig,
            `${name}[${i}] = ${JSON.stringify(letter)}`,
          )
        }
      }
      for (const extra of ['A', '=', '==', ' ', '\n', '&', '-', text]) {
        attempt(
          name === 'data' ? text + extra : link.data,
          name === 'sig' ? text + extra : link.sig,
          `${name} with ${JSON.stringify(extra)}`,
        )
      }
    }
    t.same(admitted, [], `${type}: nothing edited was let in`)
    t.equal(outcome(links.read(type, link, NOW)), 'ok', 'while the link itself is')
  }
})

t.test('a code printed by the first release still opens', async (t) => {
  // As printed: if one of these has to change, codes in people's hands stop working.
  const printed = {
    fuel: 'WzEsMCwxNzY3MjI1NjAwLCJFdmVyIEdpdmVuIiw5ODExMDAwLCJwZXRyb2wiLDUwMC41LCJnYWwtdXMiXQ',
    distance:
      'WzEsMSwxNzY3MjI1NjAwLCJFdmVyIEdpdmVuIiw5ODExMDAwLCJtZ28iLDEyMCwia20iLDEwLDYwLCJsL2giLDEyLDgsNl0',
    custom: 'WzEsMiwxNzY3MjI1NjAwLCJFdmVyIEdpdmVuIiw5ODExMDAwLDEuNSwidCIsIkEgd2VlayJd',
  }
  const trips: Record<CalculatorType, object> = {
    fuel: { fuelType: 'petrol', quantity: 500.5, unit: 'gal-us' },
    distance: {
      fuelType: 'mgo',
      distance: 120,
      distanceUnit: 'km',
      speedKn: 10,
      consumption: 60,
      consumptionUnit: 'l/h',
      referenceSpeedKn: 12,
      generatorLitresPerHour: 8,
      generatorHours: 6,
    },
    custom: { amount: 1.5, unit: 't', description: 'A week' },
  }
  for (const [type, data] of Object.entries(printed)) {
    const decoded = decodePrefillData(data)
    t.same(decoded, {
      ok: true,
      prefill: {
        calculatorType: type,
        calculatorData: trips[type as CalculatorType],
        vessel: EVER_GIVEN,
        issuedAt: 1767225600,
      },
    })
    if (decoded.ok) t.equal(encodePrefillData(decoded.prefill), data)
  }
  const signature = createLinkSigner(['the secret of the first release, 32 bytes']).sign(
    'fuel',
    printed.fuel,
  )
  t.equal(signature, 'adJwNLAzPVT2g_VjowbBqA')
})

t.test('generators that are idle are carried as none, never as running all the time', async (t) => {
  const without = USUAL.distance.calculatorData
  const carried = (idle: object): unknown => {
    const calculatorData = { ...without, ...idle }
    const decoded = decodePrefillData(
      encodePrefillData({
        calculatorType: 'distance',
        calculatorData,
        vessel: EVER_GIVEN,
        issuedAt: 0,
      }),
    )
    return decoded.ok && decoded.prefill.calculatorData
  }
  for (const idle of [
    { generatorLitresPerHour: 8, generatorHours: 0 },
    { generatorLitresPerHour: 0, generatorHours: 6 },
    { generatorLitresPerHour: 0, generatorHours: undefined },
  ]) {
    t.same(carried(idle), without, JSON.stringify(idle))
  }
  const running = { generatorLitresPerHour: 8, generatorHours: 6 }
  t.same(carried(running), { ...without, ...running })
})

t.test('edited values with the old signature are told as edited', async (t) => {
  const { data, sig } = links.create(USUAL.fuel, EVER_GIVEN, NOW)
  const edited: Calculation = {
    calculatorType: 'fuel',
    calculatorData: { fuelType: 'mgo', quantity: 5, unit: 'l' },
  }
  const issuedAt = NOW.getTime() / 1000
  for (const other of [
    encodePrefillData({ ...edited, vessel: EVER_GIVEN, issuedAt }),
    encodePrefillData({ ...USUAL.fuel, vessel: { name: 'Ever Taken' }, issuedAt }),
    encodePrefillData({ ...USUAL.fuel, vessel: EVER_GIVEN, issuedAt: issuedAt + 1 }),
  ]) {
    t.equal(outcome(links.read('fuel', { data: other, sig }, NOW)), 'edited')
  }
  t.equal(outcome(links.read('fuel', { data }, NOW)), 'incomplete', 'no signature')
  t.equal(outcome(links.read('fuel', { data: `${data}=`, sig }, NOW)), 'edited', 'other spelling')
  t.equal(outcome(links.read('fuel', { data, sig: '' }, NOW)), 'incomplete')
  t.equal(outcome(links.read('fuel', { data, sig: sig.slice(0, -1) }, NOW)), 'incomplete')
  t.equal(outcome(links.read('fuel', { data, sig: [sig] }, NOW)), 'edited')
})

t.test('a signature of another secret is none of ours', async (t) => {
  const stranger = createPrefillLinks(
    createLinkSigner(['another secret, also of more than 32 bytes']),
    () => HOST,
  )
  t.equal(outcome(links.read('fuel', stranger.create(USUAL.fuel, EVER_GIVEN, NOW), NOW)), 'edited')
})

t.test(
  'a link for one calculator opens no other, and leads on only if it is genuine',
  async (t) => {
    const link = links.create(USUAL.distance, EVER_GIVEN, NOW)
    const read = links.read('fuel', link, NOW)
    t.same(!read.ok && read.fault, {
      reason: 'wrong-type',
      calculatorType: 'distance',
      url: `/calculator/distance?data=${link.data}&sig=${link.sig}`,
    })
    const forged = links.read('fuel', { data: link.data, sig: 'A'.repeat(22) }, NOW)
    t.same(!forged.ok && forged.fault, {
      reason: 'wrong-type',
      calculatorType: 'distance',
      url: null,
    })
    const signedForFuel = { data: link.data, sig: signer.sign('fuel', link.data) }
    t.equal(
      outcome(links.read('distance', signedForFuel, NOW)),
      'edited',
      'a signature counts for its own type only',
    )
  },
)

t.test('old codes live on while the secret is changed', async (t) => {
  const fresh = 'a fresh secret, of more than 32 bytes too'
  const before = createPrefillLinks(createLinkSigner([SECRET]), () => HOST)
  const during = createPrefillLinks(createLinkSigner([fresh, SECRET]), () => HOST)
  const after = createPrefillLinks(createLinkSigner([fresh]), () => HOST)
  const old = before.create(USUAL.fuel, EVER_GIVEN, NOW)
  const recent = during.create(USUAL.fuel, EVER_GIVEN, NOW)
  t.equal(outcome(during.read('fuel', old, NOW)), 'ok')
  t.equal(outcome(during.read('fuel', recent, NOW)), 'ok')
  t.equal(outcome(after.read('fuel', recent, NOW)), 'ok', 'new links are signed with the new one')
  t.equal(outcome(after.read('fuel', old, NOW)), 'edited')
  t.equal(outcome(before.read('fuel', recent, NOW)), 'edited')
})

t.test('what was never a link is refused for what it is', async (t) => {
  const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const issuedAt = NOW.getTime() / 1000
  const { data, sig } = links.create(USUAL.fuel, EVER_GIVEN, NOW)
  const cases: [string, unknown, string][] = [
    ['nothing', undefined, 'empty'],
    ['an empty text', '', 'empty'],
    ['a repeated parameter', [data, data], 'not-our-data'],
    ['an object', { data }, 'not-our-data'],
    ['a number', 5, 'not-our-data'],
    ['100 kB', 'A'.repeat(100_000), 'too-long'],
    ['100 kB that is no Base64', '%'.repeat(100_000), 'too-long'],
    ['other characters', 'no base64!', 'not-base64'],
    ['padding without end', `${data}===`, 'not-base64'],
    ['padding in the middle', `=${data}`, 'not-base64'],
    ['Base64 of something else', 'ab+/', 'not-our-data'],
    ['an impossible length', 'AAAAA', 'not-base64'],
    [
      'bytes that are no text',
      Buffer.from([0xff, 0xfe, 0, 1]).toString('base64url'),
      'not-our-data',
    ],
    ['text that is no JSON', Buffer.from('hello').toString('base64url'), 'not-our-data'],
    ['an object in JSON', base64({ calculatorType: 'fuel' }), 'not-our-data'],
    ['null', base64(null), 'not-our-data'],
    ['an empty array', base64([]), 'not-our-data'],
    ['deep nesting', Buffer.from('['.repeat(1500)).toString('base64url'), 'not-our-data'],
    ['a later layout', base64([2, 0, issuedAt, 'x', 0, 'mgo', 5, 'l']), 'not-our-data'],
    ['an unknown type', base64([1, 3, issuedAt, 'x', 0, 'mgo', 5, 'l']), 'not-our-data'],
    ['a negative type', base64([1, -1, issuedAt, 'x', 0, 'mgo', 5, 'l']), 'not-our-data'],
    ['a type that is no number', base64([1, '0', issuedAt, 'x', 0, 'mgo', 5, 'l']), 'not-our-data'],
    ['a time that is no number', base64([1, 0, 'now', 'x', 0, 'mgo', 5, 'l']), 'not-our-data'],
    ['a broken time', base64([1, 0, 1.5, 'x', 0, 'mgo', 5, 'l']), 'not-our-data'],
    ['a time past all dates', base64([1, 0, 1e300, 'x', 0, 'mgo', 5, 'l']), 'not-our-data'],
    ['no name', base64([1, 0, issuedAt, '', 0, 'mgo', 5, 'l']), 'not-our-data'],
    ['a name that is no text', base64([1, 0, issuedAt, {}, 0, 'mgo', 5, 'l']), 'not-our-data'],
    [
      'a name that is too long',
      base64([1, 0, issuedAt, 'x'.repeat(81), 0, 'mgo', 5, 'l']),
      'not-our-data',
    ],
    ['a wrong IMO number', base64([1, 0, issuedAt, 'x', 8712345, 'mgo', 5, 'l']), 'not-our-data'],
    [
      'an IMO number as text',
      base64([1, 0, issuedAt, 'x', '9811000', 'mgo', 5, 'l']),
      'not-our-data',
    ],
    ['a missing field', base64([1, 0, issuedAt, 'x', 0, 'mgo', 5]), 'not-our-data'],
    ['a field too many', base64([1, 0, issuedAt, 'x', 0, 'mgo', 5, 'l', 1]), 'not-our-data'],
    ['a value out of bounds', base64([1, 0, issuedAt, 'x', 0, 'mgo', 1e9, 'l']), 'not-our-data'],
    [
      'a value of the wrong type',
      base64([1, 0, issuedAt, 'x', 0, 'mgo', '5', 'l']),
      'not-our-data',
    ],
  ]
  for (const [what, value, reason] of cases) {
    t.equal(outcome(links.read('fuel', { data: value, sig }, NOW)), reason, what)
    // Even our own signature does not make sense of nonsense.
    const signed = typeof value === 'string' ? signer.sign('fuel', value) : sig
    t.equal(
      outcome(links.read('fuel', { data: value, sig: signed }, NOW)),
      reason,
      `${what}, signed`,
    )
  }
})

t.test('a signed time that no calendar has is refused too', async (t) => {
  const data = encodePrefillData({
    ...USUAL.fuel,
    vessel: EVER_GIVEN,
    issuedAt: Number.MAX_SAFE_INTEGER,
  })
  const read = links.read('fuel', { data, sig: signer.sign('fuel', data) }, NOW)
  t.notOk(read.ok)
})

t.test('any other text is refused and nothing throws', async () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.string({ maxLength: 200 }),
    fc.base64String({ maxLength: 200 }),
    fc.json().map((text) => Buffer.from(text).toString('base64url')),
    fc
      .array(fc.oneof(fc.integer(), fc.double(), fc.string(), fc.constantFrom(0, 1, 2, 'mgo', 'l')))
      .map((tuple) => Buffer.from(JSON.stringify([1, ...tuple])).toString('base64url')),
    fc.anything(),
  )
  fc.assert(
    fc.property(fc.constantFrom(...TYPES), anything, anything, (type, data, sig) => {
      return !links.read(type, { data, sig }, NOW).ok
    }),
    { numRuns: 5000 },
  )
})

t.test('a usual trip fits a code that phones read with ease', async (t) => {
  for (const type of TYPES) {
    for (const ship of REAL_VESSELS) {
      const { url } = links.create(USUAL[type], ship, NOW)
      t.ok(url.length <= 213, `${type} for ${ship.name}: ${url.length} bytes`)
      t.ok(createQrMatrix(url, 'M').version <= 10, `${type} for ${ship.name}`)
    }
  }
})
