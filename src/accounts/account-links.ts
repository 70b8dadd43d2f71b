import { createHash, randomBytes } from 'node:crypto'
import { HOUR_MS, MINUTE_MS } from '../core/time.js'
import { insertRow, type Queryable } from '../database/database.js'

/** Links for setting a password, by purpose. The purposes are stored, so never rename one. */
export const LINK_PURPOSES = {
  invitation: { lifetimeMs: 72 * HOUR_MS, path: '/admin/invitation' },
  'password-reset': { lifetimeMs: 30 * MINUTE_MS, path: '/admin/password-reset' },
} as const
export type LinkPurpose = keyof typeof LINK_PURPOSES

const TOKEN = /^[\w-]{43}$/

const hashToken = (token: string): string => createHash('sha256').update(token).digest('base64url')

export const getLinkPath = (purpose: LinkPurpose, token: string): string =>
  `${LINK_PURPOSES[purpose].path}/${token}`

/** Creates a link for an account and returns its token. Only the hash of the token is stored. */
export async function createLink(
  tx: Queryable,
  accountId: string,
  purpose: LinkPurpose,
): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const now = Date.now()
  await tx.query('DELETE FROM account_links WHERE expires_at <= ?', [now])
  await insertRow(tx, 'account_links', {
    token_hash: hashToken(token),
    account_id: accountId,
    purpose,
    created_at: now,
    expires_at: now + LINK_PURPOSES[purpose].lifetimeMs,
  })
  return token
}

const VALID_LINK = 'FROM account_links WHERE token_hash = ? AND purpose = ? AND expires_at > ?'

/** Runs a statement about a valid link; returns the ID of its account, or `null`. */
async function queryLink(
  tx: Queryable,
  sql: string,
  purpose: LinkPurpose,
  token: string,
): Promise<string | null> {
  if (!TOKEN.test(token)) return null
  const values = [hashToken(token), purpose, Date.now()]
  const [link] = await tx.query<{ account_id: string }>(sql, values)
  return link?.account_id ?? null
}

/** Returns the ID of the account that a valid link is for; `null` if the link is not valid. */
export const findLinkAccount = (tx: Queryable, purpose: LinkPurpose, token: string) =>
  queryLink(tx, `SELECT account_id ${VALID_LINK}`, purpose, token)

/**
 * Uses up a valid link, and returns the ID of its account; `null` if the link is not valid. Of two
 * concurrent callers, only one gets the ID.
 */
export const consumeLink = (tx: Queryable, purpose: LinkPurpose, token: string) =>
  queryLink(tx, `DELETE ${VALID_LINK} RETURNING account_id`, purpose, token)

export async function deleteLinks(tx: Queryable, accountId: string): Promise<void> {
  await tx.query('DELETE FROM account_links WHERE account_id = ?', [accountId])
}
