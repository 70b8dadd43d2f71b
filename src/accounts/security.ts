import fp from 'fastify-plugin'
import auditLog from '../audit/audit.js'
import { createIdentifierHasher, type HashIdentifier } from '../core/config/signer.js'
import flash from '../core/html/flash.js'
import { createAccountStore, type AccountStore } from './account-store.js'
import { createApiKeyStore, type ApiKeyStore } from './api-keys/api-key-store.js'
import authGuard from './auth-guard.js'
import { createPasswords, type Passwords } from './password.js'
import permissions from './require-permission.js'
import session from './session.js'
import settings from './settings.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** User accounts from ADMIN_ACCOUNTS and from the database */
    accounts: AccountStore
    /** The API keys of integrations */
    apiKeys: ApiKeyStore
    hashIdentifier: HashIdentifier
    passwords: Passwords
  }
}

/** Who may do what: accounts, sessions, API keys and permissions, and the log of what they did. */
export default fp(
  async (app) => {
    app.decorate('accounts', createAccountStore(app.database, app.configuredAccounts))
    app.decorate('apiKeys', createApiKeyStore(app.database))
    app.decorate('hashIdentifier', createIdentifierHasher(app.config.sessionSecrets[0]))
    app.decorate('passwords', createPasswords(app))
    await app.register(auditLog)
    await app.register(session)
    await app.register(permissions)
    await app.register(settings)
    await app.register(flash)
    await app.register(authGuard) // before the features, because it guards their routes
  },
  { name: 'security', dependencies: ['configured-accounts', 'database'] },
)
