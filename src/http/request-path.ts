import type { IncomingMessage } from 'node:http'

const getPath = (url: string): string => url.split('?', 1)[0] ?? ''

/** Decodes the path of a URL; `null` if it cannot be decoded. */
export function decodePath(url: string): string | null {
  try {
    return decodeURI(getPath(url))
  } catch {
    return null
  }
}

/** Whether the path of a URL can be decoded and has no NUL, which PostgreSQL cannot store. */
export const isDecodable = (url: string): boolean => decodePath(url)?.includes('\0') === false

/** Whether a URL belongs to the JSON API; all others are pages. */
export const isApiPath = (url: string): boolean =>
  /^\/api(?:[/?]|$)/.test(url.includes('%') ? (decodePath(url) ?? url) : url)

/**
 * The server's `rewriteUrl`. An absolute URL (RFC 9112, section 3.2.2) is reduced to its path and
 * query. A URL that cannot be decoded is mapped to a URL that does not exist, because the router
 * would otherwise respond without running any hook.
 */
export function normalizeUrl({ url = '/' }: Pick<IncomingMessage, 'url'>): string {
  const path = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '')
  const local = path.startsWith('/') ? path : `/${path === '*' ? '%2A' : path}`
  if (!local.includes('%') || isDecodable(local)) return local
  return isApiPath(local) ? '/api/%25' : '/%25'
}
