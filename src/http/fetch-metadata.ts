import type { FastifyRequest } from 'fastify'

/** Which site's page made a request, as far as its browser tells. */
export type RequestOrigin = 'own' | 'foreign' | 'unknown'

/**
 * Reads Sec-Fetch-Site or, in browsers that send none (older ones, and over plain http), Origin.
 * What no page made, such as a bookmark, is the user's own.
 *
 * @param baseUrl where the service is reached from outside
 */
export function getRequestOrigin(
  { headers, host }: Pick<FastifyRequest, 'headers' | 'host'>,
  baseUrl: string,
): RequestOrigin {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'none' ? 'own' : 'foreign'
  const { origin } = headers
  if (origin === undefined) return 'unknown'
  // Reached by another name than the public one it is still one site, but never over less.
  const { protocol } = new URL(baseUrl)
  return origin === baseUrl || origin === `${protocol}//${host}` ? 'own' : 'foreign'
}

/** Whether a method may change something (RFC 9110, 9.2.1). */
export const isUnsafeMethod = (method: string): boolean =>
  !['GET', 'HEAD', 'OPTIONS'].includes(method)
