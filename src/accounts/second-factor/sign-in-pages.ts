import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { Problem } from '../../core/http/problem.js'
import { toSafeRedirectPath } from '../../core/http/request-path.js'
import { toText } from '../password-form.js'
import type { PendingSignIns } from '../pending-sign-in.js'
import type { SignIn } from '../sign-in.js'
import type { SecondFactors } from './second-factors.js'

type Fields = Record<string, unknown>

interface Options {
  signIn: SignIn
  secondFactors: SecondFactors
  pendingSignIns: PendingSignIns
}

const VERIFY_URL = '/admin/login/verify'

/** URL of the page where a sign-in continues after the password. */
export const getVerifyUrl = (returnTo: string): string =>
  `${VERIFY_URL}?${new URLSearchParams({ returnTo }).toString()}`

/** The second step of signing in with a password. */
const pages: FastifyPluginAsync<Options> = async (
  app,
  { signIn, secondFactors, pendingSignIns },
) => {
  // Not compressed, as a precaution (BREACH), because some of these responses set a session cookie.
  const options = { config: { public: true }, compress: false } as const

  async function buildView(email: string, returnTo: unknown) {
    const { appAddedAt, passkeys } = await secondFactors.find(email)
    return {
      returnTo: toSafeRedirectPath(returnTo),
      hasApp: appAddedAt !== null,
      hasPasskey: passkeys.length > 0 && secondFactors.passkeys.isAvailable,
    }
  }

  function startAgain(reply: FastifyReply, returnTo: unknown): FastifyReply {
    const params = new URLSearchParams({ returnTo: toSafeRedirectPath(returnTo), ended: '' })
    return reply.redirect(`/admin/login?${params.toString()}`, 303)
  }

  app.get<{ Querystring: Fields }>(VERIFY_URL, options, async (request, reply) => {
    const account = await pendingSignIns.find(request)
    const { returnTo } = request.query
    if (account === null) return startAgain(reply, returnTo)
    const view = await buildView(account.email, returnTo)
    return reply.renderView({ page: 'accounts/verify' }, { ...view, error: null })
  })

  app.post<{ Body: Fields | undefined }>(VERIFY_URL, options, async (request, reply) => {
    signIn.rejectOtherSites(request)
    const { returnTo, code } = request.body ?? {}
    const account = await pendingSignIns.find(request)
    if (account === null) return startAgain(reply, returnTo)
    const text = toText(code).trim()
    try {
      if (text === '') throw new Problem(422, 'Enter a code')
      await signIn.withCode(request, reply, account, text)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      const view = await buildView(account.email, returnTo)
      return reply
        .code(error.statusCode === 401 ? 422 : error.statusCode)
        .headers(error.headers)
        .renderView({ page: 'accounts/verify' }, { ...view, error: error.message })
    }
    pendingSignIns.end(reply)
    return reply.redirect(toSafeRedirectPath(returnTo), 303)
  })
}

export default pages
