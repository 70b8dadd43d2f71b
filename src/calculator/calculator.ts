import type { FastifyPluginAsync } from 'fastify'
import pages, { type PageOptions } from './pages.js'
import routes from './routes.js'

/** The calculators: API and pages, including the home page. */
const calculator: FastifyPluginAsync<PageOptions> = async (app, options) => {
  await app.register(routes)
  await app.register(pages, options)
}

export default calculator
