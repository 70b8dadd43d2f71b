import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import fp from 'fastify-plugin'
import { LOGO_TYPES } from '../config/core-config.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The operator's name, and the URL of its logo; `null` for the built-in logo */
    brand: { name: string; logoUrl: string | null }
  }
}

/** The operator's name and logo, shown in the header of every page. */
export default fp(
  async (app) => {
    const { BRAND_NAME: name, BRAND_LOGO: path } = app.config
    if (!path) {
      app.decorate('brand', { name, logoUrl: null })
      return
    }
    const logo = readFileSync(path)
    const digest = createHash('sha256').update(logo).digest('base64url').slice(0, 12)
    const extension = extname(path).toLowerCase()
    const logoUrl = `/brand/${digest}${extension}`
    app.decorate('brand', { name, logoUrl })
    app.get(logoUrl, { schema: { hide: true } }, async (_request, reply) =>
      reply
        .type(LOGO_TYPES[extension] ?? 'application/octet-stream')
        .header('cache-control', 'public, max-age=31536000, immutable')
        .send(logo),
    )
  },
  { name: 'brand', dependencies: ['config'] },
)
