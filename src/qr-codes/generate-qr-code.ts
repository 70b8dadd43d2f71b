import type { Static } from '@sinclair/typebox'
import type { Calculation } from '../calculator/calculator-data.js'
import { parseImoNumber, type Vessel } from '../calculator/vessel.js'
import { foldText } from '../core/formatting/text.js'
import {
  createQrMatrix,
  ERROR_CORRECTION_LEVELS,
  MAX_SCANNABLE_BYTES,
  renderPng,
  renderSvg,
  toPngDataUrl,
  type ErrorCorrection,
} from '../core/html/qr-image.js'
import type { FieldError } from '../core/validation/field-errors.js'
import type { PrefillLink, PrefillLinks } from './prefill-link.js'
import { DEFAULT_IMAGE, type QrCodeRequest, type QrCodeResponse } from './qr-code-schemas.js'

export interface QrCode {
  calculation: Calculation
  vessel: Vessel
  link: PrefillLink
  version: number
  errorCorrection: ErrorCorrection
  renderSvg(): string
  renderPng(): Buffer
}

/** Called with every code that a user or an API key generates. */
export type QrCodeListener = (code: QrCode) => void

/** `bytes` is the length of the link. */
export type QrCodeResult =
  { ok: true; code: QrCode; bytes: number } | { ok: false; errors: FieldError[]; bytes: number }

/**
 * Download file name, without the extension. A vessel whose name has no Latin letters or digits is
 * named by its IMO number, if it has one.
 */
export function getFileName({ calculation, link, vessel }: QrCode): string {
  // Only ASCII is safe in both header fields and file systems.
  const slug = foldText(vessel.name)
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  const imo = vessel.imoNumber === undefined ? '' : `imo-${vessel.imoNumber}`
  const date = link.generatedAt.toISOString().slice(0, 10)
  return ['clearwake', slug.slice(0, 40) || imo, calculation.calculatorType, date]
    .filter(Boolean)
    .join('-')
}

/** Generates a code, or returns what to change so that phones can scan it. */
export function generateQrCode(links: PrefillLinks, request: QrCodeRequest): QrCodeResult {
  const image = { ...DEFAULT_IMAGE, ...request.image }
  const vessel = normalizeVessel(request.vessel)
  const calculation = normalizeCalculation(request)
  const link = links.create(calculation, vessel)
  const bytes = Buffer.byteLength(link.url)
  const errors = checkLength(bytes, image.errorCorrection, calculation)
  if (errors.length > 0) return { ok: false, errors, bytes }

  const matrix = createQrMatrix(link.url, image.errorCorrection)
  const minSize = matrix.modules + 2 * image.margin
  if (image.size < minSize) {
    const message = `must be at least ${minSize} for this code: one pixel per module, margin included`
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
      renderSvg: () => renderSvg(matrix, image.size, image.margin),
      renderPng: () => renderPng(matrix, image.size, image.margin),
    },
  }
}

function normalizeVessel(vessel: Vessel): Vessel {
  const imoNumber = parseImoNumber(vessel.imoNumber ?? '')
  return { name: vessel.name.trim(), ...(imoNumber === null ? {} : { imoNumber }) }
}

function normalizeCalculation({ calculatorType, calculatorData }: QrCodeRequest): Calculation {
  const data: Record<string, unknown> = { ...calculatorData }
  if (typeof data.description === 'string') data.description = data.description.trim()
  return { calculatorType, calculatorData: data } as Calculation
}

/** The paths of a calculation's fields that contain free text. */
function listTextPaths({ calculatorData }: Calculation): string[] {
  const furtherLines = ('furtherLines' in calculatorData && calculatorData.furtherLines) || []
  const lines: [path: string, values: object][] = [
    ['calculatorData', calculatorData],
    ...furtherLines.map((line, i): [string, object] => [`calculatorData.furtherLines.${i}`, line]),
  ]
  return lines.flatMap(([path, values]) =>
    ['description', 'factorSource']
      .filter((name) => name in values)
      .map((name) => `${path}.${name}`),
  )
}

function checkLength(
  bytes: number,
  level: ErrorCorrection,
  calculation: Calculation,
): FieldError[] {
  const excess = bytes - MAX_SCANNABLE_BYTES[level]
  if (excess <= 0) return []
  // Base64 encodes three bytes in four characters.
  const surplus = Math.ceil((excess * 3) / 4)
  const hasLines = 'furtherLines' in calculation.calculatorData
  const message = `is too long for a scannable code: ${hasLines ? 'use fewer lines, or ' : ''}shorten the text by about ${surplus} bytes (one byte per Latin letter, two to four for others)`
  const errors = ['vessel.name', ...listTextPaths(calculation)].map((path) => ({ path, message }))
  const sufficient = ERROR_CORRECTION_LEVELS.filter((other) => MAX_SCANNABLE_BYTES[other] >= bytes)
  if (sufficient.length > 0) {
    errors.push({
      path: 'image.errorCorrection',
      message: `leaves too little capacity at ${level}: use ${sufficient.join(' or ')}`,
    })
  }
  return errors
}

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
