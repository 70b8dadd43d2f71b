import type { FastifyPluginAsync } from 'fastify'
import { createSignIn } from './sign-in.js'
import pages from './sign-in-pages.js'
import routes from './routes.js'

/** Administrators: logging in and out, by the API and by pages. */
const administrator: FastifyPluginAsync = async (app) => {
  const login = createSignIn(app)
  await app.register(routes, { login })
  await app.register(pages, { login })
}

export default administrator
