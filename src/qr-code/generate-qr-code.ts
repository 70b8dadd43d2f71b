import { Type, type Static } from '@sinclair/typebox'
import {
  CALCULATOR_DATA,
  CALCULATOR_TYPES,
  CalculatorTypeSchema,
  type Calculation,
} from '../calculator/calculator-data.js'
import { EXAMPLES } from '../calculator/examples.js'
import { parseImoNumber } from '../calculator/imo-number.js'
import { Vessel } from '../calculator/vessel.js'
import type { FieldError } from '../validation/field-errors.js'
import type { PrefillLinks } from './prefill-link.js'
import {
  ERROR_CORRECTION_LEVELS,
  qrMatrix,
  qrPng,
  qrSvg,
  SCANNABLE_BYTES,
  type ErrorCorrection,
} from './qr-image.js'

const ErrorCorrectionSchema = Type.Unsafe<ErrorCorrection>({
  type: 'string',
  enum: [...ERROR_CORRECTION_LEVELS],
  default: 'M',
  description:
    'Error correction level: the share of the code that may be lost (L 7 %, M 15 %, Q 25 %, H 30 %)',
})

const Image = Type.Object(
  {
    size: Type.Integer({
      minimum: 64,
      maximum: 2048,
      default: 512,
      description: 'Width and height, pixels',
    }),
    margin: Type.Integer({
      minimum: 0,
      maximum: 16,
      default: 4,
      description: 'Light margin, modules; readers want 4',
    }),
    errorCorrection: ErrorCorrectionSchema,
  },
  { additionalProperties: false },
)
export type QrImageOptions = Static<typeof Image>

export const DEFAULT_IMAGE: QrImageOptions = { size: 512, margin: 4, errorCorrection: 'M' }

/** What a code is asked for with. */
export type QrCodeRequest = Calculation & { vessel: Vessel; image?: Partial<QrImageOptions> }

/**
 * The data's rules hang on the type, by `if`/`then` instead of a union, so that each wrong
 * field is reported once whatever else is wrong.
 */
export const QrCodeRequestSchema = Type.Unsafe<QrCodeRequest>({
  type: 'object',
  title: 'QR code request',
  additionalProperties: false,
  required: ['calculatorType', 'calculatorData', 'vessel'],
  properties: {
    calculatorType: CalculatorTypeSchema,
    calculatorData: { type: 'object', description: "That calculator's data" },
    vessel: Vessel,
    image: { ...Image, required: [] },
  },
  allOf: CALCULATOR_TYPES.map((type) => ({
    if: { properties: { calculatorType: { const: type } }, required: ['calculatorType'] },
    then: { properties: { calculatorData: CALCULATOR_DATA[type] } },
  })),
  examples: [
    {
      ...EXAMPLES.fuel,
      vessel: { name: 'Ever Given', imoNumber: '9811000' },
      image: { size: 512, margin: 4, errorCorrection: 'M' },
    },
  ],
})

/** A code and the link in it. */
export const QrCodeSchema = Type.Object(
  {
    calculatorType: CalculatorTypeSchema,
    url: Type.String({ description: 'The link in the code' }),
    data: Type.String({ description: 'Pre-fill data, URL-safe Base64 without padding' }),
    sig: Type.String({ description: 'Signature of type and data' }),
    generatedAt: Type.String({ format: 'date-time' }),
    expiresAt: Type.String({ format: 'date-time', description: '30 days later' }),
    version: Type.Integer({ description: 'QR version, 1 to 20' }),
    errorCorrection: Type.Unsafe<ErrorCorrection>({
      type: 'string',
      enum: [...ERROR_CORRECTION_LEVELS],
    }),
    svg: Type.String({ description: 'SVG markup' }),
    png: Type.String({ description: 'PNG as a data URL' }),
  },
  { title: 'QR code' },
)

export interface QrCode {
  calculation: Calculation
  vessel: Vessel
  link: ReturnType<PrefillLinks['create']>
  version: number
  errorCorrection: ErrorCorrection
  /** Drawn when asked for, from the one matrix */
  svg(): string
  png(): Buffer
}

export type GeneratedQrCode =
  { ok: true; code: QrCode; bytes: number } | { ok: false; errors: FieldError[]; bytes: number }

/** Makes a code, or says what to change for it to be one that phones read. */
export function generateQrCode(links: PrefillLinks, request: QrCodeRequest): GeneratedQrCode {
  const image = { ...DEFAULT_IMAGE, ...request.image }
  const vessel = normalised(request.vessel)
  const calculation = tidied(request)
  const link = links.create(calculation, vessel)
  const bytes = Buffer.byteLength(link.url)
  const errors = tooLong(bytes, image.errorCorrection, calculation)
  if (errors.length > 0) return { ok: false, errors, bytes }

  const matrix = qrMatrix(link.url, image.errorCorrection)
  const smallest = matrix.modules + 2 * image.margin
  if (image.size < smallest) {
    const message = `must be at least ${smallest} for this code: one pixel for each module and its margin`
    return { ok: false, errors: [{ path: 'image.size', message }], bytes }
  }
  return {
    ok: true,
    bytes,
    code: {
      calculation,
      vessel,
      link,
      version: matrix.version,
      errorCorrection: image.errorCorrection,
      svg: () => qrSvg(matrix, image.size, image.margin),
      png: () => qrPng(matrix, image.size, image.margin),
    },
  }
}

function normalised(vessel: Vessel): Vessel {
  const imoNumber = parseImoNumber(vessel.imoNumber ?? '')
  return { name: vessel.name.trim(), ...(imoNumber === null ? {} : { imoNumber }) }
}

function tidied({ calculatorType, calculatorData }: QrCodeRequest): Calculation {
  const data: Record<string, unknown> = { ...calculatorData }
  if (typeof data.description === 'string') data.description = data.description.trim()
  return { calculatorType, calculatorData: data } as Calculation
}

function tooLong(bytes: number, level: ErrorCorrection, calculation: Calculation): FieldError[] {
  const excess = bytes - SCANNABLE_BYTES[level]
  if (excess <= 0) return []
  // Base64 makes four characters of three bytes.
  const surplus = Math.ceil((excess * 3) / 4)
  const message = `makes the code too fine for phones to read: shorten it, about ${surplus} bytes in all are too many (a plain letter is one byte, others two to four)`
  const errors = [{ path: 'vessel.name', message }]
  if (calculation.calculatorType === 'custom' && calculation.calculatorData.description) {
    errors.push({ path: 'calculatorData.description', message })
  }
  const roomier = ERROR_CORRECTION_LEVELS.filter((other) => SCANNABLE_BYTES[other] >= bytes)
  if (roomier.length > 0) {
    errors.push({
      path: 'image.errorCorrection',
      message: `leaves too little room at ${level}: ${roomier.join(' or ')} would do`,
    })
  }
  return errors
}
