import type { FastifyPluginAsync } from 'fastify'
import { getClientAddress } from '../core/http/client-address.js'
import { getRequestOrigin } from '../core/http/fetch-metadata.js'
import { Problem } from '../core/http/problem.js'
import { isEmail, toMailbox } from '../core/validation/email-address.js'
import { createIdentifierHasher } from '../core/config/signer.js'
import { toText } from './password-form.js'
import { MINUTE_MS } from '../core/time.js'

const PER_CLIENT = { limit: 10, windowMs: 15 * MINUTE_MS }
const PER_EMAIL = { limit: 3, windowMs: 60 * MINUTE_MS }

const options = { config: { public: true } } as const

/**
 * Page for forgotten passwords. Neither the response nor its timing depends on whether the email
 * has an account, because the account is looked up after the response has been sent.
 */
const pages: FastifyPluginAsync = async (app) => {
  const { accountMail: mail } = app
  const hashIdentifier = createIdentifierHasher(app.config.sessionSecrets[0])
  const page = 'accounts/forgot-password'

  /** @param email in its canonical form */
  async function requestReset(email: string): Promise<void> {
    const key = `reset:account:${hashIdentifier('reset', email)}`
    if ((await app.stateStore.consume(key, PER_EMAIL)) > 0) return
    const account = (await app.accounts.list()).find((one) => toMailbox(one.email) === email)
    if (account?.state !== 'active' || account.isConfigured) return
    await app.database.write((tx) => mail.enqueue(tx, 'password-reset', account.id))
  }

  app.get('/admin/forgot-password', options, async (_request, reply) =>
    reply.renderView({ page }, { isConfigured: mail.isConfigured, isSent: false, email: '' }),
  )

  app.post<{ Body: Record<string, unknown> | undefined }>(
    '/admin/forgot-password',
    options,
    async (request, reply) => {
      if (getRequestOrigin(request, app.publicBaseUrl()) === 'cross-origin') {
        throw new Problem(403, 'The form was sent from another site. Nothing was changed.')
      }
      const email = toText(request.body?.email).trim()
      const view = { isConfigured: mail.isConfigured, email }
      if (!mail.isConfigured) return reply.renderView({ page }, { ...view, isSent: false })
      if (!isEmail(email)) {
        const error = 'Enter an email address, such as ann@example.com'
        return reply.code(422).renderView({ page }, { ...view, isSent: false, error })
      }
      const key = `reset:client:${hashIdentifier('reset client', getClientAddress(request))}`
      const waitMs = await app.stateStore.consume(key, PER_CLIENT)
      if (waitMs > 0) {
        throw new Problem(429, 'Too many requests to reset a password. Try again later.', {
          headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) },
        })
      }
      reply.raw.once('close', () => {
        requestReset(toMailbox(email)).catch((err: unknown) =>
          request.log.error({ err }, 'a password reset could not be requested'),
        )
      })
      return reply.renderView({ page }, { ...view, isSent: true })
    },
  )
}

export default pages
