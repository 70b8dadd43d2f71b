import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { Problem, problemResponses } from '../core/http/problem.js'
import { getBrowserName } from './browser-name.js'
import { getUser } from './principal.js'

const dateTime = (description: string) => Type.String({ format: 'date-time', description })

const id = Type.String({ description: 'ID of the session' })

const SessionList = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        id,
        current: Type.Boolean({ description: 'Whether this request belongs to the session' }),
        browser: Type.String({ description: 'Browser or program, such as “Firefox on Windows”' }),
        address: Type.String({ description: 'Network address from which the user signed in' }),
        createdAt: dateTime('When the user signed in'),
        lastSeenAt: dateTime('When the session was last used, to within a minute'),
        expiresAt: dateTime('When the session expires'),
      }),
      { description: 'The most recently used first; at most 100' },
    ),
  },
  { title: 'Sessions' },
)

const tags = ['Administrators']

const formatTime = (time: number): string => new Date(time).toISOString()

/** API for the sessions of the current user. */
const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/api/admin/sessions',
    {
      config: { permission: 'account:own' },
      schema: {
        tags,
        operationId: 'listSessions',
        summary: 'List your sessions',
        response: { 200: SessionList, ...problemResponses },
      },
    },
    async (request) => {
      const user = getUser(request)
      const sessions = await app.sessions.list(user)
      return {
        items: sessions.map((session) => ({
          id: session.id,
          current: session.id === user.session.id,
          browser: getBrowserName(session.userAgent),
          address: session.address,
          createdAt: formatTime(session.createdAt),
          lastSeenAt: formatTime(session.lastSeenAt),
          expiresAt: formatTime(session.expiresAt),
        })),
      }
    },
  )

  app.delete(
    '/api/admin/sessions',
    {
      config: { permission: 'account:own' },
      schema: {
        tags,
        operationId: 'endOtherSessions',
        summary: 'End your other sessions',
        description: 'Ends all your sessions immediately, except the one that sends this request.',
        response: { 204: Type.Null({ description: 'Ended' }), ...problemResponses },
      },
    },
    async (request, reply) => {
      const { log } = request
      const { email, session } = getUser(request)
      await app.sessions.endOthers(email, session.id)
      log.info({ email }, 'other sessions ended')
      await app.auditLog.record(request, { action: 'session.revoked', details: { others: true } })
      return reply.code(204).send(null)
    },
  )

  app.delete(
    '/api/admin/sessions/:id',
    {
      config: { permission: 'account:own' },
      schema: {
        tags,
        operationId: 'endSession',
        summary: 'End one of your sessions',
        description: 'Its token stops working immediately.',
        params: Type.Object({ id }),
        response: { 204: Type.Null({ description: 'Ended' }), ...problemResponses },
      },
    },
    async (request, reply) => {
      const { params, log } = request
      const { email } = getUser(request)
      if (!(await app.sessions.end(email, params.id))) throw new Problem(404, 'Session not found.')
      log.info({ email, session: params.id }, 'session ended')
      const details = { session: params.id }
      await app.auditLog.record(request, { action: 'session.revoked', details })
      return reply.code(204).send(null)
    },
  )
}

export default routes
