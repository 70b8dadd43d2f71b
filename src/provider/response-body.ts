import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { toBodyError, UpstreamError } from './upstream-error.js'

export interface UpstreamResponse {
  statusCode: number
  headers: IncomingHttpHeaders
  /**
   * A buffer if the body is small or from an error response, otherwise a stream; `undefined` if
   * there is no body
   */
  body: Buffer | Readable | undefined
}

/** A response body of at most this length is read before any of it is sent to the caller. */
export const MAX_BUFFERED_BYTES = 64 * 1024

/** Time limit for the body of an error response, ms; short, because few callers see the body. */
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

/** Reads the body of an error response; returns an empty buffer if that fails. */
async function readErrorBody(body: Readable): Promise<Buffer> {
  const timer = setTimeout(() => body.destroy(), MAX_ERROR_BODY_MS)
  try {
    return await readBody(body, MAX_BUFFERED_BYTES)
  } catch {
    return Buffer.alloc(0)
  } finally {
    clearTimeout(timer)
  }
}

/** Whether a response has no body, whatever its Content-Length (RFC 9110, section 6.4.1). */
export const isBodiless = (method: string, statusCode: number): boolean =>
  method === 'HEAD' || statusCode === 204 || statusCode === 304

/** Reads a small body completely, so that an interrupted response becomes an error. */
export async function bufferSmallBody(
  method: string,
  { statusCode, headers, body }: Dispatcher.ResponseData,
): Promise<UpstreamResponse> {
  if (isBodiless(method, statusCode)) {
    // If a 304 has a Content-Length, undici expects a body of that length, and fails without it.
    body.on('error', () => undefined).resume()
    return { statusCode, headers, body: undefined }
  }
  if (statusCode >= 400) return { statusCode, headers, body: await readErrorBody(body) }
  const isSmall = Number(headers['content-length'] ?? Infinity) <= MAX_BUFFERED_BYTES
  return { statusCode, headers, body: isSmall ? await readBody(body, MAX_BUFFERED_BYTES) : body }
}
