import type { FastifyPluginAsync, FastifyReply, onRequestHookHandler } from 'fastify'
import { getAuditAddress } from '../audit/audit-log.js'
import { getClientAddress } from '../core/http/client-address.js'
import { getRequestOrigin } from '../core/http/fetch-metadata.js'
import { createLimitProblem, Problem } from '../core/http/problem.js'
import { MINUTE_MS } from '../core/time.js'
import { isEmail, toMailbox } from '../core/validation/email-address.js'
import { toTrimmedText } from '../core/validation/form-text.js'
import { LINK_PURPOSES, type LinkPurpose } from './account-links.js'
import { parsePasswordForm } from './password-rules.js'

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
const pages: FastifyPluginAsync = async (app) => {
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

export default pages
