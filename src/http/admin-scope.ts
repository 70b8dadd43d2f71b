import { decodePath } from './request-path.js'

const ROOTS = ['/admin', '/api/admin']
const AREA = /^\/(?:api\/)?admin(?![\w-])/i

/** Whether a path, or a route's, belongs to the administrators: all under /admin and /api/admin. */
export const isAdminPath = (path: string): boolean => AREA.test(path)

/** Whether a route that is not of the area by name serves addresses in it, such as `/*`. */
export function canMatchAdminPath(route: string): boolean {
  const [fixed = ''] = route.split(/[:*]/, 1)
  return fixed !== route && ROOTS.some((root) => root.startsWith(fixed.toLowerCase()))
}

/** Whether an address, as a request has it, lies in the area. */
export const isInAdminScope = (url: string): boolean => isAdminPath(decodePath(url) ?? url)
