import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { Problem } from '../core/http/problem.js'

/** Why a request to the order source failed: HTTP status and message for the caller. */
const FAILURES = {
  unreachable: [502, 'The order source is unreachable. Try again later.'],
  circuit_open: [502, 'The order source is unavailable. Try again in a few seconds.'],
  timeout: [504, 'The order source did not respond in time.'],
  connection_closed: [
    502,
    'The order source closed the connection before it responded. The body may be too large for it.',
  ],
  invalid_response: [502, 'The order source sent an invalid response.'],
  too_large: [502, 'The order source’s response is too large.'],
  token_rejected: [502, 'The order source rejected the API token of this service.'],
  // 499 is what nginx logs; the caller does not receive it.
  cancelled: [499, 'The request was cancelled.'],
} as const satisfies Record<string, readonly [status: number, detail: string]>

type FailureCode = keyof typeof FAILURES

interface Details {
  /** Code of the underlying error, for the log */
  reason?: string | undefined
  /** Whether the provider may have received the request */
  wasSent?: boolean
  headers?: Record<string, string>
}

/** A failed request to the order source. It never contains the provider's address. */
export class UpstreamError extends Problem {
  readonly code: FailureCode
  readonly reason: string | undefined
  readonly wasSent: boolean

  constructor(code: FailureCode, { reason, wasSent = false, headers = {} }: Details = {}) {
    const [status, detail] = FAILURES[code]
    super(status, detail, { headers: { 'cache-control': 'no-store', ...headers } })
    this.code = code
    this.reason = reason
    this.wasSent = wasSent
  }
}

/** Codes of undici's errors; any other code means that the connection failed. */
const CODES: Record<string, FailureCode> = {
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  ETIMEDOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'invalid_response',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'invalid_response',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'too_large',
  UND_ERR_ABORTED: 'cancelled',
}

const getCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined

/** Whether the provider sent something that is not valid HTTP. */
const isParseError = (error: unknown, code = ''): boolean =>
  error instanceof Error &&
  (error.name === 'HTTPParserError' ||
    code.startsWith('HPE_') ||
    (code === 'UND_ERR_SOCKET' && error.message === 'bad response'))

/** Converts an error from the HTTP client. A Problem is returned unchanged. */
export function toUpstreamError(error: unknown, wasSent: boolean): Problem {
  if (error instanceof Problem) return error
  const reason = getCode(error)
  if (reason === 'UND_ERR_INVALID_ARG') return new Problem(400, 'The URL is malformed.')
  const code = isParseError(error, reason) ? 'invalid_response' : CODES[reason ?? '']
  return new UpstreamError(code ?? 'unreachable', { reason, wasSent })
}

/** Whether the connection failed; if there was no response yet, a retry can help. */
export const isConnectionError = (error: unknown): boolean => {
  const failure = toUpstreamError(error, false)
  return failure instanceof UpstreamError && failure.code === 'unreachable'
}

/** Converts an error that interrupts a response body. */
export const toBodyError = (error: unknown): Problem =>
  isConnectionError(error)
    ? new UpstreamError('invalid_response', { reason: getCode(error), wasSent: true })
    : toUpstreamError(error, true)

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
async function readBody(body: Readable, maxBytes: number): Promise<Buffer> {
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

/** Reads the whole body of a response, if it has one. Throws an UpstreamError, as `readBody` does. */
export const readWholeBody = async (
  { body }: Pick<UpstreamResponse, 'body'>,
  maxBytes: number,
): Promise<Buffer | undefined> => (body instanceof Readable ? readBody(body, maxBytes) : body)

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
