import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import type { Calculation } from '../../src/calculator/calculator-data.js'
import { createQrMatrix } from '../../src/core/html/qr-image.js'
import { decodePrefillData, encodePrefillData } from '../../src/qr-codes/prefill-codec.js'
import { createPrefillLinks, type LinkResult } from '../../src/qr-codes/prefill-link.js'
import { SECRET } from '../support/app.js'
import { calculation, REAL_VESSELS, TYPICAL_CALCULATIONS, vessel } from '../support/calculations.js'
import { signLink } from '../support/sign-link.js'
import { PRINTED_CODES } from './printed-codes.js'

const HOST = 'https://carbon.example.com'
const links = createPrefillLinks([SECRET], () => HOST)
const EVER_GIVEN = { name: 'Ever Given', imoNumber: '9811000' }

const DAY = 24 * 60 * 60 * 1000
const NOW = new Date('2026-11-20T12:00:00Z')
const at = (milliseconds: number) => new Date(NOW.getTime() + milliseconds)

const TYPES = ['fuel', 'distance', 'custom'] as const

const outcome = (read: LinkResult): string => (read.ok ? 'ok' : read.error.reason)

/** Compares values as JSON, whatever the order of their fields. */
const same = (a: object, b: object): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)))

t.test('decodes a link to the trip and vessel it was created from', async () => {
  fc.assert(
    fc.property(calculation, vessel, (one, ship) => {
      const link = links.create(one, ship, NOW)
      const { calculatorType } = one
      const query = Object.fromEntries(new URL(link.url).searchParams)
      const read = links.read(calculatorType, query, NOW)
      if (!read.ok) throw new Error(read.error.reason)
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

t.test('keeps the seven digits of an IMO number, leading zeros included', async (t) => {
  for (const [written, digits] of [
    ['IMO 9811000', '9811000'],
    ['0000012', '0000012'],
  ] as const) {
    const link = links.create(TYPICAL_CALCULATIONS.fuel, { name: 'x', imoNumber: written }, NOW)
    const read = links.read('fuel', link, NOW)
    t.equal(read.ok && read.prefill.vessel.imoNumber, digits)
  }
})

t.test('gives a link its creation time and an expiry 30 days later', async (t) => {
  const link = links.create(
    TYPICAL_CALCULATIONS.fuel,
    EVER_GIVEN,
    new Date('2026-11-20T12:00:00.789Z'),
  )
  t.equal(link.generatedAt.toISOString(), '2026-11-20T12:00:00.000Z')
  t.equal(link.expiresAt.toISOString(), '2026-12-20T12:00:00.000Z')
  t.equal(link.url, `${HOST}/calculator/fuel?data=${link.data}&sig=${link.sig}`)
  t.match(link.data, /^[A-Za-z0-9_-]+$/, 'URL-safe Base64 without padding')
  t.match(link.sig, /^[A-Za-z0-9_-]{22}$/)
})

t.test('rejects a link exactly 30 days after its creation', async (t) => {
  const link = links.create(TYPICAL_CALCULATIONS.fuel, EVER_GIVEN, NOW)
  const readAt = (now: Date) => links.read('fuel', link, now)
  t.equal(outcome(readAt(NOW)), 'ok')
  t.equal(outcome(readAt(at(30 * DAY - 1))), 'ok')
  t.equal(outcome(readAt(at(30 * DAY))), 'expired')
  t.equal(outcome(readAt(at(3000 * DAY))), 'expired')
  const read = readAt(at(31 * DAY))
  t.same(!read.ok && read.error, { reason: 'expired', expiredAt: at(30 * DAY) })
})

t.test('accepts a link created up to five minutes in the future', async (t) => {
  const link = (ahead: number) => links.create(TYPICAL_CALCULATIONS.fuel, EVER_GIVEN, at(ahead))
  t.equal(outcome(links.read('fuel', link(5 * 60_000), NOW)), 'ok')
  const read = links.read('fuel', link(5 * 60_000 + 1000), NOW)
  t.same(!read.ok && read.error, { reason: 'not_yet_valid', validFrom: at(5 * 60_000 + 1000) })
  t.equal(outcome(links.read('fuel', link(365 * DAY), NOW)), 'not_yet_valid')
})

t.test('rejects a link with any character changed, added or removed', async (t) => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  for (const type of TYPES) {
    const link = links.create(TYPICAL_CALCULATIONS[type], EVER_GIVEN, NOW)
    const accepted: string[] = []
    const attempt = (data: string, sig: string, edit: string) => {
      for (const opened of TYPES) {
        if (links.read(opened, { data, sig }, NOW).ok) accepted.push(`${opened}: ${edit}`)
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
    t.same(accepted, [], `${type}: accepted edited links`)
    t.equal(outcome(links.read(type, link, NOW)), 'ok', `${type}: accepts the original`)
  }
})

t.test('reads stored codes of every calculator to the same values', async (t) => {
  const { secret, printedAt, codes } = PRINTED_CODES
  const printed = createPrefillLinks([secret], () => HOST)
  const lastSecond = new Date(Date.parse(printedAt) + 30 * DAY - 1000)
  for (const { calculatorType, calculatorData, vessel, data, sig } of codes) {
    const name = `${calculatorType} for ${vessel.name}`
    const read = printed.read(calculatorType, { data, sig }, lastSecond)
    t.equal(outcome(read), 'ok', name)
    const issuedAt = Date.parse(printedAt) / 1000
    t.same(read.ok && read.prefill, { calculatorType, calculatorData, vessel, issuedAt }, name)
    const calculation = { calculatorType, calculatorData } as Calculation
    const created = printed.create(calculation, vessel, new Date(printedAt))
    t.same([created.data, created.sig], [data, sig], `${name}: created byte for byte`)
  }
  t.same([...new Set(codes.map(({ calculatorType }) => calculatorType))], TYPES)
})

t.test('drops idle generators from a link', async (t) => {
  const without = TYPICAL_CALCULATIONS.distance.calculatorData
  const roundTrip = (idle: object): unknown => {
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
    t.same(roundTrip(idle), without, JSON.stringify(idle))
  }
  const running = { generatorLitresPerHour: 8, generatorHours: 6 }
  t.same(roundTrip(running), { ...without, ...running })
})

t.test('reports a link with edited data as edited', async (t) => {
  const { data, sig } = links.create(TYPICAL_CALCULATIONS.fuel, EVER_GIVEN, NOW)
  const edited: Calculation = {
    calculatorType: 'fuel',
    calculatorData: { fuelType: 'mgo', quantity: 5, unit: 'l' },
  }
  const issuedAt = NOW.getTime() / 1000
  for (const other of [
    encodePrefillData({ ...edited, vessel: EVER_GIVEN, issuedAt }),
    encodePrefillData({ ...TYPICAL_CALCULATIONS.fuel, vessel: { name: 'Ever Taken' }, issuedAt }),
    encodePrefillData({ ...TYPICAL_CALCULATIONS.fuel, vessel: EVER_GIVEN, issuedAt: issuedAt + 1 }),
  ]) {
    t.equal(outcome(links.read('fuel', { data: other, sig }, NOW)), 'edited')
  }
  t.equal(outcome(links.read('fuel', { data }, NOW)), 'incomplete', 'no signature')
  t.equal(
    outcome(links.read('fuel', { data: `${data}=`, sig }, NOW)),
    'edited',
    'other Base64 spelling',
  )
  t.equal(outcome(links.read('fuel', { data, sig: '' }, NOW)), 'incomplete')
  t.equal(outcome(links.read('fuel', { data, sig: sig.slice(0, -1) }, NOW)), 'incomplete')
  t.equal(outcome(links.read('fuel', { data, sig: [sig] }, NOW)), 'edited')
})

t.test(
  'rejects a link opened in another calculator, with the right URL only if it is genuine',
  async (t) => {
    const link = links.create(TYPICAL_CALCULATIONS.distance, EVER_GIVEN, NOW)
    const read = links.read('fuel', link, NOW)
    t.same(!read.ok && read.error, {
      reason: 'wrong_type',
      calculatorType: 'distance',
      url: `/calculator/distance?data=${link.data}&sig=${link.sig}`,
    })
    const forged = links.read('fuel', { data: link.data, sig: 'A'.repeat(22) }, NOW)
    t.same(!forged.ok && forged.error, {
      reason: 'wrong_type',
      calculatorType: 'distance',
      url: null,
    })
    const signedForFuel = { data: link.data, sig: signLink('fuel', link.data) }
    t.equal(
      outcome(links.read('distance', signedForFuel, NOW)),
      'edited',
      'signatures are bound to the calculator type',
    )
  },
)

t.test('reports the reason for rejecting malformed data', async (t) => {
  const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const issuedAt = NOW.getTime() / 1000
  const { data, sig } = links.create(TYPICAL_CALCULATIONS.fuel, EVER_GIVEN, NOW)
  const cases: [string, unknown, string][] = [
    ['nothing', undefined, 'empty'],
    ['an empty text', '', 'empty'],
    ['a repeated parameter', [data, data], 'invalid_data'],
    ['an object', { data }, 'invalid_data'],
    ['a number', 5, 'invalid_data'],
    ['100 kB', 'A'.repeat(100_000), 'too_long'],
    ['100 kB that is no Base64', '%'.repeat(100_000), 'too_long'],
    ['other characters', 'no base64!', 'not_base64'],
    ['padding without end', `${data}===`, 'not_base64'],
    ['padding in the middle', `=${data}`, 'not_base64'],
    ['Base64 of something else', 'ab+/', 'invalid_data'],
    ['an impossible length', 'AAAAA', 'not_base64'],
    [
      'bytes that are no text',
      Buffer.from([0xff, 0xfe, 0, 1]).toString('base64url'),
      'invalid_data',
    ],
    ['text that is no JSON', Buffer.from('hello').toString('base64url'), 'invalid_data'],
    ['an object in JSON', base64({ calculatorType: 'fuel' }), 'invalid_data'],
    ['null', base64(null), 'invalid_data'],
    ['an empty array', base64([]), 'invalid_data'],
    ['deep nesting', Buffer.from('['.repeat(1500)).toString('base64url'), 'invalid_data'],
    ['a later format version', base64([3, 0, issuedAt, 'x', 0, 'mgo', 5, 'l']), 'invalid_data'],
    ['an unknown type', base64([1, 3, issuedAt, 'x', 0, 'mgo', 5, 'l']), 'invalid_data'],
    ['a negative type', base64([1, -1, issuedAt, 'x', 0, 'mgo', 5, 'l']), 'invalid_data'],
    ['a type that is no number', base64([1, '0', issuedAt, 'x', 0, 'mgo', 5, 'l']), 'invalid_data'],
    ['a time that is no number', base64([1, 0, 'now', 'x', 0, 'mgo', 5, 'l']), 'invalid_data'],
    ['a broken time', base64([1, 0, 1.5, 'x', 0, 'mgo', 5, 'l']), 'invalid_data'],
    ['a time past all dates', base64([1, 0, 1e300, 'x', 0, 'mgo', 5, 'l']), 'invalid_data'],
    ['no name', base64([1, 0, issuedAt, '', 0, 'mgo', 5, 'l']), 'invalid_data'],
    ['a name that is no text', base64([1, 0, issuedAt, {}, 0, 'mgo', 5, 'l']), 'invalid_data'],
    [
      'a name that is too long',
      base64([1, 0, issuedAt, 'x'.repeat(81), 0, 'mgo', 5, 'l']),
      'invalid_data',
    ],
    ['a wrong IMO number', base64([1, 0, issuedAt, 'x', 8712345, 'mgo', 5, 'l']), 'invalid_data'],
    [
      'an IMO number as text',
      base64([1, 0, issuedAt, 'x', '9811000', 'mgo', 5, 'l']),
      'invalid_data',
    ],
    ['a missing field', base64([1, 0, issuedAt, 'x', 0, 'mgo', 5]), 'invalid_data'],
    ['a field too many', base64([1, 0, issuedAt, 'x', 0, 'mgo', 5, 'l', 1]), 'invalid_data'],
    ['a value out of bounds', base64([1, 0, issuedAt, 'x', 0, 'mgo', 1e9, 'l']), 'invalid_data'],
    [
      'a value of the wrong type',
      base64([1, 0, issuedAt, 'x', 0, 'mgo', '5', 'l']),
      'invalid_data',
    ],
  ]
  for (const [name, value, reason] of cases) {
    t.equal(outcome(links.read('fuel', { data: value, sig }, NOW)), reason, name)
    const signed = typeof value === 'string' ? signLink('fuel', value) : sig
    t.equal(
      outcome(links.read('fuel', { data: value, sig: signed }, NOW)),
      reason,
      `${name}, signed`,
    )
  }
})

t.test('rejects a signed creation time beyond the range of dates', async (t) => {
  const data = encodePrefillData({
    ...TYPICAL_CALCULATIONS.fuel,
    vessel: EVER_GIVEN,
    issuedAt: Number.MAX_SAFE_INTEGER,
  })
  const read = links.read('fuel', { data, sig: signLink('fuel', data) }, NOW)
  t.notOk(read.ok)
})

t.test('rejects arbitrary input without throwing', async () => {
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

t.test('encodes a typical trip in at most 213 bytes and QR version 10', async (t) => {
  const tooLarge = TYPES.flatMap((type) =>
    REAL_VESSELS.map((ship) => {
      const { url } = links.create(TYPICAL_CALCULATIONS[type], ship, NOW)
      const { version } = createQrMatrix(url, 'M')
      return { type, ship: ship.name, bytes: url.length, version }
    }),
  ).filter(({ bytes, version }) => bytes > 213 || version > 10)
  t.same(tooLarge, [])
})
