import { Type, type Static } from '@sinclair/typebox'
import {
  CALCULATOR_DATA,
  CALCULATOR_TYPES,
  CalculatorTypeSchema,
  EXAMPLES,
  type Calculation,
} from '../calculator/calculator-data.js'
import { Vessel } from '../calculator/vessel.js'
import { ERROR_CORRECTION_LEVELS } from '../core/html/qr-image.js'
import { stringEnum } from '../core/validation/formats.js'

export const ImageOptions = Type.Object(
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
      description: 'Quiet zone, modules; the standard requires 4',
    }),
    errorCorrection: stringEnum(ERROR_CORRECTION_LEVELS, {
      default: 'M',
      description:
        'Error correction level: recovers 7% (L), 15% (M), 25% (Q) or 30% (H) of the code',
    }),
  },
  { additionalProperties: false },
)
export type ImageOptions = Static<typeof ImageOptions>

export const DEFAULT_IMAGE: ImageOptions = { size: 512, margin: 4, errorCorrection: 'M' }

/** The body of a request for a code. */
export type QrCodeRequest = Calculation & { vessel: Vessel; image?: Partial<ImageOptions> }

/** Uses `if`/`then` instead of a union, so that each invalid field is reported exactly once. */
export const QrCodeRequestSchema = Type.Unsafe<QrCodeRequest>({
  type: 'object',
  title: 'QR code request',
  additionalProperties: false,
  required: ['calculatorType', 'calculatorData', 'vessel'],
  properties: {
    calculatorType: CalculatorTypeSchema,
    calculatorData: { type: 'object', description: 'Calculator data of this type' },
    vessel: Vessel,
    image: Type.Partial(ImageOptions),
  },
  allOf: CALCULATOR_TYPES.map((type) => ({
    if: { properties: { calculatorType: { const: type } }, required: ['calculatorType'] },
    then: { properties: { calculatorData: CALCULATOR_DATA[type] } },
  })),
  examples: [
    {
      ...EXAMPLES.fuel,
      vessel: { name: 'Ever Given', imoNumber: '9811000' },
      image: DEFAULT_IMAGE,
    },
  ],
})

export const QrCodeResponse = Type.Object(
  {
    calculatorType: CalculatorTypeSchema,
    url: Type.String({ description: 'The link encoded in the code' }),
    data: Type.String({ description: 'Pre-fill data, URL-safe Base64 without padding' }),
    sig: Type.String({ description: 'Signature of calculator type and data' }),
    generatedAt: Type.String({ format: 'date-time' }),
    expiresAt: Type.String({ format: 'date-time', description: '30 days after generatedAt' }),
    version: Type.Integer({ description: 'QR version, 1 to 20' }),
    errorCorrection: stringEnum(ERROR_CORRECTION_LEVELS, { description: 'Error correction level' }),
    svg: Type.String({ description: 'SVG markup' }),
    png: Type.String({ description: 'PNG as a data URL' }),
  },
  { title: 'QR code' },
)
