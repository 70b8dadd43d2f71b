import type { FastifyPluginAsync } from 'fastify'
import { createSignIn } from './sign-in.js'
import pages from './sign-in-pages.js'
import routes from './routes.js'

/** Sign-in and sign-out of administrators, by API and by page. */
const accounts: FastifyPluginAsync = async (app) => {
  const signIn = createSignIn(app)
  await app.register(routes, { signIn })
  await app.register(pages, { signIn })
}

export default accounts
