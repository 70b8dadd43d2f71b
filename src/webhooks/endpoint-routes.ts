import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type, type Static } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { getAuditActor } from '../audit/audit-log.js'
import { problemResponse, problemResponses, withHeaders } from '../core/http/problem.js'
import { buildPaginationLinks } from '../core/http/request-path.js'
import type { Delivery } from '../outbox/read-messages.js'
import {
  createWebhookValidators,
  DeliveryQuery,
  NewWebhook,
  ReplayRequest,
  Webhook,
  WebhookChanges,
  WebhookDelivery,
  WebhookDeliveryPage,
  WebhookList,
  WebhookWithSecret,
} from './endpoint-schemas.js'
import type { WebhookEndpoint } from './endpoint-store.js'
import { logWebhookChange, MAX_ENDPOINTS } from './endpoints.js'

const toIso = (ms: number): string => new Date(ms).toISOString()
const toIsoOrNull = (ms: number | null): string | null => (ms === null ? null : toIso(ms))

/** An endpoint as the API returns it. */
const toWebhook = (endpoint: WebhookEndpoint): Static<typeof Webhook> => ({
  id: endpoint.id,
  url: endpoint.url,
  description: endpoint.description,
  events: endpoint.events,
  enabled: endpoint.disabledReason === null,
  disabledReason: endpoint.disabledReason,
  disabledAt: toIsoOrNull(endpoint.disabledAt),
  failingSince: toIsoOrNull(endpoint.failingSince),
  previousSecretExpiresAt: toIsoOrNull(endpoint.previousSecretExpiresAt),
  createdAt: toIso(endpoint.createdAt),
  updatedAt: toIso(endpoint.updatedAt),
})

/** A delivery as the API returns it. */
const toWebhookDelivery = ({ message, attempts }: Delivery): Static<typeof WebhookDelivery> => ({
  id: message.id,
  type: message.type,
  orderId: message.orderId,
  state: message.state,
  attempts: attempts.map(({ at, durationMs, status, detail }) => ({
    at: toIso(at),
    durationMs,
    status,
    detail,
  })),
  createdAt: toIso(message.createdAt),
  nextAttemptAt: message.state === 'pending' ? toIso(message.nextAttemptAt) : null,
  finishedAt: toIsoOrNull(message.finishedAt),
})

const PATH = '/api/admin/webhooks'
const tags = ['Webhooks']
const config = { permission: 'webhooks:manage' } as const

const NEEDS_ORDERS = 'An API key also needs the scope orders:read'

/** Throws a Problem (403) if the caller would receive orders, but may not read them. */
function requireOrderAccess(request: FastifyRequest, types: readonly string[]): void {
  if (types.some((type) => type.startsWith('order.'))) request.requirePermission('orders:read')
}

const WebhookId = Type.Object({ id: Type.String({ description: 'ID of the endpoint' }) })
const DeliveryId = Type.Object({
  ...WebhookId.properties,
  deliveryId: Type.String({ description: 'ID of the delivery' }),
})
const Location = Type.String({ description: 'URL of the endpoint' })
const Link = Type.String({ description: 'First, previous, next and last page (RFC 8288)' })

const disabledResponse = problemResponse('The endpoint is disabled')

/** API for webhook endpoints and their deliveries. */
const routes: FastifyPluginAsyncTypebox = async (app) => {
  const { webhooks } = app
  const validators = createWebhookValidators(webhooks.allowLoopback)
  app.setValidatorCompiler(({ schema, httpPart }) =>
    httpPart === 'body'
      ? validators.strict(schema as object)
      : validators.converter(schema as object),
  )

  app.get(
    PATH,
    {
      config,
      schema: {
        tags,
        operationId: 'listWebhooks',
        summary: 'List webhook endpoints',
        response: { 200: WebhookList, ...problemResponses },
      },
    },
    async () => ({ items: (await webhooks.list()).map(toWebhook) }),
  )

  app.post(
    PATH,
    {
      config,
      // Not compressed, because the size of a compressed response can reveal the secret (BREACH).
      compress: false,
      schema: {
        tags,
        operationId: 'createWebhook',
        summary: 'Create a webhook endpoint',
        description: `The response contains the signing secret, which cannot be retrieved again. ${NEEDS_ORDERS} for events of orders.`,
        body: NewWebhook,
        response: {
          201: withHeaders(WebhookWithSecret, { Location }),
          409: problemResponse(`The limit of ${MAX_ENDPOINTS} endpoints is reached`),
          ...problemResponses,
        },
      },
    },
    async (request, reply) => {
      requireOrderAccess(request, request.body.events)
      const { endpoint, secret } = await webhooks.create(request.body, getAuditActor(request))
      logWebhookChange(request, endpoint.id, 'created')
      reply.code(201).header('location', `${PATH}/${endpoint.id}`)
      return { ...toWebhook(endpoint), secret }
    },
  )

  app.get(
    `${PATH}/:id`,
    {
      config,
      schema: {
        tags,
        operationId: 'getWebhook',
        summary: 'Get a webhook endpoint',
        params: WebhookId,
        response: { 200: Webhook, ...problemResponses },
      },
    },
    async ({ params }) => toWebhook(await webhooks.get(params.id)),
  )

  app.patch(
    `${PATH}/:id`,
    {
      config,
      schema: {
        tags,
        operationId: 'updateWebhook',
        summary: 'Update a webhook endpoint',
        description: `Pending deliveries are sent to the new URL. ${NEEDS_ORDERS} for events of orders.`,
        params: WebhookId,
        body: WebhookChanges,
        response: { 200: Webhook, ...problemResponses },
      },
    },
    async (request) => {
      const { body, params } = request
      const { events } = await webhooks.get(params.id)
      requireOrderAccess(request, [...events, ...(body.events ?? [])])
      const endpoint = await webhooks.update(params.id, body, getAuditActor(request))
      logWebhookChange(request, params.id, 'updated')
      return toWebhook(endpoint)
    },
  )

  app.delete(
    `${PATH}/:id`,
    {
      config,
      schema: {
        tags,
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook endpoint',
        description: 'Pending deliveries are cancelled.',
        params: WebhookId,
        response: {
          204: Type.Null({ description: 'The endpoint was deleted' }),
          ...problemResponses,
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params
      await webhooks.delete(id, getAuditActor(request))
      logWebhookChange(request, id, 'deleted')
      return reply.code(204).send(null)
    },
  )

  app.post(
    `${PATH}/:id/test`,
    {
      config,
      schema: {
        tags,
        operationId: 'testWebhook',
        summary: 'Send a test event',
        description:
          'Queues an event of type webhook.test, even for a disabled endpoint. It is sent once, without retries.',
        params: WebhookId,
        response: { 202: WebhookDelivery, ...problemResponses },
      },
    },
    async ({ params }, reply) =>
      reply.code(202).send(toWebhookDelivery(await webhooks.sendTest(params.id))),
  )

  app.post(
    `${PATH}/:id/rotate-secret`,
    {
      config,
      compress: false,
      schema: {
        tags,
        operationId: 'rotateWebhookSecret',
        summary: 'Rotate the secret of a webhook endpoint',
        description:
          'Returns a new secret. For 24 hours, deliveries are signed with the new and the previous one. Another rotation invalidates the older one immediately.',
        params: WebhookId,
        response: { 200: WebhookWithSecret, ...problemResponses },
      },
    },
    async (request) => {
      const { id } = request.params
      const { endpoint, secret } = await webhooks.rotateSecret(id, getAuditActor(request))
      logWebhookChange(request, id, 'secret rotated')
      return { ...toWebhook(endpoint), secret }
    },
  )

  app.get(
    `${PATH}/:id/deliveries`,
    {
      config,
      schema: {
        tags,
        operationId: 'listDeliveries',
        summary: 'List deliveries to a webhook endpoint',
        description: `Deliveries are kept for 30 days after they finish. ${NEEDS_ORDERS}.`,
        params: WebhookId,
        querystring: DeliveryQuery,
        response: { 200: withHeaders(WebhookDeliveryPage, { Link }), ...problemResponses },
      },
    },
    async (request, reply) => {
      const { params, query, url } = request
      const { page, pageSize } = query
      await webhooks.get(params.id)
      request.requirePermission('orders:read') // responses of receivers can quote orders
      const slice = { limit: pageSize, offset: (page - 1) * pageSize }
      const { items, total } = await webhooks.listDeliveries(params.id, slice)
      const totalPages = Math.ceil(total / pageSize)
      reply.header('link', buildPaginationLinks(url, page, totalPages))
      return { items: items.map(toWebhookDelivery), page, pageSize, totalItems: total, totalPages }
    },
  )

  app.post(
    `${PATH}/:id/deliveries/:deliveryId/replay`,
    {
      config,
      schema: {
        tags,
        operationId: 'replayDelivery',
        summary: 'Replay a delivery',
        description: `Sends the delivery again as soon as possible, with the same webhook-id. ${NEEDS_ORDERS}.`,
        params: DeliveryId,
        response: { 202: WebhookDelivery, 409: disabledResponse, ...problemResponses },
      },
    },
    async (request, reply) => {
      const { id, deliveryId } = request.params
      await webhooks.requireReplayable(id)
      request.requirePermission('orders:read')
      const delivery = await webhooks.replay(id, deliveryId)
      return reply.code(202).send(toWebhookDelivery(delivery))
    },
  )

  app.post(
    `${PATH}/:id/replay`,
    {
      config,
      schema: {
        tags,
        operationId: 'replayDeliveries',
        summary: 'Replay deliveries since a time',
        description: `${NEEDS_ORDERS}.`,
        params: WebhookId,
        body: ReplayRequest,
        response: {
          202: Type.Object(
            { replayed: Type.Integer({ description: 'Number of deliveries' }) },
            { title: 'Replayed deliveries' },
          ),
          409: disabledResponse,
          ...problemResponses,
        },
      },
    },
    async (request, reply) => {
      const { params, body } = request
      const { id } = params
      await webhooks.requireReplayable(id)
      request.requirePermission('orders:read')
      const { since, failedOnly = false } = body
      const replayed = await webhooks.replaySince(id, { since: Date.parse(since), failedOnly })
      return reply.code(202).send({ replayed })
    },
  )
}

export default routes
