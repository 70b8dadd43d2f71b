import { crc32, deflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

function chunk(type: string, data: Buffer): Buffer {
  const framed = Buffer.alloc(data.length + 12)
  framed.writeUInt32BE(data.length, 0)
  framed.write(type, 4, 'latin1')
  data.copy(framed, 8)
  framed.writeUInt32BE(crc32(framed.subarray(4, data.length + 8)), data.length + 8)
  return framed
}

/**
 * A black-and-white PNG (W3C PNG, colour type 0, bit depth 1).
 *
 * @param size width and height, pixels
 * @param row the pixels of line `y`, packed eight to a byte from the left, 1 for white; rows may
 *   be the same buffer again
 */
export function encodeOneBitPng(size: number, row: (y: number) => Uint8Array): Buffer {
  const stride = Math.ceil(size / 8) + 1
  const raw = Buffer.alloc(stride * size)
  for (let y = 0; y < size; y++) raw.set(row(y), y * stride + 1)

  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  header[8] = 1 // bit depth; colour type, compression, filter and interlace stay 0
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(raw)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}
