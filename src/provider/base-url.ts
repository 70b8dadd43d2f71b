import { isLoopback } from '../http/loopback.js'

/** Segments that no reader could take for something else. */
const BASE_PATH = /^(?:\/[\w.~!$&'()*+,=:@-]+)*\/?$/

/**
 * The address that all requests to the order source begin with, without a slash at its end;
 * `null` where it is not one. Only loopback addresses may go without TLS: the token travels along.
 */
export function parseBaseUrl(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || url.username || url.password || url.search || url.hash) return null
  const isSafe =
    url.protocol === 'https:' ||
    (url.protocol === 'http:' && isLoopback(url.hostname.replace(/^\[(.*)\]$/, '$1')))
  return isSafe && BASE_PATH.test(url.pathname)
    ? url.origin + url.pathname.replace(/\/$/, '')
    : null
}
