import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { problemResponses, withHeaders } from '../http/problem.js'
import { getRequestOrigin } from '../http/fetch-metadata.js'
import { Credentials } from './credentials.js'
import type { SignIn } from './sign-in.js'

const Admin = Type.Object({ email: Type.String() })
const ExpiresAt = Type.String({ format: 'date-time', description: 'When the session ends' })

const LoginAnswer = Type.Object(
  {
    admin: Admin,
    token: Type.String({ description: 'To send as “Authorization: Bearer”' }),
    expiresAt: ExpiresAt,
  },
  { title: 'Login', description: 'Logged in; a cookie is set as well' },
)

const SetCookie = Type.String({ description: 'The session, for browsers' })

const SessionAnswer = Type.Object(
  { admin: Admin, expiresAt: ExpiresAt },
  { title: 'Session', description: 'Who is logged in' },
)

/** Room for the longest password, escaped in JSON, and no more. */
const BODY_LIMIT = 16 * 1024

const routes: FastifyPluginAsyncTypebox<{ login: SignIn }> = async (app, { login }) => {
  app.post(
    '/api/admin/login',
    {
      bodyLimit: BODY_LIMIT,
      config: { openToAll: true },
      // How well it compresses would tell of the token what stands beside it (BREACH).
      compress: false,
      schema: {
        tags: ['Administrators'],
        summary: 'Log in',
        description:
          'Answers a token for integrations and sets the same as a cookie for browsers. Guesses are limited.',
        body: Credentials,
        response: {
          200: withHeaders(LoginAnswer, { 'Set-Cookie': SetCookie }),
          ...problemResponses,
        },
      },
    },
    async (request, reply) => {
      const { email, token, expiresAt } = await login(request, reply, request.body)
      return { admin: { email }, token, expiresAt: expiresAt.toISOString() }
    },
  )

  app.post(
    '/api/admin/logout',
    {
      // A cookie that is worth nothing goes as well, unless another site asks for it.
      onSend: async (request, reply) => {
        const isForeign = getRequestOrigin(request, app.publicBaseUrl()) === 'foreign'
        if (reply.statusCode === 401 && !isForeign) reply.clearSessionCookie()
      },
      schema: {
        tags: ['Administrators'],
        summary: 'Log out: the token is worthless from then on',
        response: {
          204: withHeaders(Type.Null({ description: 'Logged out' }), { 'Set-Cookie': SetCookie }),
          ...problemResponses,
        },
      },
    },
    async (_request, reply) => {
      await reply.endSession()
      return reply.code(204).send(null)
    },
  )

  app.get(
    '/api/admin/verify',
    {
      schema: {
        tags: ['Administrators'],
        summary: 'Tell who is logged in',
        response: { 200: SessionAnswer, ...problemResponses },
      },
    },
    async ({ administrator, adminSession }) => ({
      admin: administrator,
      expiresAt: adminSession.expiresAt.toISOString(),
    }),
  )
}

export default routes
