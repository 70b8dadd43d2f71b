import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  createValidationProblem,
  Problem,
  problemResponse,
  problemResponses,
  withHeaders,
} from '../http/problem.js'
import type { ChangeContext, ChangeResult, OrderStore } from '../order-store/order-store.js'
import { formatEtag, parseIfMatch } from '../http/etag.js'
import { ListQuery } from './list-query.js'
import { findFilterErrors } from './order-filters.js'
import { NewOrder, Order, OrderChanges } from './order.js'
import { buildPaginationLinks } from '../http/pagination-links.js'

interface Options {
  store: OrderStore
}

/** Room for the longest notes, escaped in JSON. */
const BODY_LIMIT = 128 * 1024

const OrderPage = Type.Object(
  {
    items: Type.Array(Order),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    totalItems: Type.Integer({ description: 'Orders that match, on all pages' }),
    totalPages: Type.Integer(),
  },
  { title: 'Page of orders' },
)

const ETag = Type.String({ description: 'The version of the order, for If-Match' })
const Location = Type.String({ description: 'Where the order is' })
const Link = Type.String({ description: 'The first, previous, next and last page (RFC 8288)' })

const OrderAnswer = withHeaders(Order, { ETag })
const changeResponses = {
  200: OrderAnswer,
  412: problemResponse('The order has another version than If-Match names', {
    headers: { ETag: Type.String({ description: 'The version that is there now' }) },
  }),
  ...problemResponses,
}

const History = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        at: Type.String({ format: 'date-time' }),
        by: Type.String({ description: 'Who changed it' }),
        version: Type.Integer({ description: 'The version that came of it' }),
        changes: Type.Array(
          Type.Object({ field: Type.String(), from: Type.Unknown(), to: Type.Unknown() }),
          { description: 'None for the first entry, by which the order came into being' },
        ),
      }),
      { description: 'Newest first' },
    ),
  },
  { title: 'History of an order' },
)

const OrderId = Type.Object({ id: Type.String({ description: 'Id of the order' }) })

const IfMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      description:
        'ETag of the version seen, in its quotes, or several, separated by commas, or *; where the order has another by now, 412. A weak one, W/ in front, never matches',
    }),
  ),
})

const IdempotencyKey = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Makes a repeat harmless for 30 days: it answers the order made the first time',
    }),
  ),
})

const tags = ['Orders']
const noSuchOrder = (): Problem => new Problem(404, 'There is no such order.')

const contextOf = (request: FastifyRequest): ChangeContext => ({
  by: request.administrator.email,
  ifVersions: parseIfMatch(request.headers['if-match']),
})

/** Answers with an order, which its ETag goes with. */
const sendOrder = (reply: FastifyReply, order: Order) =>
  reply.header('etag', formatEtag(order.version)).send(order)

/** The order as a change has left it; a Problem where the change was refused. */
function orderAfter(outcome: ChangeResult): Order {
  switch (outcome.outcome) {
    case 'changed':
    case 'unchanged':
      return outcome.order
    case 'not_found':
      throw noSuchOrder()
    case 'version_conflict': {
      const etag = formatEtag(outcome.order.version)
      throw new Problem(412, `This is not the version in If-Match: its ETag is ${etag} now.`, {
        headers: { etag },
      })
    }
    case 'invalid_transition': {
      const { order, transitions } = outcome
      const open =
        transitions.length > 0 ? `can become ${transitions.join(', ')}` : 'stays as it is'
      throw new Problem(409, `An order that is ${order.status} ${open}.`, {
        members: { possibleStatuses: transitions },
      })
    }
  }
}

const routes: FastifyPluginAsyncTypebox<Options> = async (app, { store }) => {
  app.get(
    '/api/admin/orders',
    {
      schema: {
        tags,
        summary: 'List orders',
        querystring: ListQuery,
        response: { 200: withHeaders(OrderPage, { Link }), ...problemResponses },
      },
    },
    async ({ query, url }, reply) => {
      const { sort, page, pageSize, ...filters } = query
      const faults = findFilterErrors(filters)
      if (faults.length > 0) throw createValidationProblem(faults)
      const slice = { sort, offset: (page - 1) * pageSize, limit: pageSize }
      const { items, total } = await store.list(filters, slice)
      const totalPages = Math.ceil(total / pageSize)
      void reply.header('link', buildPaginationLinks(url, page, totalPages))
      return { items, page, pageSize, totalItems: total, totalPages }
    },
  )

  app.post(
    '/api/admin/orders',
    {
      bodyLimit: BODY_LIMIT,
      schema: {
        tags,
        summary: 'Enter an order',
        headers: IdempotencyKey,
        body: NewOrder,
        response: { 201: withHeaders(Order, { ETag, Location }), ...problemResponses },
      },
    },
    async (request, reply) => {
      const key = request.headers['idempotency-key']
      const created = await store.create(request.body, request.administrator.email, key)
      if (created.outcome === 'idempotency_key_reused') {
        throw createValidationProblem([
          { path: 'Idempotency-Key', message: 'was used before, for another order' },
        ])
      }
      const { order } = created
      return sendOrder(reply.code(201).header('location', `/api/admin/orders/${order.id}`), order)
    },
  )

  app.get(
    '/api/admin/orders/:id',
    {
      schema: {
        tags,
        summary: 'Read an order',
        params: OrderId,
        response: { 200: OrderAnswer, ...problemResponses },
      },
    },
    async ({ params }, reply) => {
      const order = store.get(params.id)
      if (order === null) throw noSuchOrder()
      return sendOrder(reply, order)
    },
  )

  app.patch(
    '/api/admin/orders/:id',
    {
      bodyLimit: BODY_LIMIT,
      schema: {
        tags,
        summary: 'Change an order',
        description:
          'All of the changes or none. Statuses move from pending to paid, processing and fulfilled, skipping where need be; from paid on to refunded; from cancelled to pending. Another move is 409 with possibleStatuses.',
        params: OrderId,
        headers: IfMatch,
        body: OrderChanges,
        response: {
          409: problemResponse('There is no such move', {
            members: {
              possibleStatuses: Type.Array(Type.String(), {
                description: 'What the order can become',
              }),
            },
          }),
          ...changeResponses,
        },
      },
    },
    async (request, reply) => {
      const { params, body } = request
      return sendOrder(
        reply,
        orderAfter(
          await store.apply(params.id, { type: 'edit', changes: body }, contextOf(request)),
        ),
      )
    },
  )

  app.delete(
    '/api/admin/orders/:id',
    {
      schema: {
        tags,
        summary: 'Cancel an order',
        description: 'The record stays, as cancelled. Again changes nothing.',
        params: OrderId,
        headers: IfMatch,
        response: changeResponses,
      },
    },
    async (request, reply) =>
      sendOrder(
        reply,
        orderAfter(await store.apply(request.params.id, { type: 'cancel' }, contextOf(request))),
      ),
  )

  app.get(
    '/api/admin/orders/:id/history',
    {
      schema: {
        tags,
        summary: 'What became of an order',
        params: OrderId,
        response: { 200: History, ...problemResponses },
      },
    },
    async ({ params }) => {
      const items = store.getHistory(params.id)
      if (items === null) throw noSuchOrder()
      return { items }
    },
  )
}

export default routes
