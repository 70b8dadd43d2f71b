import { getBrowserName } from './browser-name.js'
import type { Session } from './sessions.js'

/** Base path of the actions on sessions. */
export const SESSIONS_URL = '/admin/account/sessions'

/**
 * Data of the template `accounts/_sessions`.
 *
 * @param current the session of the request
 */
export function buildSessionsView(
  sessions: readonly Session[],
  current: Session,
  { locale, timeZone }: { locale: string; timeZone: string },
) {
  const format = new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone,
  })
  return {
    hasOthers: sessions.some(({ id }) => id !== current.id),
    endOthersUrl: `${SESSIONS_URL}/end-others`,
    items: sessions.map(({ id, userAgent, address, createdAt, lastSeenAt }) => ({
      browser: getBrowserName(userAgent),
      address,
      signedIn: format.format(createdAt),
      lastSeen: format.format(lastSeenAt),
      isCurrent: id === current.id,
      endUrl: `${SESSIONS_URL}/${id}/end`,
    })),
  }
}
