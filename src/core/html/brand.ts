import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import fp from 'fastify-plugin'
import { LOGO_TYPES, toContactUrl } from '../config/core-config.js'

declare module 'fastify' {
  interface FastifyInstance {
    brand: Brand
  }
}

export interface Brand {
  /** The operator's name */
  name: string
  /** `null` for the built-in logo */
  logoUrl: string | null
  /** Where guests reach the operator; `null` if not configured */
  contactUrl: string | null
}

/** The operator's name and logo, shown in the header of every page, and its contact. */
export default fp(
  async (app) => {
    const { BRAND_NAME: name, BRAND_LOGO: path, CONTACT: contact } = app.config
    const contactUrl = contact === undefined ? null : toContactUrl(contact)
    if (!path) {
      app.decorate('brand', { name, logoUrl: null, contactUrl })
      return
    }
    const logo = readFileSync(path)
    const digest = createHash('sha256').update(logo).digest('base64url').slice(0, 12)
    const extension = extname(path).toLowerCase()
    const logoUrl = `/brand/${digest}${extension}`
    app.decorate('brand', { name, logoUrl, contactUrl })
    app.get(logoUrl, { schema: { hide: true } }, async (_request, reply) =>
      reply
        .type(LOGO_TYPES[extension] ?? 'application/octet-stream')
        .header('cache-control', 'public, max-age=31536000, immutable')
        .send(logo),
    )
  },
  { name: 'brand', dependencies: ['config'] },
)
