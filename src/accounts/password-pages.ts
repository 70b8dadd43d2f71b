import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { getAuditAddress } from '../audit/audit-log.js'
import { createLimitProblem, Problem } from '../core/http/problem.js'
import { toText } from '../core/validation/form-text.js'
import { parsePasswordForm } from './password-rules.js'
import { getUser } from './principal.js'

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
