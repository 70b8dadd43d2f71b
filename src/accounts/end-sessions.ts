import type { Queryable } from '../database/database.js'

/**
 * Ends all sessions of an account, except `exceptSessionId` if it is given. Every request looks up
 * its session, so this takes effect immediately in every process.
 *
 * @param email in lower case
 */
export async function endSessions(
  tx: Queryable,
  email: string,
  exceptSessionId = '',
): Promise<void> {
  await tx.query('DELETE FROM sessions WHERE email = ? AND id <> ?', [email, exceptSessionId])
}
