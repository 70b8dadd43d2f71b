import fp from 'fastify-plugin'
import { createAccountMail, type AccountMail } from './account-mail.js'
import accountPages from './account-pages.js'
import accountRoutes from './account-routes.js'
import apiKeyPages from './api-keys/api-key-pages.js'
import apiKeyRoutes from './api-keys/api-key-routes.js'
import auditLogRoutes from './audit-log/audit-log-pages.js'
import passwordPages, { passwordLinkPages } from './password-pages.js'
import peoplePages from './people-pages.js'
import portalScope from './portal-scope.js'
import secondFactorPages from './second-factor/second-factor-pages.js'
import { createSecondFactors, type SecondFactors } from './second-factor/second-factors.js'
import sessionRoutes from './session-routes.js'
import { createPendingSignIns, type PendingSignIns } from './sign-in-cookies.js'
import signInPages, { confirmPages } from './sign-in-pages.js'
import routes from './sign-in-routes.js'
import { createSignIn, type SignIn } from './sign-in.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Emails to users about their accounts */
    accountMail: AccountMail
    pendingSignIns: PendingSignIns
    secondFactors: SecondFactors
    signIn: SignIn
  }
}

/** API routes and pages for sign-in, second factors, sessions, accounts, API keys and the audit log. */
export default fp(
  async (app) => {
    app.decorate('secondFactors', createSecondFactors(app))
    app.decorate('pendingSignIns', createPendingSignIns(app))
    app.decorate('signIn', createSignIn(app))
    app.decorate('accountMail', createAccountMail(app))
    if (app.accountMail.sender) app.outbox.addSender(app.accountMail.sender)
    await app.register(routes)
    await app.register(sessionRoutes)
    await app.register(apiKeyRoutes)
    await app.register(accountRoutes)
    await app.register(auditLogRoutes)
    await app.register(async (scope) => {
      await scope.register(portalScope)
      await scope.register(signInPages)
      await scope.register(secondFactorPages)
      await scope.register(confirmPages)
      await scope.register(accountPages)
      await scope.register(passwordPages)
      await scope.register(passwordLinkPages)
    })
    app.portalPages.push(peoplePages, apiKeyPages)
  },
  { name: 'accounts', dependencies: ['security', 'mail', 'outbox'] },
)
