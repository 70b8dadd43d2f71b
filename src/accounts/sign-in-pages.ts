import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { toSafeRedirectPath } from '../core/http/request-path.js'
import { Problem } from '../core/http/problem.js'
import { checker } from '../core/validation/validator.js'
import { Credentials } from './credentials.js'
import { toText } from './password-form.js'
import type { PendingSignIns } from './pending-sign-in.js'
import type { SecondFactors } from './second-factor/second-factors.js'
import { getVerifyUrl } from './second-factor/sign-in-pages.js'
import type { SignIn } from './sign-in.js'
import { handleSignOutError } from './sign-out-error.js'

type Fields = Record<string, unknown>

interface SignInView {
  returnTo: string
  email: string
  /** By field; `attempt` is the error for the attempt as a whole */
  errors: { email?: string; password?: string; attempt?: string }
  /** Why the user has to sign in, if known */
  ended: 'signed_out' | 'expired' | 'password_set' | null
}

function parseEnded({ out, ended, password }: Fields): SignInView['ended'] {
  if (password !== undefined) return 'password_set'
  if (out !== undefined) return 'signed_out'
  return ended === undefined ? null : 'expired'
}

const validate = checker(Credentials)

interface Options {
  signIn: SignIn
  pendingSignIns: PendingSignIns
  secondFactors: SecondFactors
}

const pages: FastifyPluginAsync<Options> = async (
  app,
  { signIn, pendingSignIns, secondFactors },
) => {
  const hasPasskeys = secondFactors.passkeys.isAvailable
  const showForm = (reply: FastifyReply, view: SignInView) =>
    reply.renderView({ page: 'accounts/sign-in' }, { ...view, hasPasskeys })

  const showProblem = (
    reply: FastifyReply,
    { statusCode, headers, message }: Problem,
    view: Omit<SignInView, 'errors'>,
  ) => showForm(reply.code(statusCode).headers(headers), { ...view, errors: { attempt: message } })

  // Not compressed, as a precaution (BREACH), because some of these responses set a session cookie.
  const options = { config: { public: true }, compress: false } as const

  app.get<{ Querystring: Fields }>('/admin/login', options, async (request, reply) => {
    const returnTo = toSafeRedirectPath(request.query.returnTo)
    const isSignedIn = await app.authenticate(request).then(
      () => true,
      () => false,
    )
    if (isSignedIn) return reply.redirect(returnTo, 303)
    return showForm(reply, { returnTo, email: '', errors: {}, ended: parseEnded(request.query) })
  })

  app.post<{ Body: Fields | undefined }>('/admin/login', options, async (request, reply) => {
    const { returnTo, email, password } = request.body ?? {}
    const view = {
      returnTo: toSafeRedirectPath(returnTo),
      email: toText(email).trim(),
      errors: {},
      ended: null,
    }
    const result = validate({ email: view.email, password: toText(password) })
    if (!result.ok) {
      const errors = Object.fromEntries(
        result.errors.map(({ path, message }) => {
          const isBlank = toText(path === 'email' ? email : password) === ''
          return [path, isBlank ? `Enter your ${path}` : message]
        }),
      )
      return showForm(reply.code(422), { ...view, errors })
    }
    try {
      const { account, session } = await signIn.withPassword(request, reply, result.value)
      if (session === null) {
        pendingSignIns.start(reply, account)
        return await reply.redirect(getVerifyUrl(view.returnTo), 303)
      }
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return showProblem(reply, error, view)
    }
    return reply.redirect(view.returnTo, 303)
  })

  app.post('/admin/login/passkey/options', options, (request) => {
    signIn.rejectOtherSites(request)
    return secondFactors.passkeys.createSignIn()
  })

  app.post<{ Body: Fields | undefined }>(
    '/admin/login/passkey',
    options,
    async (request, reply) => {
      const { credential, returnTo: given } = request.body ?? {}
      const returnTo = toSafeRedirectPath(given)
      try {
        await signIn.withPasskey(request, reply, toText(credential))
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        return showProblem(reply, error, { returnTo, email: '', ended: null })
      }
      pendingSignIns.end(reply)
      return reply.redirect(returnTo, 303)
    },
  )

  app.post(
    '/admin/logout',
    {
      errorHandler: handleSignOutError,
      config: { permission: 'account:own', withoutSecondFactor: true },
    },
    async (_request, reply) => {
      await reply.endSession()
      return reply.redirect('/admin/login?out', 303)
    },
  )
}

export default pages
