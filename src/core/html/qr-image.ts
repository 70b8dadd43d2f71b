import { crc32, deflateSync } from 'node:zlib'
import QRCode from 'qrcode'

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/**
 * Encodes a black-and-white PNG (W3C PNG, colour type 0, bit depth 1).
 *
 * @param size width and height, pixels
 * @param getRow the pixels of line `y`, eight per byte from the left, 1 for white
 */
function encodeOneBitPng(size: number, getRow: (y: number) => Uint8Array): Buffer {
  const stride = Math.ceil(size / 8) + 1
  const raw = Buffer.alloc(stride * size)
  for (let y = 0; y < size; y++) raw.set(getRow(y), y * stride + 1)

  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  header[8] = 1 // bit depth; colour type, compression, filter and interlace stay 0
  return Buffer.concat([
    PNG_SIGNATURE,
    encodeChunk('IHDR', header),
    encodeChunk('IDAT', deflateSync(raw)),
    encodeChunk('IEND', Buffer.alloc(0)),
  ])
}

function encodeChunk(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(data.length + 12)
  chunk.writeUInt32BE(data.length, 0)
  chunk.write(type, 4, 'latin1')
  data.copy(chunk, 8)
  chunk.writeUInt32BE(crc32(chunk.subarray(4, data.length + 8)), data.length + 8)
  return chunk
}

export const ERROR_CORRECTION_LEVELS = ['L', 'M', 'Q', 'H'] as const
export type ErrorCorrection = (typeof ERROR_CORRECTION_LEVELS)[number]

/** Share of the code that each level recovers (ISO/IEC 18004, table 12). */
export const RECOVERABLE_SHARE: Record<ErrorCorrection, number> = {
  L: 0.07,
  M: 0.15,
  Q: 0.25,
  H: 0.3,
}

/**
 * Capacity of version 20 (ISO/IEC 18004, table 7): 97 by 97 modules. Phones cannot scan codes that
 * are much finer than this from a five-centimetre sticker at arm's length.
 */
export const MAX_SCANNABLE_BYTES: Record<ErrorCorrection, number> = {
  L: 858,
  M: 666,
  Q: 482,
  H: 382,
}

/** The modules of a code, without its margin. */
interface QrMatrix {
  version: number
  /** Modules per side */
  modules: number
  isDark(x: number, y: number): boolean
}

/** Throws if `text` exceeds the capacity of version 40 at this level. */
export function createQrMatrix(text: string, errorCorrection: ErrorCorrection): QrMatrix {
  // A single byte segment, because the search for mixed segments is slow and finds none in Base64.
  const code = QRCode.create([{ data: Buffer.from(text), mode: 'byte' }], {
    errorCorrectionLevel: errorCorrection,
  })
  const { size, data } = code.modules
  return { version: code.version, modules: size, isDark: (x, y) => data[y * size + x] === 1 }
}

/** Renders an SVG, `size` user units wide, with `margin` light modules on each side. */
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
 * Renders a PNG of exactly `size` pixels per side, which must be at least modules plus margins.
 * Each module is the same whole number of pixels wide; the remainder goes to the margin.
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

const toDataUrl = (type: string, content: Buffer): string =>
  `data:${type};base64,${content.toString('base64')}`

/** An image as a data URL (RFC 2397). */
export const toPngDataUrl = (png: Buffer): string => toDataUrl('image/png', png)
export const toSvgDataUrl = (svg: string): string => toDataUrl('image/svg+xml', Buffer.from(svg))
