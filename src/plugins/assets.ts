import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import serveStatic from '@fastify/static'
import fp from 'fastify-plugin'
import { projectRoot } from '../config/project-root.js'
import { Problem } from '../http/problem.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The address of an asset, by its plain name (`site.css`); throws where there is none. */
    asset: (name: string) => string
  }
}

/** Where the build puts the assets, and the list of them. */
export const assetsFolder = join(projectRoot, 'dist', 'assets')
export const assetManifest = join(projectRoot, 'dist', 'assets.json')

/**
 * Scripts, styles and pictures, under names that hold a hash of their content: such an address
 * never changes its answer, so it may be kept for ever. Compressed when built, not when asked for.
 */
export default fp(
  async (app) => {
    const manifest = JSON.parse(readFileSync(assetManifest, 'utf8')) as Record<string, string>
    app.decorate('asset', (name: string) => {
      const file = manifest[name]
      if (file === undefined) throw new Error(`no such asset: ${name}`)
      return `/assets/${file}`
    })
    await app.register(async (scope) => {
      // An address that would leave the folder is one where nothing is.
      scope.setErrorHandler(() => {
        throw new Problem(404, 'There is nothing at this address.')
      })
      await scope.register(serveStatic, {
        root: assetsFolder,
        prefix: '/assets/',
        index: false,
        decorateReply: false,
        preCompressed: true,
        cacheControl: false,
        setHeaders: (reply) => {
          void reply.header('cache-control', 'public, max-age=31536000, immutable')
        },
      })
    })
  },
  { name: 'assets' },
)
