import { MOUNT, toUpstreamPath } from './upstream-path.js'

/** Methods that are relayed. */
export const RELAYED_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Stands for an empty list, as a blank variable is one not set. */
const NONE = 'none'

/** What everybody may call, as `METHOD /path`. */
export type PublicRoutes = ReadonlySet<string>

function route(text: string): string | null {
  const [, method = '', path = ''] = /^([a-z]+) +(\/\S*)$/i.exec(text) ?? []
  const verb = method.toUpperCase()
  const decoded = path.includes('?') ? null : toUpstreamPath(MOUNT + path)
  return decoded !== null && RELAYED_METHODS.includes(verb) ? `${verb} ${decoded}` : null
}

/**
 * Reads ORDERSOURCE_PUBLIC_ROUTES: `METHOD /path`, comma-separated, or `none`. `null` where any
 * is not such a route.
 */
export function parsePublicRoutes(text: string): PublicRoutes | null {
  if (text.trim().toLowerCase() === NONE) return new Set()
  const routes = text.split(',').map((part) => route(part.trim()))
  return routes.every((one) => one !== null) ? new Set(routes) : null
}

/** Whether everybody may call this. HEAD goes with GET. */
export const isPublic = (routes: PublicRoutes, method: string, path: string): boolean =>
  routes.has(`${method} ${path}`) || (method === 'HEAD' && routes.has(`GET ${path}`))

/** Whether guests may see what can be offset with. */
export const arePortfoliosPublic = (given: { ORDERSOURCE_PUBLIC_ROUTES: string }): boolean =>
  isPublic(parsePublicRoutes(given.ORDERSOURCE_PUBLIC_ROUTES) ?? new Set(), 'GET', '/portfolios')
