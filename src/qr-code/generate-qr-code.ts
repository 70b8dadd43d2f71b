import type { Calculation } from '../calculator/calculator-data.js'
import { parseImoNumber } from '../calculator/imo-number.js'
import type { Vessel } from '../calculator/vessel.js'
import type { FieldError } from '../validation/field-errors.js'
import type { PrefillLink, PrefillLinks } from './prefill-link.js'
import { DEFAULT_IMAGE, type QrCodeRequest } from './qr-code-request.js'
import {
  ERROR_CORRECTION_LEVELS,
  createQrMatrix,
  renderPng,
  renderSvg,
  SCANNABLE_BYTES,
  type ErrorCorrection,
} from './qr-image.js'

/** A code, its link, and what it was made of. */
export interface QrCode {
  calculation: Calculation
  vessel: Vessel
  link: PrefillLink
  version: number
  errorCorrection: ErrorCorrection
  /** Drawn when asked for, from the one matrix */
  svg(): string
  png(): Buffer
}

export type GeneratedQrCode =
  { ok: true; code: QrCode; bytes: number } | { ok: false; errors: FieldError[]; bytes: number }

/** What a picture of the code is called when it is saved, without its extension. */
export const getFileName = ({ calculation, link }: QrCode): string =>
  `clearwake-${calculation.calculatorType}-${link.generatedAt.toISOString().slice(0, 10)}`

/** Makes a code, or says what to change for it to be one that phones read. */
export function generateQrCode(links: PrefillLinks, request: QrCodeRequest): GeneratedQrCode {
  const image = { ...DEFAULT_IMAGE, ...request.image }
  const vessel = normalised(request.vessel)
  const calculation = tidied(request)
  const link = links.create(calculation, vessel)
  const bytes = Buffer.byteLength(link.url)
  const errors = tooLong(bytes, image.errorCorrection, calculation)
  if (errors.length > 0) return { ok: false, errors, bytes }

  const matrix = createQrMatrix(link.url, image.errorCorrection)
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
      svg: () => renderSvg(matrix, image.size, image.margin),
      png: () => renderPng(matrix, image.size, image.margin),
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
