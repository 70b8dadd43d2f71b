import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import serveStatic from '@fastify/static'
import fp from 'fastify-plugin'
import { projectRoot } from '../config/config-part.js'
import { Problem } from '../http/problem.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns the URL of an asset by its plain name (`site.css`); throws if it does not exist. */
    asset: (name: string) => string
  }
}

/** Output of the build: the assets and their manifest. */
export const assetsFolder = join(projectRoot, 'dist', 'assets')
export const assetManifest = join(projectRoot, 'dist', 'assets.json')

/**
 * Serves scripts, styles and images under content-hashed, immutable names, compressed at build time.
 * `commands/build-assets.ts` computes the hashes; this plugin reads its manifest.
 */
export default fp(
  async (app) => {
    const manifest = JSON.parse(readFileSync(assetManifest, 'utf8')) as Record<string, string>
    app.decorate('asset', (name: string) => {
      const file = manifest[name]
      if (file === undefined) throw new Error(`unknown asset: ${name}`)
      return `/assets/${file}`
    })
    await app.register(async (scope) => {
      // Respond with 404 to a path outside the folder.
      scope.setErrorHandler(() => {
        throw new Problem(404, 'This page does not exist.')
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
  { name: 'static-files' },
)
