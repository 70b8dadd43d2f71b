import type { Readable } from 'node:stream'
import { toBodyError, UpstreamError } from './upstream-error.js'

/** A response body of at most this length is read before any of it is sent to the caller. */
export const MAX_BUFFERED_BYTES = 64 * 1024

/** Time limit for the body of an error response, which few callers see, ms. */
const MAX_ERROR_BODY_MS = 1_000

/** Reads a response body. Throws an UpstreamError if it is interrupted or too large. */
export async function readBody(body: Readable, maxBytes: number): Promise<Buffer> {
  const source: AsyncIterable<Uint8Array> = body
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of source) {
      length += chunk.length
      if (length > maxBytes) throw new UpstreamError('too_large', { wasSent: true })
      chunks.push(chunk)
    }
  } catch (error) {
    throw toBodyError(error)
  }
  return Buffer.concat(chunks)
}

/** Reads the body of an error response; empty if that fails. */
export async function readErrorBody(body: Readable): Promise<Buffer> {
  const timer = setTimeout(() => body.destroy(), MAX_ERROR_BODY_MS)
  try {
    return await readBody(body, MAX_BUFFERED_BYTES)
  } catch {
    return Buffer.alloc(0)
  } finally {
    clearTimeout(timer)
  }
}
