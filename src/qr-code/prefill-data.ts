import type {
  Calculation,
  CalculatorDataByType,
  CalculatorType,
} from '../calculator/calculator-data.js'
import { validateCalculation } from '../calculator/validate-calculation.js'
import { parseImoNumber } from '../calculator/imo-number.js'
import { Vessel } from '../calculator/vessel.js'
import { checker } from '../calculator/trip-schemas.js'

/** What a code carries: a calculation, whose vessel it is about, and when the code was made. */
export type PrefillData = Calculation & {
  vessel: Vessel
  /** Seconds since 1970 */
  issuedAt: number
}

/** The layout below. A later layout gets the next number; this one stays readable for 30 days. */
const LAYOUT = 1

/** Layout 1, frozen: printed codes hold a calculator as its place here, fields in this order. */
const TYPES = ['fuel', 'distance', 'custom'] as const satisfies readonly CalculatorType[]
const FIELDS = {
  fuel: ['fuelType', 'quantity', 'unit'],
  distance: [
    'fuelType',
    'distance',
    'distanceUnit',
    'speedKn',
    'consumption',
    'consumptionUnit',
    'referenceSpeedKn',
    'generatorLitresPerHour',
    'generatorHours',
  ],
  custom: ['amount', 'unit', 'description'],
} as const satisfies { [T in CalculatorType]: readonly (keyof CalculatorDataByType[T])[] }

type Fields = Partial<Record<string, string | number>>

/** A trip without generators that ran for no time or used nothing, as zero stands for no field. */
const withoutIdleGenerators = (trip: Fields): Fields =>
  trip.generatorHours === 0 || trip.generatorLitresPerHour === 0
    ? { ...trip, generatorHours: undefined, generatorLitresPerHour: undefined }
    : trip

/** The last second that a Date can hold, less a link's life (ECMA-262, 21.4.1.1). */
const LAST_SECOND = 8.64e12 - 30 * 24 * 3600

const checkVessel = checker(Vessel)

/**
 * The data as text for the link, URL-safe Base64 (RFC 4648, section 5) without padding.
 *
 * Inside is a JSON array without names, as a scannable code has room for few bytes:
 * `[layout, type, issuedAt, vessel name, IMO number or 0, ...the calculator's fields in the
 * order above]`, absent fields `0` and dropped at the end.
 */
export function encodePrefillData(prefill: PrefillData): string {
  const { calculatorType, calculatorData, vessel, issuedAt } = prefill
  const given = withoutIdleGenerators({ ...calculatorData })
  const fields = FIELDS[calculatorType].map((name) => given[name] ?? 0)
  while (fields.at(-1) === 0) fields.pop()
  const tuple = [
    LAYOUT,
    TYPES.indexOf(calculatorType),
    issuedAt,
    vessel.name,
    Number(parseImoNumber(vessel.imoNumber ?? '') ?? 0),
    ...fields,
  ]
  return Buffer.from(JSON.stringify(tuple)).toString('base64url')
}

// Either alphabet and padding, to tell a guest rightly what is wrong; only our own spelling is signed.
const BASE64 = /^[\w+/-]+={0,2}$/

export type DecodedPrefillData =
  { ok: true; prefill: PrefillData } | { ok: false; reason: 'not-base64' | 'not-our-data' }

const notOurs: DecodedPrefillData = { ok: false, reason: 'not-our-data' }

/** Reads `data` of a link back. Never throws; says nothing of who made it (see the signature). */
export function decodePrefillData(data: string): DecodedPrefillData {
  // Four characters carry three bytes, so a remainder of one cannot come about.
  if (!BASE64.test(data) || data.replace(/=+$/, '').length % 4 === 1)
    return { ok: false, reason: 'not-base64' }
  const tuple = parseJson(Buffer.from(data, 'base64url').toString())
  if (!Array.isArray(tuple)) return notOurs
  const [layout, typeIndex, issuedAt, name, imo, ...fields] = tuple as unknown[]
  const calculatorType = TYPES[Number(typeIndex)]
  if (layout !== LAYOUT || typeof typeIndex !== 'number' || calculatorType === undefined)
    return notOurs
  if (
    typeof issuedAt !== 'number' ||
    !Number.isSafeInteger(issuedAt) ||
    issuedAt < 0 ||
    issuedAt > LAST_SECOND
  )
    return notOurs
  if (typeof imo !== 'number') return notOurs
  const names = FIELDS[calculatorType]
  if (fields.length > names.length) return notOurs
  const given = fields.flatMap((value, i) => (value === 0 ? [] : [[names[i], value]]))
  const calculation = validateCalculation(calculatorType, Object.fromEntries(given))
  const vessel = checkVessel(
    imo === 0 ? { name } : { name, imoNumber: String(imo).padStart(7, '0') },
  )
  if (!calculation.ok || !vessel.ok) return notOurs
  return { ok: true, prefill: { ...calculation.value, vessel: vessel.value, issuedAt } }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
