import type { ApiKeyScope } from '../accounts/permissions.js'
import { isLoopback } from '../core/http/client-address.js'
import type { Project } from './offset-order.js'

/** Path of the proxy on this service. */
export const MOUNT = '/api/ordersource'

/** Methods that the proxy forwards. */
export const PROXY_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** A path with segments that every parser reads in the same way. */
const BASE_PATH = /^(?:\/[\w.~!$&'()*+,=:@-]+)*\/?$/

/**
 * Parses ORDERSOURCE_BASE_URL and removes a trailing slash; `null` if it is invalid. Only loopback
 * addresses may use http, because every request carries the token.
 */
export function parseBaseUrl(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || url.username || url.password || url.search || url.hash) return null
  const isSecure =
    url.protocol === 'https:' ||
    (url.protocol === 'http:' && isLoopback(url.hostname.replace(/^\[(.*)\]$/, '$1')))
  return isSecure && BASE_PATH.test(url.pathname)
    ? url.origin + url.pathname.replace(/\/$/, '')
    : null
}

/** Characters allowed in a request path; everything else must be percent-encoded. */
const PATH_CHARACTERS = /^\/[\x21\x22\x24-\x5b\x5d-\x7e]*$/

/** Characters that separate or end a path for some parsers, or start another level of escapes. */
const AMBIGUOUS = /[/\\;?#%\p{Cc}\p{Zl}\p{Zp}]/u

/**
 * `.` and `..`, segments that some systems treat as these, and segments that start or end with
 * `..`.
 */
const DOT_SEGMENT = /^[. ]+$|^\.\.|\.\.$/

function decodeSegment(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}

// Some systems map compatibility characters, such as a full-width slash, to their ASCII equivalent.
const isUnambiguous = (segment: string): boolean =>
  [segment, segment.normalize('NFKC')].every(
    (text) => !AMBIGUOUS.test(text) && !DOT_SEGMENT.test(text),
  )

/**
 * Returns the decoded path below the mount. `null` if two parsers could read different paths, for
 * example because of dot segments, empty segments, encoded separators or nested escapes.
 *
 * @param url request target as received, not normalised
 */
export function decodeUpstreamPath(url: string): string | null {
  const [path = ''] = url.split('?', 1)
  if (url.includes('#') || !PATH_CHARACTERS.test(path)) return null
  const segments = path.split('/').map(decodeSegment)
  const isValid = segments.every((segment, index) => {
    // The leading slash makes the first segment empty. A trailing slash, allowed below the mount,
    // makes the last segment empty.
    const canBeEmpty = index === 0 || (index === segments.length - 1 && index > 2)
    return segment === '' ? canBeEmpty : segment !== null && isUnambiguous(segment)
  })
  const decoded = segments.join('/')
  if (!isValid || (decoded !== MOUNT && !decoded.startsWith(`${MOUNT}/`))) return null
  return decoded.slice(MOUNT.length) || '/'
}

/** The scope that an API key needs to call the provider. */
export const getProviderScope = (method: string): ApiKeyScope =>
  method === 'GET' || method === 'HEAD' ? 'provider:read' : 'provider:write'

/** Routes that anyone can call, as `METHOD /path`, with the query parameters that guests may send. */
export type PublicRoutes = ReadonlyMap<string, readonly string[]>

function parseRoute(text: string): [route: string, parameters: string[]] | null {
  const [, method = '', path = '', query] =
    /^([a-z]+) +(\/[^\s?]*)(?:\?([\w.~&-]+))?$/i.exec(text) ?? []
  const decoded = decodeUpstreamPath(MOUNT + path)
  return decoded !== null && PROXY_METHODS.includes(method.toUpperCase())
    ? [`${method.toUpperCase()} ${decoded}`, query?.split('&') ?? []]
    : null
}

/**
 * Parses ORDERSOURCE_PUBLIC_ROUTES: comma-separated `METHOD /path` or `METHOD /path?name&name`, or
 * `none`. `null` if a route is invalid.
 */
export function parsePublicRoutes(text: string): PublicRoutes | null {
  if (text.trim().toLowerCase() === 'none') return new Map()
  const routes = text.split(',').map((part) => parseRoute(part.trim()))
  return routes.every((route) => route !== null) ? new Map(routes) : null
}

/**
 * The part of a guest's request that is sent to the provider: its decoded path, and the query
 * parameters that the route allows, in a fixed order.
 */
export function toGuestPath(routes: PublicRoutes, url: string): string {
  const path = decodeUpstreamPath(url) ?? '/'
  const allowed = routes.get(`GET ${path}`) ?? routes.get(`HEAD ${path}`) ?? []
  const sent = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : '')
  const query = new URLSearchParams(
    allowed.flatMap((name) => sent.getAll(name).map((value): [string, string] => [name, value])),
  )
  return encodeURI(path) + (query.size > 0 ? `?${query.toString()}` : '')
}

/** Whether a route is public. If GET is public, so is HEAD. */
export const isPublicRoute = (routes: PublicRoutes, method: string, path: string): boolean =>
  routes.has(`${method} ${path}`) || (method === 'HEAD' && routes.has(`GET ${path}`))

/** Whether guests can read the portfolios. */
export const arePortfoliosPublic = (config: { ORDERSOURCE_PUBLIC_ROUTES: string }): boolean =>
  isPublicRoute(
    parsePublicRoutes(config.ORDERSOURCE_PUBLIC_ROUTES) ?? new Map(),
    'GET',
    '/portfolios',
  )

/** The page of a project on this service. */
export const getProjectPath = (portfolioId: number, { id }: Pick<Project, 'id'>): string =>
  `/projects/${portfolioId}/${encodeURIComponent(id)}`
