import { Writable } from 'node:stream'
import type { MessagePort } from 'node:worker_threads'

/** What travels from thread to thread at once. */
export const CHUNK_BYTES = 64 * 1024

/**
 * A stream that goes to another thread in chunks, one for each message that comes from there,
 * and a `null` at its end. Chunks are handed over, not copied.
 */
export function createChunkedWriter(port: MessagePort): Writable {
  let chunk = new Uint8Array(CHUNK_BYTES)
  let length = 0
  let asked = 0
  let wake: (() => void) | null = null

  port.on('message', () => {
    asked++
    wake?.()
  })

  async function send(): Promise<void> {
    while (asked === 0) await new Promise<void>((resolve) => (wake = resolve))
    asked--
    port.postMessage(chunk.subarray(0, length), [chunk.buffer])
    chunk = new Uint8Array(CHUNK_BYTES)
    length = 0
  }

  async function sendAll(bytes: Buffer): Promise<void> {
    for (let from = 0; from < bytes.length;) {
      const part = bytes.subarray(from, from + CHUNK_BYTES - length)
      chunk.set(part, length)
      length += part.length
      from += part.length
      if (length === CHUNK_BYTES) await send()
    }
  }

  return new Writable({
    write(bytes: Buffer, _encoding, done) {
      if (length + bytes.length < CHUNK_BYTES) {
        chunk.set(bytes, length)
        length += bytes.length
        done()
      } else {
        sendAll(bytes).then(() => done(), done)
      }
    },
    final(done) {
      const sent = length > 0 ? send() : Promise.resolve()
      sent.then(() => port.postMessage(null)).then(() => done(), done)
    },
  })
}
