import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  createValidationProblem,
  Problem,
  problemResponse,
  problemResponses,
  withHeaders,
} from '../core/http/problem.js'
import { buildPaginationLinks } from '../core/http/request-path.js'
import { findFilterErrors, ListQuery } from './order-filters.js'
import {
  getEditPermission,
  getStatusPermission,
  isGuestOrder,
  RECALCULATED_FIELDS,
  requireStatusPermission,
} from './order-permissions.js'
import { calculateTrip, isSameMass, roundToGram } from './order-trip.js'
import { NewOrderRequest, Order, OrderChanges, OrderReference } from './order.js'
import { MAX_EXACT_TOTAL, type ChangeContext, type ChangeResult } from './store/order-store.js'

/** A list of entity tags with optional empty elements (RFC 9110, sections 5.6.1 and 8.8.3). */
const TAGS = /^(?:[ \t]*(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"[ \t]*)?(?:,|$))+$/
const TAG = /(?:W\/)?"[^"]*"/g
const VERSION_TAG = /^(?:W\/)?"([1-9]\d{0,14})"$/

/**
 * Parses If-Match into the versions it lists; `null` if it is missing or `*`. Unknown tags are left
 * out. Weak tags count, unlike in RFC 9110, section 13.1.1, because proxies that compress a response
 * weaken its tag. Throws a Problem (400) if it is malformed.
 */
function parseIfMatch(ifMatch: string | undefined): number[] | null {
  if (ifMatch === undefined || ifMatch.trim() === '*') return null
  const tags = TAGS.test(ifMatch) ? ifMatch.match(TAG) : null
  if (tags === null) {
    throw new Problem(
      400,
      'If-Match must be one or more ETags in quotes, separated by commas, such as "4", or *.',
    )
  }
  return tags.flatMap((tag) => VERSION_TAG.exec(tag)?.[1] ?? []).map(Number)
}

const formatEtag = (version: number): string => `"${version}"`

/** Large enough for the longest notes, escaped in JSON. */
const BODY_LIMIT = 128 * 1024

const OrderPage = Type.Object(
  {
    items: Type.Array(Order),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    totalItems: Type.Integer({ description: 'Number of matching orders on all pages' }),
    isTotalExact: Type.Boolean({
      description: `Whether totalItems is exact. It always is up to ${MAX_EXACT_TOTAL.toLocaleString('en')} orders. A larger number is estimated for a search, and is ${MAX_EXACT_TOTAL.toLocaleString('en')} for more matches of filters other than status, currency and date`,
    }),
    totalPages: Type.Integer({ description: 'At least the next page, if totalItems is not exact' }),
  },
  { title: 'Page of orders' },
)

const ETag = Type.String({ description: 'Version of the order, for If-Match' })
const Location = Type.String({ description: 'URL of the order' })
const Warning = Type.String({ description: 'Present if co2eKg differs from the trip' })
const Link = Type.String({ description: 'First, previous, next and last page (RFC 8288)' })

const OrderResponse = withHeaders(Order, { ETag })
const ChangedOrder = Type.Union([Order, OrderReference], {
  description: 'The order; only its id, status and version if the API key lacks orders:read',
})
const changeResponses = {
  200: withHeaders(ChangedOrder, { ETag }),
  412: problemResponse('If-Match does not contain the current version of the order', {
    headers: { ETag: Type.String({ description: 'Current version of the order' }) },
  }),
  ...problemResponses,
}

const History = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        at: Type.String({ format: 'date-time' }),
        by: Type.String({
          description: 'Who made the change: the email of a user, or the name of an API key',
        }),
        version: Type.Integer({ description: 'Version that the change created' }),
        changes: Type.Array(
          Type.Object({ field: Type.String(), from: Type.Unknown(), to: Type.Unknown() }),
          { description: 'Empty for the creation of the order' },
        ),
      }),
      { description: 'Newest first' },
    ),
  },
  { title: 'History of an order' },
)

const OrderId = Type.Object({ id: Type.String({ description: 'ID of the order' }) })

const IfMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      description:
        'One or more ETags in quotes, separated by commas, or *. If none is the current version of the order, the response is 412. Weak ETags (W/) count, because proxies that compress weaken them',
    }),
  ),
})

const IdempotencyKey = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Makes retries safe for 30 days: they return the order that the first request created',
    }),
  ),
})

const tags = ['Orders']
const createNotFoundProblem = (): Problem => new Problem(404, 'Order not found.')

const getContext = (request: FastifyRequest): ChangeContext => ({
  by: request.actor,
  ifVersions: parseIfMatch(request.headers['if-match']),
})

/** Sends an order with its ETag. */
const sendOrder = (reply: FastifyReply, order: Order) =>
  reply.header('etag', formatEtag(order.version)).send(order)

/** Sends an order after a change, or only a reference to a caller who may not read orders. */
function sendChange(request: FastifyRequest, reply: FastifyReply, order: Order) {
  const { id, status, version } = order
  reply.header('etag', formatEtag(version))
  // Without validation: a value that was written into NocoDB by hand may be invalid.
  reply.type('application/json; charset=utf-8').serializer(JSON.stringify)
  return reply.send(request.can('orders:read') ? order : { id, status, version })
}

/** Returns the order after a change; throws a Problem if the change was rejected. */
function getChangedOrder(result: ChangeResult): Order {
  switch (result.outcome) {
    case 'changed':
    case 'unchanged':
      return result.order
    case 'not_found':
      throw createNotFoundProblem()
    case 'version_conflict': {
      const etag = formatEtag(result.order.version)
      throw new Problem(412, `If-Match does not match the order: its current ETag is ${etag}.`, {
        headers: { etag },
      })
    }
    case 'invalid_transition': {
      const { order, transitions } = result
      const detail =
        transitions.length > 0
          ? `An order with status ${order.status} can only change to ${transitions.join(', ')}.`
          : `An order with status ${order.status} cannot change to another status.`
      throw new Problem(409, detail, { members: { possibleStatuses: transitions } })
    }
  }
}

const routes: FastifyPluginAsyncTypebox = async (app) => {
  const { orders: store } = app

  /** Throws a Problem (403) if the caller may not edit these fields of the order. */
  async function requireEditPermission(
    request: FastifyRequest,
    id: string,
    fields: readonly string[],
  ): Promise<void> {
    const order = await store.get(id)
    if (order === null) return
    request.requirePermission(getEditPermission(order, fields))
    // Emails contain the private link of a guest's order, so the new address can read the order.
    if (isGuestOrder(order) && fields.includes('customerEmail')) {
      request.requirePermission('orders:read')
    }
  }

  app.get(
    '/api/admin/orders',
    {
      config: { permission: 'orders:read' },
      schema: {
        tags,
        operationId: 'listOrders',
        summary: 'List orders',
        querystring: ListQuery,
        response: { 200: withHeaders(OrderPage, { Link }), ...problemResponses },
      },
    },
    async ({ query, url }, reply) => {
      const { sort, page, pageSize, ...filters } = query
      const errors = findFilterErrors(filters)
      if (errors.length > 0) throw createValidationProblem(errors)
      const slice = { sort, offset: (page - 1) * pageSize, limit: pageSize }
      const { items, total, isTotalExact } = await store.list(filters, slice)
      const isLast = isTotalExact || items.length < pageSize
      const totalPages = Math.max(Math.ceil(total / pageSize), isLast ? 0 : page + 1)
      void reply.header('link', buildPaginationLinks(url, page, totalPages))
      return { items, page, pageSize, totalItems: total, isTotalExact, totalPages }
    },
  )

  app.post(
    '/api/admin/orders',
    {
      config: { permission: 'orders:write' },
      bodyLimit: BODY_LIMIT,
      schema: {
        tags,
        operationId: 'createOrder',
        summary: 'Create an order',
        headers: IdempotencyKey,
        body: NewOrderRequest,
        response: {
          201: withHeaders(ChangedOrder, { ETag, Location, 'Clearwake-Warning': Warning }),
          ...problemResponses,
        },
      },
    },
    async (request, reply) => {
      const { body, headers, actor } = request
      request.requirePermission(getStatusPermission(body.status ?? 'pending'))
      const trip = calculateTrip(body)
      // Validation guarantees that the order has a mass or a trip.
      const co2eKg = body.co2eKg ?? roundToGram(trip?.co2eKg ?? 0)
      const key = headers['idempotency-key']
      const created = await store.create({ ...body, co2eKg, origin: 'api' }, actor, key)
      if (created.outcome === 'idempotency_key_reused') {
        throw createValidationProblem([
          { path: 'Idempotency-Key', message: 'was already used for a different order' },
        ])
      }
      const { order } = created
      if (trip !== null && !isSameMass(co2eKg, trip.co2eKg)) {
        const tripKg = roundToGram(trip.co2eKg)
        reply.header('clearwake-warning', `co2eKg differs from the trip, which emits ${tripKg} kg`)
      }
      reply.code(201).header('location', `/api/admin/orders/${order.id}`)
      return sendChange(request, reply, order)
    },
  )

  app.get(
    '/api/admin/orders/:id',
    {
      config: { permission: 'orders:read' },
      schema: {
        tags,
        operationId: 'getOrder',
        summary: 'Get an order',
        params: OrderId,
        response: { 200: OrderResponse, ...problemResponses },
      },
    },
    async ({ params }, reply) => {
      const order = await store.get(params.id)
      if (order === null) throw createNotFoundProblem()
      return sendOrder(reply, order)
    },
  )

  app.patch(
    '/api/admin/orders/:id',
    {
      config: { permission: 'orders:write' },
      bodyLimit: BODY_LIMIT,
      schema: {
        tags,
        operationId: 'updateOrder',
        summary: 'Update an order',
        description:
          'Applies all changes or none. The status can change from pending to paid, processing and fulfilled (steps can be skipped); from paid, processing or fulfilled to refunded; and from cancelled to the status before the cancellation or, if the order had been paid, to refunded. For any other change of status, the response is 409 with possibleStatuses. The statuses paid, processing, fulfilled and refunded, the retirement, and the amount, currency, CO2e and provider order ID of an order that a guest placed also require the scope orders:settle; its email address, the scope orders:read.',
        params: OrderId,
        headers: IfMatch,
        body: OrderChanges,
        response: {
          409: problemResponse('The status transition is not allowed', {
            members: {
              possibleStatuses: Type.Array(Type.String(), {
                description: 'Statuses that the order can change to',
              }),
            },
          }),
          ...changeResponses,
        },
      },
    },
    async (request, reply) => {
      const { params, body } = request
      if (body.status !== undefined) requireStatusPermission(request, body.status)
      await requireEditPermission(request, params.id, Object.keys(body))
      const command = { type: 'edit', changes: body } as const
      const result = await store.apply(params.id, command, getContext(request))
      return sendChange(request, reply, getChangedOrder(result))
    },
  )

  app.delete(
    '/api/admin/orders/:id',
    {
      config: { permission: 'orders:write' },
      schema: {
        tags,
        operationId: 'cancelOrder',
        summary: 'Cancel an order',
        description:
          'The order is kept with the status cancelled, whatever its status, and cancelledFrom contains the status before. Cancelling it again has no effect.',
        params: OrderId,
        headers: IfMatch,
        response: changeResponses,
      },
    },
    async (request, reply) => {
      const result = await store.apply(request.params.id, { type: 'cancel' }, getContext(request))
      return sendChange(request, reply, getChangedOrder(result))
    },
  )

  app.post(
    '/api/admin/orders/:id/recalculate',
    {
      config: { permission: 'orders:write' },
      schema: {
        tags,
        operationId: 'recalculateOrder',
        summary: 'Recalculate an order',
        description:
          'Calculates the CO2e of the trip with the newest emission factors, and records the calculation. The amount does not change. An order without a trip is unchanged.',
        params: OrderId,
        headers: IfMatch,
        response: changeResponses,
      },
    },
    async (request, reply) => {
      const { id } = request.params
      await requireEditPermission(request, id, RECALCULATED_FIELDS)
      const result = await store.apply(id, { type: 'recalculate' }, getContext(request))
      return sendChange(request, reply, getChangedOrder(result))
    },
  )

  app.get(
    '/api/admin/orders/:id/history',
    {
      config: { permission: 'orders:read' },
      schema: {
        tags,
        operationId: 'getOrderHistory',
        summary: 'Get order history',
        params: OrderId,
        response: { 200: History, ...problemResponses },
      },
    },
    async ({ params }) => {
      const items = await store.getHistory(params.id)
      if (items === null) throw createNotFoundProblem()
      return { items }
    },
  )
}

export default routes
