import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { Problem, problemResponses, withHeaders } from '../core/http/problem.js'
import { toIsoTime } from '../core/time.js'
import { Credentials, RoleSchema } from './account-schemas.js'
import { getUser } from './session.js'
import { handleSignOutError } from './sign-in-pages.js'

const SignInRequest = Type.Object(
  {
    ...Credentials.properties,
    code: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 40,
        description: 'Code from the authenticator app, or a recovery code',
      }),
    ),
  },
  {
    title: 'Credentials',
    additionalProperties: false,
    examples: Credentials.examples as unknown[],
  },
)

const createCodeRequiredProblem = (): Problem =>
  new Problem(401, 'Send the code from the authenticator app, or a recovery code, as “code”.', {
    headers: { 'www-authenticate': 'Bearer' },
    errors: [{ path: 'code', message: 'is required' }],
  })

const Admin = Type.Object({ email: Type.String(), role: RoleSchema })
const ExpiresAt = Type.String({
  format: 'date-time',
  description:
    "When the session expires; an owner's session that is not used for 30 minutes ends earlier",
})

const SignInResponse = Type.Object(
  {
    admin: Admin,
    token: Type.String({ description: 'Send it as “Authorization: Bearer”' }),
    expiresAt: ExpiresAt,
  },
  { title: 'SignIn', description: 'Signed in; the response also sets a cookie' },
)

const SetCookie = Type.String({ description: 'The session cookie, for browsers' })

const SessionResponse = Type.Object(
  { admin: Admin, expiresAt: ExpiresAt },
  { title: 'Session', description: 'The current user' },
)

/** Enough for the longest password, escaped in JSON. */
const BODY_LIMIT = 16 * 1024

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.post(
    '/api/admin/login',
    {
      bodyLimit: BODY_LIMIT,
      config: { public: true },
      // Not compressed, because the compressed size of a response can reveal its token (BREACH).
      compress: false,
      schema: {
        tags: ['Administrators'],
        operationId: 'signIn',
        summary: 'Sign in',
        description:
          'Returns a token for integrations and sets it as a cookie for browsers. Failed attempts are limited. If the account has a second factor, also send `code`.',
        body: SignInRequest,
        response: {
          200: withHeaders(SignInResponse, { 'Set-Cookie': SetCookie }),
          ...problemResponses,
        },
      },
    },
    async (request, reply) => {
      const { session } = await app.signIn.withPassword(request, reply, request.body)
      if (session === null) throw createCodeRequiredProblem()
      const { email, role, token, expiresAt } = session
      return { admin: { email, role }, token, expiresAt: toIsoTime(expiresAt) }
    },
  )

  app.post(
    '/api/admin/logout',
    {
      config: { permission: 'account:own', withoutSecondFactor: true },
      errorHandler: handleSignOutError,
      schema: {
        tags: ['Administrators'],
        operationId: 'signOut',
        summary: 'Sign out and end the session',
        response: {
          204: withHeaders(Type.Null({ description: 'Signed out' }), { 'Set-Cookie': SetCookie }),
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
      config: { permission: 'account:own' },
      schema: {
        tags: ['Administrators'],
        operationId: 'getCurrentUser',
        summary: 'Get current user',
        response: { 200: SessionResponse, ...problemResponses },
      },
    },
    async (request) => {
      const { email, role, session } = getUser(request)
      return { admin: { email, role }, expiresAt: toIsoTime(session.expiresAt) }
    },
  )
}

export default routes
