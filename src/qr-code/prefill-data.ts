import type {
  Calculation,
  CalculatorDataByType,
  CalculatorType,
} from '../calculator/calculator-data.js'
import { parseImoNumber } from '../calculator/imo-number.js'
import { checker } from '../calculator/trip-schemas.js'
import { validateCalculation } from '../calculator/validate-calculation.js'
import { Vessel } from '../calculator/vessel.js'

/** The content of a code: a calculation, its vessel and the time of creation. */
export type PrefillData = Calculation & {
  vessel: Vessel
  /** Seconds since 1970 */
  issuedAt: number
}

/** A later format gets the next number; this one must stay readable while its codes are valid. */
const FORMAT_VERSION = 1

/**
 * Format version 1, frozen: printed codes refer to a calculator by its index in `TYPES` and list
 * its fields in the order of `FIELDS`.
 */
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

type FieldValues = Partial<Record<string, string | number>>

/** Drops generators without hours or consumption, because 0 stands for a missing field. */
const dropIdleGenerators = (fields: FieldValues): FieldValues =>
  fields.generatorHours === 0 || fields.generatorLitresPerHour === 0
    ? { ...fields, generatorHours: undefined, generatorLitresPerHour: undefined }
    : fields

/** The last second that a Date can hold (ECMA-262, 21.4.1.1), less the lifetime of a link. */
const MAX_ISSUED_AT = 8.64e12 - 30 * 24 * 3600

const validateVessel = checker(Vessel)

/**
 * Encodes the data of a link as URL-safe Base64 (RFC 4648, section 5) without padding.
 *
 * The content is a JSON array, since a scannable code holds few bytes:
 * `[version, type, issuedAt, vessel name, IMO number or 0, ...fields of the calculator]`. Missing
 * fields are `0`; trailing ones are omitted.
 */
export function encodePrefillData(prefill: PrefillData): string {
  const { calculatorType, calculatorData, vessel, issuedAt } = prefill
  const values = dropIdleGenerators({ ...calculatorData })
  const fields = FIELDS[calculatorType].map((name) => values[name] ?? 0)
  while (fields.at(-1) === 0) fields.pop()
  const tuple = [
    FORMAT_VERSION,
    TYPES.indexOf(calculatorType),
    issuedAt,
    vessel.name,
    Number(parseImoNumber(vessel.imoNumber ?? '') ?? 0),
    ...fields,
  ]
  return Buffer.from(JSON.stringify(tuple)).toString('base64url')
}

// Accepts both alphabets and padding, so that an altered link is reported as edited, not damaged.
const BASE64 = /^[\w+/-]+={0,2}$/

export type DecodedPrefillData =
  { ok: true; prefill: PrefillData } | { ok: false; reason: 'not_base64' | 'invalid_data' }

const INVALID_DATA: DecodedPrefillData = { ok: false, reason: 'invalid_data' }

/** Decodes the `data` of a link. Never throws; does not check the signature. */
export function decodePrefillData(data: string): DecodedPrefillData {
  // Four characters encode three bytes; a remainder of one character is impossible.
  if (!BASE64.test(data) || data.replace(/=+$/, '').length % 4 === 1) {
    return { ok: false, reason: 'not_base64' }
  }
  const tuple = parseJson(Buffer.from(data, 'base64url').toString())
  if (!Array.isArray(tuple)) return INVALID_DATA
  const [version, typeIndex, issuedAt, name, imo, ...fields] = tuple as unknown[]
  if (version !== FORMAT_VERSION || typeof typeIndex !== 'number') return INVALID_DATA
  const calculatorType = TYPES[typeIndex]
  if (calculatorType === undefined || !isIssuedAt(issuedAt) || typeof imo !== 'number') {
    return INVALID_DATA
  }
  const names = FIELDS[calculatorType]
  if (fields.length > names.length) return INVALID_DATA
  const values = fields.flatMap((value, i) => (value === 0 ? [] : [[names[i], value]]))
  const calculation = validateCalculation(calculatorType, Object.fromEntries(values))
  const vessel = validateVessel(
    imo === 0 ? { name } : { name, imoNumber: String(imo).padStart(7, '0') },
  )
  if (!calculation.ok || !vessel.ok) return INVALID_DATA
  return { ok: true, prefill: { ...calculation.value, vessel: vessel.value, issuedAt } }
}

const isIssuedAt = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= MAX_ISSUED_AT

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
