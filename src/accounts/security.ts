import fp from 'fastify-plugin'
import accountStore from './account-store-plugin.js'
import apiKeys from './api-keys/api-keys.js'
import auditLog from '../audit/audit.js'
import authGuard from './auth-guard.js'
import flash from '../core/html/flash.js'
import permissions from './require-permission.js'
import session from './session.js'
import settings from './settings.js'

/** Who may do what: accounts, sessions, API keys and permissions, and the log of what they did. */
export default fp(async (app) => {
  await app.register(accountStore)
  await app.register(auditLog)
  await app.register(apiKeys)
  await app.register(session)
  await app.register(permissions)
  await app.register(settings)
  await app.register(flash)
  await app.register(authGuard) // before the features, because it guards their routes
})
