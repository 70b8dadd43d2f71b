import type { FastifyPluginAsync } from 'fastify'
import { createLogin } from './login.js'
import routes from './routes.js'

/** Administrators: logging in and out. */
const administrator: FastifyPluginAsync = async (app) => {
  await app.register(routes, { login: createLogin(app) })
}

export default administrator
