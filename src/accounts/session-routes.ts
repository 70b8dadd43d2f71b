import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { Problem, problemResponses } from '../core/http/problem.js'
import { toIsoTime } from '../core/time.js'
import { getBrowserName } from './session-store.js'
import { getUser } from './session.js'

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

const config = { permission: 'account:own' } as const
const tags = ['Administrators']

/** Ends a session of the user who makes the request; returns whether it existed. */
export async function endOwnSession(request: FastifyRequest, id: string): Promise<boolean> {
  const { server: app, log } = request
  const { email } = getUser(request)
  if (!(await app.sessions.end(email, id))) return false
  log.info({ email, session: id }, 'session ended')
  await app.auditLog.record(request, { action: 'session.revoked', details: { session: id } })
  return true
}

/** Ends the sessions of the user, except the one that makes the request. */
export async function endOtherSessions(request: FastifyRequest): Promise<void> {
  const { server: app, log } = request
  const { email, session } = getUser(request)
  await app.sessions.endOthers(email, session.id)
  log.info({ email }, 'other sessions ended')
  await app.auditLog.record(request, { action: 'session.revoked', details: { others: true } })
}

/** API for the sessions of the current user. */
const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/api/admin/sessions',
    {
      config,
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
          createdAt: toIsoTime(session.createdAt),
          lastSeenAt: toIsoTime(session.lastSeenAt),
          expiresAt: toIsoTime(session.expiresAt),
        })),
      }
    },
  )

  app.delete(
    '/api/admin/sessions',
    {
      config,
      schema: {
        tags,
        operationId: 'endOtherSessions',
        summary: 'End your other sessions',
        description: 'Ends all your sessions immediately, except the one that sends this request.',
        response: { 204: Type.Null({ description: 'Ended' }), ...problemResponses },
      },
    },
    async (request, reply) => {
      await endOtherSessions(request)
      return reply.code(204).send(null)
    },
  )

  app.delete(
    '/api/admin/sessions/:id',
    {
      config,
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
      if (!(await endOwnSession(request, request.params.id))) {
        throw new Problem(404, 'Session not found.')
      }
      return reply.code(204).send(null)
    },
  )
}

export default routes
