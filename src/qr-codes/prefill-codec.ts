import type {
  Calculation,
  CalculatorDataByType,
  CalculatorType,
  FuelLine,
  LineUse,
} from '../calculator/calculator-data.js'
import { checker, validateCalculation } from '../calculator/validate-calculation.js'
import { parseImoNumber, Vessel } from '../calculator/vessel.js'
import { parseJson } from '../core/validation/formats.js'

/** The content of a code: a calculation, its vessel and the time of creation. */
export type PrefillData = Calculation & {
  vessel: Vessel
  /** Unix time, seconds */
  issuedAt: number
}

/**
 * Format versions 1 and 2. They are frozen, because printed codes refer to a calculator by its
 * index in `TYPES`, and list its fields in the order of `FIELDS_1` or `FIELDS_2`. Version 1 has
 * only the first fields, which keeps the code of a typical trip short. Version 2 appends the
 * others; new fields can only be appended.
 */
const TYPES = ['fuel', 'distance', 'custom'] as const satisfies readonly CalculatorType[]
type FieldNames = { [T in CalculatorType]: readonly (keyof CalculatorDataByType[T])[] }

const FIELDS_1 = {
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
} as const satisfies FieldNames

const FIELDS_2 = {
  fuel: [
    ...FIELDS_1.fuel,
    'guests',
    'hvoPercent',
    'certifiedGCo2ePerMj',
    'kgCo2ePerKwh',
    'factorSource',
    'furtherLines',
    'framework',
    'certifiedAs',
    'certificateReference',
  ],
  distance: [
    ...FIELDS_1.distance,
    'guests',
    'hvoPercent',
    'certifiedGCo2ePerMj',
    'furtherLines',
    'framework',
    'certifiedAs',
    'certificateReference',
    'hullType',
  ],
  custom: [...FIELDS_1.custom, 'guests', 'framework'],
} as const satisfies FieldNames

/** The fields of a further line, version 2; `use` is an index in `USES`. */
const LINE_FIELDS = [
  'fuelType',
  'quantity',
  'unit',
  'use',
  'hvoPercent',
  'certifiedGCo2ePerMj',
  'kgCo2ePerKwh',
  'factorSource',
  'certifiedAs',
  'certificateReference',
] as const satisfies readonly (keyof FuelLine)[]

/** Fields whose zero is a value, not a missing field. */
const ZERO_FIELDS = ['certifiedGCo2ePerMj', 'kgCo2ePerKwh']

/** Default values, which are left out. */
const DEFAULTS: Record<string, unknown> = { framework: 'clearwake', hullType: 'displacement' }

/** The index is part of the format; 0 stands for a missing field. */
const USES = [
  null,
  'engines',
  'generators',
  'boilers',
  'tender',
  'shore-power',
  'other',
] as const satisfies readonly (LineUse | null)[]

type Values = Record<string, unknown>

/** Lists fields in order. Missing fields are `0`, or are left out at the end of the list. */
function toTuple(names: readonly string[], values: Values): unknown[] {
  const tuple = names.map((name) => encodeValue(name, values[name]))
  while (tuple.at(-1) === 0) tuple.pop()
  return tuple
}

function encodeValue(name: string, value: unknown): unknown {
  if (value === 0 && ZERO_FIELDS.includes(name)) return '0'
  if (value === DEFAULTS[name]) return 0
  if (name === 'use') return Math.max(0, USES.indexOf(value as LineUse))
  if (name === 'furtherLines' && Array.isArray(value)) {
    return value.length === 0 ? 0 : (value as Values[]).map((line) => toTuple(LINE_FIELDS, line))
  }
  return value ?? 0
}

/** The fields of a tuple by name; `null` if it has too many. */
function fromTuple(names: readonly string[], tuple: unknown): Values | null {
  if (!Array.isArray(tuple) || tuple.length > names.length) return null
  return Object.fromEntries(
    (tuple as unknown[]).flatMap((value, i) => {
      const name = names[i] ?? ''
      return value === 0 ? [] : [[name, decodeValue(name, value)]]
    }),
  )
}

function decodeValue(name: string, value: unknown): unknown {
  if (value === '0' && ZERO_FIELDS.includes(name)) return 0
  if (name === 'use') return (typeof value === 'number' ? USES[value] : null) ?? value
  if (name === 'furtherLines' && Array.isArray(value)) {
    return (value as unknown[]).map((line) => fromTuple(LINE_FIELDS, line))
  }
  return value
}

/** Drops generators without hours or consumption, because 0 stands for a missing field. */
const dropIdleGenerators = (fields: Values): Values =>
  fields.generatorHours === 0 || fields.generatorLitresPerHour === 0
    ? { ...fields, generatorHours: undefined, generatorLitresPerHour: undefined }
    : fields

/** How long a link is valid. */
export const LIFETIME_SECONDS = 30 * 24 * 60 * 60

/** The last second that a Date can hold (ECMA-262, 21.4.1.1), less the lifetime of a link. */
const MAX_ISSUED_AT = 8.64e12 - LIFETIME_SECONDS

const validateVessel = checker(Vessel)

/**
 * Encodes the data of a link as URL-safe Base64 (RFC 4648, section 5) without padding.
 *
 * The content is a JSON array, because a scannable code holds few bytes:
 * `[version, type, issuedAt, vessel name, IMO number or 0, ...fields of the calculator]`.
 */
export function encodePrefillData(prefill: PrefillData): string {
  const { calculatorType, calculatorData, vessel, issuedAt } = prefill
  const values = dropIdleGenerators({ ...calculatorData })
  const fields = toTuple(FIELDS_2[calculatorType], values)
  const version = fields.length <= FIELDS_1[calculatorType].length ? 1 : 2
  const tuple = [
    version,
    TYPES.indexOf(calculatorType),
    issuedAt,
    vessel.name,
    Number(parseImoNumber(vessel.imoNumber ?? '') ?? 0),
    ...fields,
  ]
  return Buffer.from(JSON.stringify(tuple)).toString('base64url')
}

// Accepts both alphabets of Base64, and padding, so that an altered link is reported as edited, not
// as damaged.
const BASE64 = /^[\w+/-]+={0,2}$/

type DecodedPrefillData =
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
  if ((version !== 1 && version !== 2) || typeof typeIndex !== 'number') return INVALID_DATA
  const calculatorType = TYPES[typeIndex]
  if (calculatorType === undefined || !isIssuedAt(issuedAt) || typeof imo !== 'number') {
    return INVALID_DATA
  }
  const values = fromTuple((version === 1 ? FIELDS_1 : FIELDS_2)[calculatorType], fields)
  if (values === null) return INVALID_DATA
  const calculation = validateCalculation(calculatorType, values)
  const vessel = validateVessel(
    imo === 0 ? { name } : { name, imoNumber: String(imo).padStart(7, '0') },
  )
  if (!calculation.ok || !vessel.ok) return INVALID_DATA
  return { ok: true, prefill: { ...calculation.value, vessel: vessel.value, issuedAt } }
}

const isIssuedAt = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= MAX_ISSUED_AT
