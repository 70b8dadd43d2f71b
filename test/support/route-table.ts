import type { FastifyInstance } from 'fastify'

export interface Route {
  method: string
  /** As registered, such as /calculator/:type */
  path: string
}

/** Lists all routes of a service, including HEAD, from the tree that Fastify prints. */
export function routeTable(app: FastifyInstance): Route[] {
  const routes: Route[] = []
  const branch: string[] = []
  // Each leaf is a line such as `└── /api/calculators (GET, HEAD)`.
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent = '', text = ''] = /^([│ ]*(?:[├└]── )?)(.*)$/.exec(line) ?? []
    const [, segment = '', methods = ''] = /^(.*?)(?: \(([A-Z, ]+)\))?$/.exec(text) ?? []
    branch.length = Math.max(0, indent.length / 4 - 1)
    branch.push(segment)
    for (const method of methods.split(', ')) {
      if (method) routes.push({ method, path: branch.join('') })
    }
  }
  return routes
}
