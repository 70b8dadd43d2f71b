import { Writable } from 'node:stream'
import type { MessagePort } from 'node:worker_threads'

/** Size of the chunks sent between the threads; the last one can be smaller. */
export const CHUNK_BYTES = 64 * 1024

/**
 * A stream to another thread. Sends one chunk for each message from that thread, and `null` at the
 * end. Chunks are transferred, not copied.
 */
export function createChunkedWriter(port: MessagePort): Writable {
  let chunk = new Uint8Array(CHUNK_BYTES)
  let length = 0
  let requested = 0
  let resume: (() => void) | null = null

  port.on('message', () => {
    requested++
    resume?.()
  })

  async function sendChunk(): Promise<void> {
    while (requested === 0) await new Promise<void>((resolve) => (resume = resolve))
    requested--
    port.postMessage(chunk.subarray(0, length), [chunk.buffer])
    chunk = new Uint8Array(CHUNK_BYTES)
    length = 0
  }

  async function append(bytes: Buffer): Promise<void> {
    for (let from = 0; from < bytes.length;) {
      const part = bytes.subarray(from, from + CHUNK_BYTES - length)
      chunk.set(part, length)
      length += part.length
      from += part.length
      if (length === CHUNK_BYTES) await sendChunk()
    }
  }

  return new Writable({
    write(bytes: Buffer, _encoding, done) {
      append(bytes).then(() => done(), done)
    },
    final(done) {
      const sent = length > 0 ? sendChunk() : Promise.resolve()
      sent.then(() => port.postMessage(null)).then(() => done(), done)
    },
  })
}
