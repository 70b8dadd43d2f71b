import fp from 'fastify-plugin'
import { createAccountStore, type AccountStore } from './account-store.js'
import { createPasswordHashQueue, type PasswordHashQueue } from './password-hash-queue.js'

declare module 'fastify' {
  interface FastifyInstance {
    accounts: AccountStore
    passwordHashQueue: PasswordHashQueue
  }
}

/** User accounts from ADMIN_ACCOUNTS and from the database. */
export default fp(
  async (app) => {
    app.decorate('accounts', createAccountStore(app.database, app.configuredAccounts))
    app.decorate('passwordHashQueue', createPasswordHashQueue())
  },
  { name: 'account-store', dependencies: ['configured-accounts', 'database'] },
)
