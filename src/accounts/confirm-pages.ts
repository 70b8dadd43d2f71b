import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../core/http/problem.js'
import { toSafeRedirectPath } from '../core/http/request-path.js'
import { toText } from '../core/validation/text-rules.js'
import type { Account } from './account-store.js'
import { getUser } from './session.js'

type Fields = Record<string, unknown>

const CONFIRM_URL = '/admin/confirm'

/**
 * Page where users re-authenticate before an action that requires a recent sign-in.
 * Re-authentication starts a new session, which replaces the current one.
 */
const pages: FastifyPluginAsync = async (app) => {
  const { signIn, secondFactors } = app
  const options = {
    config: { permission: 'account:own', withoutSecondFactor: true },
    // Not compressed, as a precaution (BREACH), because some of these responses set a session
    // cookie.
    compress: false,
  } as const

  async function showForm(
    request: FastifyRequest,
    reply: FastifyReply,
    { returnTo, error }: { returnTo: unknown; error: string | null },
  ) {
    const { passkeys } = await secondFactors.find(getUser(request).email)
    return reply.renderView(
      { page: 'accounts/confirm' },
      {
        returnTo: toSafeRedirectPath(returnTo),
        hasPasskey: passkeys.length > 0 && secondFactors.passkeys.isAvailable,
        error,
      },
    )
  }

  async function restart(
    request: FastifyRequest,
    reply: FastifyReply,
    account: Account,
    isMultiFactor: boolean,
  ): Promise<void> {
    await reply.startSession(account, isMultiFactor)
    await app.auditLog.record(request, { action: 'session.confirmed' })
  }

  app.get<{ Querystring: Fields }>(CONFIRM_URL, options, (request, reply) =>
    showForm(request, reply, { returnTo: request.query.returnTo, error: null }),
  )

  app.post<{ Body: Fields | undefined }>(CONFIRM_URL, options, async (request, reply) => {
    const { returnTo, password } = request.body ?? {}
    const { email, session } = getUser(request)
    let account
    try {
      if (toText(password) === '') throw new Problem(422, 'Enter your password')
      account = await signIn.checkPassword(request, { email, password: toText(password) })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      const isWrong = error.statusCode === 401
      reply.code(isWrong ? 422 : error.statusCode).headers(error.headers)
      return showForm(request, reply, {
        returnTo,
        error: isWrong ? 'The password is wrong.' : error.message,
      })
    }
    await restart(request, reply, account, session.isMultiFactor)
    return reply.redirect(toSafeRedirectPath(returnTo), 303)
  })

  app.post<{ Body: Fields | undefined }>(
    `${CONFIRM_URL}/passkey`,
    options,
    async (request, reply) => {
      const { credential, returnTo } = request.body ?? {}
      const account = await signIn.checkPasskey(request, toText(credential))
      await restart(request, reply, account, true)
      return reply.redirect(toSafeRedirectPath(returnTo), 303)
    },
  )
}

export default pages
