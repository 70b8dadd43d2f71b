import { decodePath } from './request-path.js'

const ROOTS = ['/admin', '/api/admin']
const ADMIN_PATH = /^\/(?:api\/)?admin(?![\w-])/i

/** Whether a path or route is in the admin scope: under /admin or /api/admin. */
export const isAdminPath = (path: string): boolean => ADMIN_PATH.test(path)

/** Whether a parametric route outside the admin scope, such as `/*`, can match a path in it. */
export function canMatchAdminPath(route: string): boolean {
  const [fixed = ''] = route.split(/[:*]/, 1)
  return fixed !== route && ROOTS.some((root) => root.startsWith(fixed.toLowerCase()))
}

/** Whether the URL of a request is in the admin scope. */
export const isInAdminScope = (url: string): boolean => isAdminPath(decodePath(url) ?? url)
