import { Type, type Static } from '@sinclair/typebox'
import { CalculatorTypeSchema } from '../calculator/calculator-data.js'
import { stringEnum } from '../core/validation/string-enum.js'
import type { QrCode } from './generate-qr-code.js'
import { ERROR_CORRECTION_LEVELS, toPngDataUrl } from '../core/html/qr-image.js'

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

/** Renders a code in both formats. */
export function toQrCodeResponse(code: QrCode): Static<typeof QrCodeResponse> {
  const { calculation, link, version, errorCorrection } = code
  return {
    calculatorType: calculation.calculatorType,
    url: link.url,
    data: link.data,
    sig: link.sig,
    generatedAt: link.generatedAt.toISOString(),
    expiresAt: link.expiresAt.toISOString(),
    version,
    errorCorrection,
    svg: code.renderSvg(),
    png: toPngDataUrl(code.renderPng()),
  }
}
