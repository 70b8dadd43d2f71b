import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { getAuditActor } from '../../audit/audit-log.js'
import { createValidationProblem, Problem, problemResponses } from '../../core/http/problem.js'
import { ApiKey, apiKeyFields, NewApiKeyRequest, validateNewApiKey } from './api-key-store.js'

const { id } = ApiKey.properties

const ApiKeyList = Type.Object(
  { items: Type.Array(ApiKey, { description: 'Newest first' }) },
  { title: 'API keys' },
)

const CreatedApiKey = Type.Object(
  { ...apiKeyFields, key: Type.String({ description: 'The key; it cannot be retrieved again' }) },
  { title: 'Created API key' },
)

const config = { permission: 'api-keys:manage' } as const
const tags = ['API keys']

/** API for owners to manage API keys. */
const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/api/admin/api-keys',
    {
      config,
      schema: {
        tags,
        operationId: 'listApiKeys',
        summary: 'List API keys',
        response: { 200: ApiKeyList, ...problemResponses },
      },
    },
    async () => ({ items: await app.apiKeys.list() }),
  )

  app.post(
    '/api/admin/api-keys',
    {
      config,
      bodyLimit: 16 * 1024,
      // Not compressed, because the size of a compressed response can reveal the key (BREACH).
      compress: false,
      schema: {
        tags,
        operationId: 'createApiKey',
        summary: 'Create an API key',
        body: NewApiKeyRequest,
        response: { 201: CreatedApiKey, ...problemResponses },
      },
    },
    async (request, reply) => {
      const result = validateNewApiKey(request.body)
      if (!result.ok) throw createValidationProblem(result.errors)
      const created = await app.apiKeys.create(result.value, getAuditActor(request))
      return reply.code(201).header('cache-control', 'no-store').send(created)
    },
  )

  app.delete(
    '/api/admin/api-keys/:id',
    {
      config,
      schema: {
        tags,
        operationId: 'revokeApiKey',
        summary: 'Revoke an API key',
        description: 'The key stops working immediately. Revoking it again has no effect.',
        params: Type.Object({ id }),
        response: { 204: Type.Null({ description: 'Revoked' }), ...problemResponses },
      },
    },
    async (request, reply) => {
      const isFound = await app.apiKeys.revoke(request.params.id, getAuditActor(request))
      if (!isFound) throw new Problem(404, 'API key not found.')
      return reply.code(204).send(null)
    },
  )
}

export default routes
