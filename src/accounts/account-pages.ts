import type { FastifyPluginAsync } from 'fastify'
import { getLocale } from '../http/locale.js'
import { Problem } from '../http/problem.js'
import adminPages from '../plugins/admin-pages.js'
import { buildSessionsView, SESSIONS_URL } from './session-view.js'

const ACCOUNT_URL = '/admin/account'

/** Texts of flash messages. */
const SUCCESS: Partial<Record<string, string>> = {
  'session-ended': 'The device was signed out.',
  'other-sessions-ended': 'All other devices were signed out.',
}

/** The current user's own account. */
const pages: FastifyPluginAsync = async (app) => {
  await app.register(adminPages)

  app.get(
    ACCOUNT_URL,
    { config: { withoutSecondFactor: true } },
    async ({ adminSession, administrator, headers }, reply) => {
      const sessions = await app.sessions.list(administrator)
      const text = SUCCESS[reply.consumeFlash()?.code ?? '']
      return reply.renderView(
        { page: 'accounts/account' },
        {
          administrator,
          success: text === undefined ? null : { text },
          sessions: buildSessionsView(sessions, adminSession, {
            locale: getLocale(headers['accept-language']),
            timeZone: app.config.TIME_ZONE,
          }),
        },
      )
    },
  )

  app.post(`${SESSIONS_URL}/end-others`, async ({ adminSession: { email, id }, log }, reply) => {
    await app.sessions.endOthers(email, id)
    log.info({ email }, 'other sessions ended')
    reply.setFlash({ code: 'other-sessions-ended', orderId: '' })
    return reply.redirect(ACCOUNT_URL, 303)
  })

  app.post<{ Params: { id: string } }>(
    `${SESSIONS_URL}/:id/end`,
    async ({ params, adminSession: { email }, log }, reply) => {
      if (!(await app.sessions.end(email, params.id))) {
        throw new Problem(404, 'This session does not exist, or has already ended.')
      }
      log.info({ email, session: params.id }, 'session ended')
      reply.setFlash({ code: 'session-ended', orderId: '' })
      return reply.redirect(ACCOUNT_URL, 303)
    },
  )
}

export default pages
