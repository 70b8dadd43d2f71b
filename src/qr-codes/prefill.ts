import fp from 'fastify-plugin'
import type { ReadPrefill } from '../calculator/prefill.js'
import { createLinkSigner } from './link-signature.js'
import { createPrefillLinks, type PrefillLinks } from './prefill-link.js'
import { createPrefillReader } from './prefill-view.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Links that fill in a calculator */
    prefillLinks: PrefillLinks
    /** Reads such a link for the calculator pages */
    readPrefill: ReadPrefill
  }
}

/** Signed links that fill in a calculator, as QR codes contain them. */
export default fp(
  async (app) => {
    const links = createPrefillLinks(createLinkSigner(app.config.sessionSecrets), app.publicBaseUrl)
    app.decorate('prefillLinks', links)
    app.decorate('readPrefill', createPrefillReader(links, app.config.TIME_ZONE))
  },
  { name: 'prefill', dependencies: ['config', 'brand'] },
)
