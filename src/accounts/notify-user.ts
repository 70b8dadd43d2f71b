import fp from 'fastify-plugin'
import { getAuditAddress } from '../audit/audit-log.js'
import { enqueueAccountMail } from './account-mail.js'
import { getBrowserName } from './browser-name.js'
import { createIdentifierHasher } from '../core/config/signer.js'
import type { Notice, NoticePayload } from './notices.js'
import { findUser } from './principal.js'
import { DAY_MS } from '../core/time.js'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Emails the user of an account about a request, if emails are configured. Never throws: a
     * notice that cannot be queued is logged.
     *
     * @param email of the account
     */
    notifyUser(request: FastifyRequest, email: string, notice: Notice): Promise<void>
  }
}

/** Notices to users about their own accounts. */
export default fp(
  async (app) => {
    const hashIdentifier = createIdentifierHasher(app.config.sessionSecrets[0])

    /** Whether the user was notified of the same recently. */
    async function isRepeated(email: string, by: string, notice: Notice): Promise<boolean> {
      const limits: Partial<Record<Notice, [key: string, windowMs: number]>> = {
        'sign_in.failed': [hashIdentifier('failed', email), DAY_MS],
        // Programs keep no device cookie.
        'sign_in.new_device': [hashIdentifier('device', email, by), 30 * DAY_MS],
      }
      const limit = limits[notice]
      if (limit === undefined) return false
      const [key, windowMs] = limit
      return (await app.stateStore.consume(`notice:${key}`, { limit: 1, windowMs })) > 0
    }

    app.decorate('notifyUser', async (request, email, notice) => {
      if (app.mailDelivery === null) return
      const user = findUser(request)?.email ?? email
      const browser = getBrowserName(request.headers['user-agent'] ?? '')
      const by = user === email ? `${browser}, ${getAuditAddress(request) ?? ''}` : user
      const payload: NoticePayload = { email, at: Date.now(), by }
      try {
        if (await isRepeated(email, by, notice)) return
        await enqueueAccountMail(app.database, email, { type: notice, payload })
      } catch (err) {
        request.log.error({ err, notice }, 'the user was not notified')
      }
    })
  },
  { name: 'notify-user', dependencies: ['config', 'database', 'mail', 'session', 'state-store'] },
)
