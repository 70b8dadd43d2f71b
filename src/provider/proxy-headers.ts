import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { SecretRedactor } from './secret-redactor.js'

/**
 * What goes up, if the caller has sent it: what describes the body, what the answer should be, and
 * what it depends on. No cookie, no authorization, no address of the caller, nothing of the
 * connection. Answers are asked for as they are; compressing is for our side to do.
 */
const UP = [
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

/** What comes down, besides cache-control. All else is the service's own business, or its secret. */
const DOWN = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'etag',
  'last-modified',
  'retry-after',
] as const

/** Headers that an answer of the order source sets, or makes necessary. */
export const RESPONSE_ONLY_HEADERS = [
  ...DOWN,
  'vary',
  'content-disposition',
  'content-security-policy',
]

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json *(?:;|$)/i

const textOf = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(', ') : value

/** Headers of a request to the order source. */
export function toUpstreamHeaders(
  given: IncomingHttpHeaders,
  { id, token, hasBody }: { id: string; token: string; hasBody: boolean },
): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {
    authorization: `Bearer ${token}`,
    'accept-encoding': 'identity',
    'user-agent': 'Clearwake',
    'x-request-id': id,
  }
  for (const name of UP) {
    const value = textOf(given[name])
    if (value !== undefined && (hasBody || !name.startsWith('content-'))) headers[name] = value
  }
  return headers
}

/** Whether a body is written in some coding, such as gzip, though none was asked for. */
export const hasContentEncoding = (contentEncoding: string | string[] | number = ''): boolean =>
  !/^(identity)?$/i.test(String(contentEncoding).trim())

/** Nobody in particular asked, so the answer may be the same for all. */
const isAnonymous = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers.authorization === undefined && headers.cookie === undefined

/**
 * Headers of an answer of the order source, as they are handed on. Anything but JSON is to be saved,
 * never shown as a page of ours; only what a caller without credentials gets may be kept by caches.
 * A header that quotes the token is left out.
 */
export function toClientHeaders(
  given: IncomingHttpHeaders,
  request: Pick<FastifyRequest, 'headers'>,
  cover: SecretRedactor,
): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {}
  const valueOf = (name: string): string | undefined => {
    const value = textOf(given[name])
    return value === undefined || cover.isIn(value) ? undefined : value
  }
  for (const name of DOWN) {
    const value = valueOf(name)
    if (value !== undefined) headers[name] = value
  }
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) {
    headers['content-disposition'] = 'attachment'
    headers['content-security-policy'] = "sandbox; default-src 'none'; frame-ancestors 'none'"
  }
  const cacheControl = valueOf('cache-control')
  if (cacheControl !== undefined && isAnonymous(request)) {
    headers['cache-control'] = cacheControl
    headers.vary = 'Accept, Accept-Language, Authorization, Cookie'
  }
  return headers
}
