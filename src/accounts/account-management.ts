import fp from 'fastify-plugin'
import { createAccountMail, type AccountMail } from './account-mail.js'
import accountRoutes from './account-routes.js'
import adminPages from './admin-pages.js'
import forgotPasswordPages from './forgot-password-pages.js'
import linkPages from './link-pages.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Emails to users about their accounts */
    accountMail: AccountMail
  }
}

/** The API for accounts, and the pages where people set their own password. */
export default fp(
  async (app) => {
    const accountMail = createAccountMail(app)
    app.decorate('accountMail', accountMail)
    if (accountMail.sender) app.outbox.addSender(accountMail.sender)
    await app.register(accountRoutes)
    await app.register(async (scope) => {
      await scope.register(adminPages)
      await scope.register(linkPages)
      await scope.register(forgotPasswordPages)
    })
  },
  { name: 'account-management', dependencies: ['account-store', 'mail', 'outbox'] },
)
