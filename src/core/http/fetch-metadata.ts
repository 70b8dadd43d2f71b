import type { FastifyRequest } from 'fastify'

type RequestOrigin = 'same-origin' | 'cross-origin' | 'unknown'

/**
 * Returns the origin of the page that made a request, for CSRF protection. Uses Sec-Fetch-Site, or
 * Origin if the browser did not send Sec-Fetch-Site, for example over plain http. A request that no
 * page made, such as a bookmark, counts as same-origin.
 *
 * @param baseUrl public origin of the service
 */
export function getRequestOrigin(
  { headers, host }: Pick<FastifyRequest, 'headers' | 'host'>,
  baseUrl: string,
): RequestOrigin {
  const site = headers['sec-fetch-site']
  if (site !== undefined)
    return site === 'same-origin' || site === 'none' ? 'same-origin' : 'cross-origin'
  const { origin } = headers
  if (origin === undefined) return 'unknown'
  // The service may have another host name as well, but only with the same protocol.
  const { protocol } = new URL(baseUrl)
  return origin === baseUrl || origin === `${protocol}//${host}` ? 'same-origin' : 'cross-origin'
}

/** Whether a method can change state (RFC 9110, section 9.2.1). */
export const isUnsafeMethod = (method: string): boolean =>
  !['GET', 'HEAD', 'OPTIONS'].includes(method)
