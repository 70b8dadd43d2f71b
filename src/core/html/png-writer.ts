import { crc32, deflateSync } from 'node:zlib'

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/**
 * Encodes a black-and-white PNG (W3C PNG, colour type 0, bit depth 1).
 *
 * @param size width and height, pixels
 * @param getRow the pixels of line `y`, eight per byte from the left, 1 for white
 */
export function encodeOneBitPng(size: number, getRow: (y: number) => Uint8Array): Buffer {
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
