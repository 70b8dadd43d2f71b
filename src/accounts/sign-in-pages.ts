import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { getRequestOrigin } from '../core/http/fetch-metadata.js'
import { Problem } from '../core/http/problem.js'
import { toSafeRedirectPath } from '../core/http/request-path.js'
import { checker } from '../core/validation/field-errors.js'
import { toText } from '../core/validation/text-rules.js'
import { DatabaseUnavailableError } from '../database/database.js'
import { Credentials } from './account-schemas.js'
import type { Account } from './account-store.js'
import { getUser } from './session.js'

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

const VERIFY_URL = '/admin/login/verify'

/** Adds the page to return to after sign-in. */
const withReturnTo = (path: string, returnTo: string, params: Record<string, string> = {}) =>
  `${path}?${new URLSearchParams({ returnTo, ...params }).toString()}`

/**
 * Error handler of sign-out routes: clears the cookie even if the session is not valid or cannot be
 * ended, unless another site sent the request. Always throws: a Problem (503) if the database is
 * unavailable, otherwise the given error.
 */
export function handleSignOutError(
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
): never {
  const isUnavailable = error instanceof DatabaseUnavailableError
  const isUnauthorized = error instanceof Problem && error.statusCode === 401
  const origin = getRequestOrigin(request, request.server.publicBaseUrl())
  if ((isUnavailable || isUnauthorized) && origin !== 'cross-origin') reply.clearSessionCookie()
  if (!isUnavailable) throw error
  request.log.error({ err: error }, 'a session could not be ended')
  throw new Problem(
    503,
    'The database is not responding, so your session was not ended on the server. This browser no longer has access, but anyone with a copy of the token still does. To end the session, sign in again later and sign out the other devices on your account page.',
    { headers: { 'retry-after': '5' } },
  )
}

/** Pages to sign in, with the second step of signing in with a password, and to sign out. */
const pages: FastifyPluginAsync = async (app) => {
  const { signIn, pendingSignIns, secondFactors } = app
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
        return await reply.redirect(withReturnTo(VERIFY_URL, view.returnTo), 303)
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

  async function buildVerifyView(email: string, returnTo: unknown) {
    const { appAddedAt, passkeys } = await secondFactors.find(email)
    return {
      returnTo: toSafeRedirectPath(returnTo),
      hasApp: appAddedAt !== null,
      hasPasskey: passkeys.length > 0 && secondFactors.passkeys.isAvailable,
    }
  }

  function startAgain(reply: FastifyReply, returnTo: unknown): FastifyReply {
    const path = toSafeRedirectPath(returnTo)
    return reply.redirect(withReturnTo('/admin/login', path, { ended: '' }), 303)
  }

  app.get<{ Querystring: Fields }>(VERIFY_URL, options, async (request, reply) => {
    const account = await pendingSignIns.find(request)
    const { returnTo } = request.query
    if (account === null) return startAgain(reply, returnTo)
    const view = await buildVerifyView(account.email, returnTo)
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
      const view = await buildVerifyView(account.email, returnTo)
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

const CONFIRM_URL = '/admin/confirm'

/**
 * Page where users re-authenticate before an action that requires a recent sign-in.
 * Re-authentication starts a new session, which replaces the current one.
 */
export const confirmPages: FastifyPluginAsync = async (app) => {
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
