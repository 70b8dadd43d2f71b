import type { FastifyPluginAsync } from 'fastify'
import type { Formatters } from '../core/formatting/portal-formatters.js'
import { getRequestFormatters } from '../core/http/locale.js'
import { Problem } from '../core/http/problem.js'
import { ROLE_DESCRIPTIONS, ROLE_LABELS } from './permissions.js'
import { endOtherSessions, endOwnSession } from './session-routes.js'
import { getBrowserName, type Session } from './session-store.js'
import { getUser } from './session.js'

/** Base path of the actions on sessions. */
const SESSIONS_URL = '/admin/account/sessions'

/** Data of the template `accounts/_sessions`. `current` is the session of the request. */
function buildSessionsView(sessions: readonly Session[], current: Session, format: Formatters) {
  return {
    hasOthers: sessions.some(({ id }) => id !== current.id),
    endOthersUrl: `${SESSIONS_URL}/end-others`,
    items: sessions.map(({ id, userAgent, address, createdAt, lastSeenAt }) => ({
      browser: getBrowserName(userAgent),
      address,
      signedIn: format.dateTime(createdAt),
      lastSeen: format.dateTime(lastSeenAt),
      isCurrent: id === current.id,
      endUrl: `${SESSIONS_URL}/${id}/end`,
    })),
  }
}

const OWN = { config: { permission: 'account:own' } } as const

/**
 * Users without a second factor can open this page, because it links to the page for adding one.
 */
const OWN_WITHOUT_FACTOR = { config: { ...OWN.config, withoutSecondFactor: true } } as const

const ACCOUNT_URL = '/admin/account'

/** Flash messages, by code. */
const SUCCESS = {
  'password-changed': 'Your password was changed, and all other devices were signed out.',
  'session-ended': 'The device was signed out.',
  'other-sessions-ended': 'All other devices were signed out.',
}

/** Page where users see their own account and sessions. */
const pages: FastifyPluginAsync = async (app) => {
  app.get(ACCOUNT_URL, OWN_WITHOUT_FACTOR, async (request, reply) => {
    const user = getUser(request)
    const { email, role } = user
    const sessions = await app.sessions.list(user)
    const isConfigured = app.configuredAccounts.some((account) => account.email === email)
    return reply.renderView(
      { page: 'accounts/account' },
      {
        account: {
          role: ROLE_LABELS[role],
          description: ROLE_DESCRIPTIONS[role],
          passwordUrl: isConfigured ? null : `${ACCOUNT_URL}/password`,
        },
        success: reply.consumeFlashText(SUCCESS),
        sessions: buildSessionsView(sessions, user.session, getRequestFormatters(request)),
      },
    )
  })

  app.post(`${SESSIONS_URL}/end-others`, OWN, async (request, reply) => {
    await endOtherSessions(request)
    reply.setFlash({ code: 'other-sessions-ended' })
    return reply.redirect(ACCOUNT_URL, 303)
  })

  app.post<{ Params: { id: string } }>(`${SESSIONS_URL}/:id/end`, OWN, async (request, reply) => {
    if (!(await endOwnSession(request, request.params.id))) {
      throw new Problem(404, 'This session does not exist, or has already ended.')
    }
    reply.setFlash({ code: 'session-ended' })
    return reply.redirect(ACCOUNT_URL, 303)
  })
}

export default pages
