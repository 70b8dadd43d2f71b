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

/** Pages whose path ends with a token or code, as people copy it out of messages. */
const TOKEN_PATH = /^\/(?:o|c|admin\/invitation|admin\/password-reset)\//

/** Pages that read a signed link. */
const SIGNED_PATH = /^\/(?:calculator\/\w+|offset)\?/

/**
 * Characters that are not part of a token, at the end of a path. A match starts only where a run of
 * them starts, because trying every character of a run would take time that grows with its square.
 */
const STUCK = /(?<!%[\da-f]{2}|[^\w?-])(?:%[\da-f]{0,2}|[^\w?%-])+(?=\?|$)/i

/** The text after an order's or a certificate's link, such as `&utm_source=mail` or `%20thanks`. */
const FOLLOWING = /^(\/[oc]\/[\w-]+(?:\/[\w.-]+)?)(?:&|%20)[^?]*/

/**
 * Removes what is stuck to the end of a copied link, such as a full stop, a bracket, `%E2%80%8B` or
 * `?utm_source=…`, and decodes `&amp;`. Tokens and signatures are left as they are.
 */
function repairLink(url: string): string {
  if (TOKEN_PATH.test(url)) return url.replace(FOLLOWING, '$1').replace(STUCK, '')
  return SIGNED_PATH.test(url)
    ? url.replaceAll('&amp;', '&').replace(/([?&]sig=[\w-]+)[^\w&-][^&]*/, '$1')
    : url
}

/**
 * The server's `rewriteUrl`. An absolute URL (RFC 9112, section 3.2.2) is reduced to its path and
 * query, and a copied link is repaired. A URL that cannot be decoded is mapped to a URL that does
 * not exist, because the router would otherwise respond without running any hook.
 */
export function normalizeUrl({ url = '/' }: Pick<IncomingMessage, 'url'>): string {
  const path = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '')
  const local = repairLink(path.startsWith('/') ? path : `/${path === '*' ? '%2A' : path}`)
  if (!local.includes('%') || isDecodable(local)) return local
  return isApiPath(local) ? '/api/%25' : '/%25'
}

const ADMIN_ROOTS = ['/admin', '/api/admin']
const ADMIN_PATH = /^\/(?:api\/)?admin(?![\w-])/i

/** Whether a path or route is in the admin scope: under /admin or /api/admin. */
export const isAdminPath = (path: string): boolean => ADMIN_PATH.test(path)

/** Whether a parametric route outside the admin scope, such as `/*`, can match a path in it. */
export function canMatchAdminPath(route: string): boolean {
  const [fixed = ''] = route.split(/[:*]/, 1)
  return fixed !== route && ADMIN_ROOTS.some((root) => root.startsWith(fixed.toLowerCase()))
}

/** Whether the URL of a request is in the admin scope. */
export const isInAdminScope = (url: string): boolean => isAdminPath(decodePath(url) ?? url)

const MAX_REDIRECT_LENGTH = 4_000

/**
 * Returns a given redirect target if it is a page of this service for signed-in users, otherwise
 * `/admin`. Prevents open redirects.
 */
export function toSafeRedirectPath(given: unknown): string {
  const fallback = '/admin'
  if (typeof given !== 'string' || given.length > MAX_REDIRECT_LENGTH) return fallback
  // Parsed as in browsers, which treat `/\example.com` as another site.
  const base = 'http://service.invalid'
  const url = URL.canParse(given, base) ? new URL(given, base) : null
  if (url?.origin !== base || !/^\/(?:admin|qr-test)(?:$|\/)/.test(url.pathname)) return fallback
  if (/^\/admin\/(?:login|logout|forgot-password|invitation|password-reset)/.test(url.pathname))
    return fallback
  return url.pathname + url.search
}

/** The page in a query string; 1 if it is missing or invalid. */
export const parsePage = (text: unknown): number =>
  typeof text === 'string' && /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 1

/** Builds the Link header (RFC 8288) of a page of a list. */
export function buildPaginationLinks(url: string, page: number, totalPages: number): string {
  // A query may contain question marks.
  const [path = '', ...queries] = url.split('?')
  const query = queries.join('?')
  const last = Math.max(totalPages, 1)
  const link = (rel: string, to: number): string => {
    const parameters = new URLSearchParams(query)
    parameters.set('page', String(to))
    return `<${path}?${parameters.toString()}>; rel="${rel}"`
  }
  return [
    link('first', 1),
    ...(page > 1 ? [link('prev', Math.min(page - 1, last))] : []),
    ...(page < last ? [link('next', page + 1)] : []),
    link('last', last),
  ].join(', ')
}
