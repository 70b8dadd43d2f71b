import type { FastifyPluginAsync, FastifyReply, onRequestHookHandler } from 'fastify'
import { getAuditAddress } from '../audit/audit-log.js'
import { getClientAddress } from '../core/http/client-address.js'
import { getRequestOrigin } from '../core/http/fetch-metadata.js'
import { createLimitProblem, Problem } from '../core/http/problem.js'
import { MINUTE_MS } from '../core/time.js'
import { isEmail, toMailbox } from '../core/validation/email-address.js'
import { toText, toTrimmedText } from '../core/validation/text-rules.js'
import { LINK_PURPOSES, type LinkPurpose } from './account-links.js'
import { parsePasswordForm } from './password-rules.js'
import { getUser } from './session.js'

const OWN = { config: { permission: 'account:own' } } as const

const PASSWORD_URL = '/admin/account/password'
const MAX_GUESSES = { limit: 10, windowMs: 15 * 60_000 }

interface Errors {
  current?: string
  password?: string
  repeated?: string
}

/** Page where users change their own password. */
const pages: FastifyPluginAsync = async (app) => {
  const renderForm = (reply: FastifyReply, errors: Errors = {}) =>
    reply.renderView({ page: 'accounts/change-password' }, { errors })

  async function getOwnAccount(email: string) {
    const account = await app.accounts.find(email)
    if (account === null || account.isConfigured) {
      throw new Problem(
        409,
        'Your account is listed in ADMIN_ACCOUNTS. The operator of this service can change its password there.',
      )
    }
    return account
  }

  app.get(PASSWORD_URL, OWN, async (request, reply) => {
    await getOwnAccount(getUser(request).email)
    return renderForm(reply)
  })

  app.post<{ Body: Record<string, unknown> | undefined }>(
    PASSWORD_URL,
    { ...OWN, compress: false },
    async (request, reply) => {
      const { body = {}, log } = request
      const { email, session } = getUser(request)
      const { passwordHash } = await getOwnAccount(email)
      // Limits password guessing on a computer that was left unlocked.
      const guesses = `password-change:${app.hashIdentifier('password change', email)}`
      const waitMs = await app.stateStore.consume(guesses, MAX_GUESSES)
      if (waitMs > 0) {
        const detail = 'Too many attempts to change the password. Try again later.'
        throw createLimitProblem(detail, waitMs)
      }
      const current = toText(body.current)
      const isCorrect = await app.passwords.verify(passwordHash, current)
      if (isCorrect) await app.stateStore.refund(guesses)
      const parsed = await parsePasswordForm(body, email)
      if (!isCorrect || 'errors' in parsed) {
        const errors = 'errors' in parsed ? parsed.errors : {}
        const wrong = { current: current === '' ? 'Enter your password' : 'Wrong password' }
        return renderForm(reply.code(422), isCorrect ? errors : { ...wrong, ...errors })
      }
      const hash = await app.passwords.hash(parsed.password)
      const account = await app.accounts.changePassword(email, {
        hash,
        address: getAuditAddress(request),
      })
      if (account === null) return reply.redirect('/admin/login', 303)
      log.info({ email }, 'password changed')
      await app.notifyUser(request, email, 'password.changed')
      // The change has ended all sessions, including this one.
      await reply.startSession(account, session.isMultiFactor)
      reply.setFlash({ code: 'password-changed' })
      return reply.redirect('/admin/account', 303)
    },
  )
}

export default pages

const PER_CLIENT = { limit: 10, windowMs: 15 * MINUTE_MS }
const PER_EMAIL = { limit: 3, windowMs: 60 * MINUTE_MS }

const PUBLIC = { config: { public: true } } as const
const FORGOT = { page: 'accounts/forgot-password' }

/** The URL contains a token. */
const hideReferrer: onRequestHookHandler = (_request, reply, done) => {
  reply.header('referrer-policy', 'no-referrer')
  done()
}
const LINK = { ...PUBLIC, onRequest: hideReferrer }

interface Route {
  Params: { token: string }
  Body: Record<string, unknown> | undefined
}

/**
 * Pages where people choose a password after opening a link, and the page to ask for one. Opening a
 * link changes nothing, because mail scanners also open links. Neither the response to a forgotten
 * password nor its timing depends on whether the email has an account, because the account is
 * looked up after the response has been sent.
 */
export const passwordLinkPages: FastifyPluginAsync = async (app) => {
  const { accountMail: mail } = app

  /**
   * Sends a link if the email has an account.
   *
   * @param email in its canonical form
   */
  async function requestReset(email: string): Promise<void> {
    const key = `reset:account:${app.hashIdentifier('reset', email)}`
    if ((await app.stateStore.consume(key, PER_EMAIL)) > 0) return
    const account = (await app.accounts.list()).find((one) => toMailbox(one.email) === email)
    if (account?.state !== 'active' || account.source === 'configuration') return
    await app.database.write((tx) => mail.enqueue(tx, 'password-reset', account.id))
  }

  app.get('/admin/forgot-password', PUBLIC, async (_request, reply) =>
    reply.renderView(FORGOT, { isConfigured: mail.isConfigured, isSent: false, email: '' }),
  )

  app.post<{ Body: Record<string, unknown> | undefined }>(
    '/admin/forgot-password',
    PUBLIC,
    async (request, reply) => {
      if (getRequestOrigin(request, app.publicBaseUrl()) === 'cross-origin') {
        throw new Problem(403, 'The form was sent from another site. Nothing was changed.')
      }
      const email = toTrimmedText(request.body?.email)
      const view = { isConfigured: mail.isConfigured, email }
      if (!mail.isConfigured) return reply.renderView(FORGOT, { ...view, isSent: false })
      if (!isEmail(email)) {
        const error = 'Enter an email address, such as ann@example.com'
        return reply.code(422).renderView(FORGOT, { ...view, isSent: false, error })
      }
      const key = `reset:client:${app.hashIdentifier('reset client', getClientAddress(request))}`
      const waitMs = await app.stateStore.consume(key, PER_CLIENT)
      if (waitMs > 0) {
        throw createLimitProblem('Too many requests to reset a password. Try again later.', waitMs)
      }
      reply.raw.once('close', () => {
        requestReset(toMailbox(email)).catch((err: unknown) =>
          request.log.error({ err }, 'a password reset could not be requested'),
        )
      })
      return reply.renderView(FORGOT, { ...view, isSent: true })
    },
  )

  const showInvalidLink = (reply: FastifyReply, purpose: LinkPurpose) =>
    reply.code(404).renderView({ page: 'accounts/invalid-link' }, { purpose })

  for (const purpose of Object.keys(LINK_PURPOSES) as LinkPurpose[]) {
    const path = `${LINK_PURPOSES[purpose].path}/:token`
    const page = 'accounts/choose-password'

    app.get<Route>(path, LINK, async ({ params }, reply) => {
      const account = await app.accounts.findByLink(purpose, params.token)
      if (account === null) return showInvalidLink(reply, purpose)
      return reply.renderView({ page }, { purpose, account, errors: {} })
    })

    app.post<Route>(path, LINK, async (request, reply) => {
      const { params, body = {}, log } = request
      const account = await app.accounts.findByLink(purpose, params.token)
      if (account === null) return showInvalidLink(reply, purpose)
      const parsed = await parsePasswordForm(body, account.email)
      if ('errors' in parsed) {
        return reply.code(422).renderView({ page }, { purpose, account, errors: parsed.errors })
      }
      const hash = await app.passwords.hash(parsed.password)
      const address = getAuditAddress(request)
      if (!(await app.accounts.setPasswordByLink(purpose, params.token, { hash, address }))) {
        return showInvalidLink(reply, purpose)
      }
      log.info({ email: account.email, purpose }, 'password set')
      if (purpose === 'password-reset') {
        await app.notifyUser(request, account.email, 'password.changed')
      }
      return reply.redirect('/admin/login?password', 303)
    })
  }
}
