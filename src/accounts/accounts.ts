import type { FastifyPluginAsync } from 'fastify'
import accountPages from './account-pages.js'
import confirmPages from './confirm-pages.js'
import { createIdentifierHasher } from './hashed-identifier.js'
import { createPendingSignIns } from './pending-sign-in.js'
import secondFactorPages from './second-factor/pages.js'
import { createSecondFactors } from './second-factor/second-factors.js'
import secondFactorSignInPages from './second-factor/sign-in-pages.js'
import passwordPages from './password-pages.js'
import { createSignIn } from './sign-in.js'
import pages from './sign-in-pages.js'
import routes from './routes.js'
import sessionRoutes from './session-routes.js'

/** API routes and pages for sign-in, sign-out, second factors, sessions and users' own accounts. */
const accounts: FastifyPluginAsync = async (app) => {
  const [secret] = app.config.sessionSecrets
  const secondFactors = createSecondFactors(app, createIdentifierHasher(secret))
  const pendingSignIns = createPendingSignIns(app)
  const signIn = createSignIn(app, secondFactors)
  await app.register(routes, { signIn })
  await app.register(pages, { signIn, pendingSignIns, secondFactors })
  await app.register(secondFactorSignInPages, { signIn, secondFactors, pendingSignIns })
  await app.register(secondFactorPages, { secondFactors })
  await app.register(confirmPages, { signIn, secondFactors })
  await app.register(sessionRoutes)
  await app.register(accountPages)
  await app.register(passwordPages)
}

export default accounts
