import QRCode from 'qrcode'
import { encodeOneBitPng } from './png-writer.js'

export const ERROR_CORRECTION_LEVELS = ['L', 'M', 'Q', 'H'] as const
export type ErrorCorrection = (typeof ERROR_CORRECTION_LEVELS)[number]

/**
 * Bytes that fit version 20 (ISO/IEC 18004, table 7): 97 by 97 modules, about the finest that
 * a phone reads off a sticker of five centimetres at arm's length.
 */
export const SCANNABLE_BYTES: Record<ErrorCorrection, number> = { L: 858, M: 666, Q: 482, H: 382 }

/** The dark and light squares of a code, without its margin. */
export interface QrMatrix {
  version: number
  /** Modules along an edge */
  modules: number
  isDark(x: number, y: number): boolean
}

/** @param text at most as many bytes as version 40 holds at this level, else it throws */
export function createQrMatrix(text: string, errorCorrection: ErrorCorrection): QrMatrix {
  // One byte segment: looking for cheaper mixed segments costs ten times the rest and finds
  // none, since Base64 has lower-case letters throughout.
  const code = QRCode.create([{ data: Buffer.from(text), mode: 'byte' }], {
    errorCorrectionLevel: errorCorrection,
  })
  const { size, data } = code.modules
  return { version: code.version, modules: size, isDark: (x, y) => data[y * size + x] === 1 }
}

/** The code as SVG, `size` user units wide, with `margin` light modules on each side. */
export function renderSvg(matrix: QrMatrix, size: number, margin: number): string {
  const edge = matrix.modules + 2 * margin
  let path = ''
  for (let y = 0; y < matrix.modules; y++) {
    for (let x = 0; x < matrix.modules; x++) {
      if (!matrix.isDark(x, y)) continue
      const start = x
      while (x + 1 < matrix.modules && matrix.isDark(x + 1, y)) x++
      path += `M${start + margin} ${y + margin}h${x - start + 1}v1h-${x - start + 1}z`
    }
  }
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 ${edge} ${edge}" shape-rendering="crispEdges">` +
    `<path fill="#fff" d="M0 0h${edge}v${edge}H0z"/><path d="${path}"/></svg>`
  )
}

/**
 * The code as PNG of exactly `size` pixels: every module the same whole number of pixels wide,
 * what remains goes to the margin. `size` must be at least the modules and margins.
 */
export function renderPng(matrix: QrMatrix, size: number, margin: number): Buffer {
  const scale = Math.floor(size / (matrix.modules + 2 * margin))
  const offset = Math.floor((size - matrix.modules * scale) / 2)
  const light = new Uint8Array(Math.ceil(size / 8)).fill(0xff)
  const rows = Array.from({ length: matrix.modules }, (_, y) => {
    const row = light.slice()
    for (let pixel = 0; pixel < matrix.modules * scale; pixel++) {
      if (!matrix.isDark(Math.floor(pixel / scale), y)) continue
      const at = offset + pixel
      row[at >> 3] = (row[at >> 3] ?? 0) & ~(0x80 >> (at & 7))
    }
    return row
  })
  return encodeOneBitPng(size, (y) => rows[Math.floor((y - offset) / scale)] ?? light)
}

const dataUrl = (type: string, content: Buffer): string =>
  `data:${type};base64,${content.toString('base64')}`

/** A picture as an address that holds it (RFC 2397). */
export const toPngDataUrl = (png: Buffer): string => dataUrl('image/png', png)
export const toSvgDataUrl = (svg: string): string => dataUrl('image/svg+xml', Buffer.from(svg))
