import fp from 'fastify-plugin'
import accountManagement from './account-management.js'
import accountPages from './account-pages.js'
import adminPages from './admin-pages.js'
import apiKeyPages from './api-keys/pages.js'
import apiKeyRoutes from './api-keys/routes.js'
import auditLogRoutes from './audit-log/routes.js'
import confirmPages from './confirm-pages.js'
import { createIdentifierHasher } from '../core/config/signer.js'
import passwordPages from './password-pages.js'
import { createPendingSignIns } from './pending-sign-in.js'
import peoplePages from './people-pages.js'
import routes from './routes.js'
import secondFactorPages from './second-factor/pages.js'
import { createSecondFactors } from './second-factor/second-factors.js'
import secondFactorSignInPages from './second-factor/sign-in-pages.js'
import sessionRoutes from './session-routes.js'
import settingsPages from './settings-pages.js'
import pages from './sign-in-pages.js'
import { createSignIn } from './sign-in.js'

/** API routes and pages for sign-in, second factors, sessions, accounts, API keys and the audit log. */
export default fp(async (app) => {
  const [secret] = app.config.sessionSecrets
  const secondFactors = createSecondFactors(app, createIdentifierHasher(secret))
  const pendingSignIns = createPendingSignIns(app)
  const signIn = createSignIn(app, secondFactors)
  await app.register(routes, { signIn })
  await app.register(sessionRoutes)
  await app.register(apiKeyRoutes)
  await app.register(accountManagement)
  await app.register(auditLogRoutes)
  await app.register(async (scope) => {
    await scope.register(adminPages)
    await scope.register(pages, { signIn, pendingSignIns, secondFactors })
    await scope.register(secondFactorSignInPages, { signIn, secondFactors, pendingSignIns })
    await scope.register(secondFactorPages, { secondFactors })
    await scope.register(confirmPages, { signIn, secondFactors })
    await scope.register(accountPages)
    await scope.register(passwordPages)
  })
  app.portalPages.push(settingsPages, peoplePages, apiKeyPages)
})
