import type { FastifyPluginAsync } from 'fastify'
import pages from './pages.js'
import type { ReadPrefill } from './prefill-reading.js'
import routes from './routes.js'

/** The calculators: their API and their pages, the home page included. */
const calculator: FastifyPluginAsync<{ readPrefill: ReadPrefill }> = async (app, options) => {
  await app.register(routes)
  await app.register(pages, options)
}

export default calculator
