import fp from 'fastify-plugin'
import { createApiKeyStore, type ApiKeyStore } from './api-key-store.js'

declare module 'fastify' {
  interface FastifyInstance {
    apiKeys: ApiKeyStore
  }
}

/** The API keys of integrations. */
export default fp(async (app) => void app.decorate('apiKeys', createApiKeyStore(app.database)), {
  name: 'api-keys',
  dependencies: ['database'],
})
