import { Type, type Static } from '@sinclair/typebox'
import {
  CALCULATOR_DATA,
  CALCULATOR_TYPES,
  CalculatorTypeSchema,
  type Calculation,
} from '../calculator/calculator-data.js'
import { EXAMPLES } from '../calculator/examples.js'
import { Vessel } from '../calculator/vessel.js'
import { stringEnum } from '../validation/string-enum.js'
import { ERROR_CORRECTION_LEVELS } from './qr-image.js'

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
      description: 'Light margin, modules; readers want 4',
    }),
    errorCorrection: stringEnum(ERROR_CORRECTION_LEVELS, {
      default: 'M',
      description: 'Share of the code that may be lost: L 7 %, M 15 %, Q 25 %, H 30 %',
    }),
  },
  { additionalProperties: false },
)
export type ImageOptions = Static<typeof ImageOptions>

/** How a code is drawn where nobody says. */
export const DEFAULT_IMAGE: ImageOptions = { size: 512, margin: 4, errorCorrection: 'M' }

/** What a code is asked for with. */
export type QrCodeRequest = Calculation & { vessel: Vessel; image?: Partial<ImageOptions> }

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

/** A code and the link in it, as the API answers. */
export const QrCodeResponse = Type.Object(
  {
    calculatorType: CalculatorTypeSchema,
    url: Type.String({ description: 'The link in the code' }),
    data: Type.String({ description: 'Pre-fill data, URL-safe Base64 without padding' }),
    sig: Type.String({ description: 'Signature of type and data' }),
    generatedAt: Type.String({ format: 'date-time' }),
    expiresAt: Type.String({ format: 'date-time', description: '30 days later' }),
    version: Type.Integer({ description: 'QR version, 1 to 20' }),
    errorCorrection: stringEnum(ERROR_CORRECTION_LEVELS, { description: 'Error correction level' }),
    svg: Type.String({ description: 'SVG markup' }),
    png: Type.String({ description: 'PNG as a data URL' }),
  },
  { title: 'QR code' },
)
