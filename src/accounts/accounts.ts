import type { FastifyPluginAsync } from 'fastify'
import accountPages from './account-pages.js'
import passwordPages from './password-pages.js'
import { createSignIn } from './sign-in.js'
import pages from './sign-in-pages.js'
import routes from './routes.js'
import sessionRoutes from './session-routes.js'

/** Sign-in, sign-out and sessions of administrators, by API and by page. */
const accounts: FastifyPluginAsync = async (app) => {
  const signIn = createSignIn(app)
  await app.register(routes, { signIn })
  await app.register(pages, { signIn })
  await app.register(sessionRoutes)
  await app.register(accountPages)
  await app.register(passwordPages)
}

export default accounts
