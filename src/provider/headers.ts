import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { SecretRedactor } from './redact.js'
import type { UpstreamResponse } from './upstream-response.js'

/** Request headers that are forwarded. */
const REQUEST_HEADERS = [
  'accept',
  'accept-language',
  'content-type',
  'content-encoding',
  'content-language',
  'content-length',
  'idempotency-key',
  'if-match',
  'if-none-match',
] as const

/** Response headers that are forwarded, besides cache-control. */
const RESPONSE_HEADERS = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'etag',
  'last-modified',
  'retry-after',
] as const

/** Every header that `toClientHeaders` can set. */
export const CLIENT_HEADERS = [
  ...RESPONSE_HEADERS,
  'cache-control',
  'content-disposition',
  'content-security-policy',
  'vary',
]

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json *(?:;|$)/i

const joinValues = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(', ') : value

/**
 * Headers of every provider request. They refuse compressed responses, which cannot be redacted.
 */
export const createUpstreamHeaders = (token: string) => ({
  authorization: `Bearer ${token}`,
  'accept-encoding': 'identity',
  'user-agent': 'Clearwake',
})

/** Headers of a forwarded request. */
export function toUpstreamHeaders(
  { headers: received, id, body }: FastifyRequest,
  token: string,
): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = { ...createUpstreamHeaders(token), 'x-request-id': id }
  for (const name of REQUEST_HEADERS) {
    const value = joinValues(received[name])
    if (value !== undefined && (body !== undefined || !name.startsWith('content-'))) {
      headers[name] = value
    }
  }
  return headers
}

/** Whether a response has a content coding, such as gzip, although none was requested. */
export const hasContentEncoding = ({ 'content-encoding': coding }: IncomingHttpHeaders): boolean =>
  !/^(identity)?$/i.test(coding?.trim() ?? '')

/**
 * Headers of a forwarded response. Headers that contain the token are dropped. Content other than
 * JSON becomes a sandboxed download, so that it cannot run in our origin. Only responses to
 * requests without credentials may be cached.
 */
export function toClientHeaders(
  { statusCode, headers: received }: Pick<UpstreamResponse, 'statusCode' | 'headers'>,
  request: Pick<FastifyRequest, 'headers'>,
  redactor: SecretRedactor,
): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {}
  const getValue = (name: string): string | undefined => {
    const value = joinValues(received[name])
    return value === undefined || redactor.isIn(value) ? undefined : value
  }
  for (const name of RESPONSE_HEADERS) {
    const value = getValue(name)
    if (value !== undefined) headers[name] = value
  }
  const isEmpty = statusCode === 204 || statusCode === 304
  if (!isEmpty && !JSON_TYPE.test(headers['content-type'] ?? '')) {
    headers['content-disposition'] = 'attachment'
    headers['content-security-policy'] = "sandbox; default-src 'none'; frame-ancestors 'none'"
  }
  const cacheControl = getValue('cache-control')
  const { authorization, cookie } = request.headers
  if (cacheControl !== undefined && authorization === undefined && cookie === undefined) {
    headers['cache-control'] = cacheControl
    headers.vary = 'Accept, Accept-Language, Authorization, Cookie'
  }
  return headers
}
