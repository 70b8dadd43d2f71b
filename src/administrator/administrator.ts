import type { FastifyPluginAsync } from 'fastify'
import { createLogin } from './login.js'
import pages from './pages.js'
import routes from './routes.js'

/** Administrators: logging in and out, by the API and by pages. */
const administrator: FastifyPluginAsync = async (app) => {
  const login = createLogin(app)
  await app.register(routes, { login })
  await app.register(pages, { login })
}

export default administrator
