import { createHash } from 'node:crypto'
import { insertRow, type Queryable } from '../database/database.js'

/** Additional information about an action. Never contains secrets or personal data of customers. */
export type AuditDetails = Record<string, unknown>

/** Who performed an action, and from where. */
export interface AuditActor {
  /** The email of a user, the name of an API key, or a fixed name such as `Clearwake` */
  actor: string
  /** Network address of the client; `null` if there is none */
  address: string | null
}

/** The actor of changes that the service makes on its own. */
export const SYSTEM: AuditActor = { actor: 'Clearwake', address: null }

/** An entry to append. */
interface NewAuditEntry extends AuditActor {
  action: AuditAction
  details?: AuditDetails
}

/** An entry, as a row of the database. */
export interface AuditRow {
  position: number
  /** ms since 1970 */
  at: number
  action: string
  actor: string
  address: string | null
  /** JSON */
  details: string
  hash: string
}

export interface AuditEntry extends Omit<AuditRow, 'action' | 'details'> {
  action: AuditAction
  details: AuditDetails
}

export const toAuditEntry = ({ action, details, ...row }: AuditRow): AuditEntry => ({
  ...row,
  action: action as AuditAction,
  details: JSON.parse(details) as AuditDetails,
})

/**
 * The hash of an entry: SHA-256 of a JSON array of its fields and the hash of the previous entry, so
 * that no entry can change without changing all later hashes.
 */
export function hashAuditEntry(
  { position, at, action, actor, address, details }: Omit<AuditRow, 'hash'>,
  previousHash: string,
): string {
  const fields = [position, at, action, actor, address, details, previousHash]
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex')
}

/** The actions in the audit log, with display labels. Actions are stored, so never rename one. */
export const AUDIT_ACTIONS = {
  'sign_in.succeeded': 'Signed in',
  'sign_in.failed': 'Sign-in failed',
  'sign_in.code_required': 'Password accepted, second factor needed',
  sign_out: 'Signed out',
  'session.confirmed': 'Session confirmed',
  'session.revoked': 'Session revoked',
  'account.invited': 'Account invited',
  'account.invitation_accepted': 'Invitation accepted',
  'account.role_changed': 'Role changed',
  'account.disabled': 'Account disabled',
  'account.enabled': 'Account enabled',
  'account.deleted': 'Account deleted',
  'account.password_changed': 'Password changed',
  'account.password_reset': 'Password reset',
  'account.link_created': 'Invitation or reset link created',
  'second_factor.added': 'Second factor added',
  'second_factor.removed': 'Second factor removed',
  'recovery_codes.created': 'Recovery codes created',
  'api_key.created': 'API key created',
  'api_key.revoked': 'API key revoked',
  'webhook.created': 'Webhook created',
  'webhook.changed': 'Webhook changed',
  'webhook.deleted': 'Webhook deleted',
  'webhook.secret_rotated': 'Webhook secret rotated',
  'orders.exported': 'Orders exported',
  'audit_log.exported': 'Audit log exported',
  'view.saved': 'View saved',
  'view.deleted': 'View removed',
  'view.names_erased': 'Names of views erased',
  'payment.refunded': 'Payment refunded',
  'personal_data.erased': 'Personal data erased',
} as const
export type AuditAction = keyof typeof AUDIT_ACTIONS

export const AUDIT_ACTION_NAMES = Object.keys(AUDIT_ACTIONS) as AuditAction[]

/**
 * Appends an entry to the audit log, in the transaction of the change that it records. Call this
 * last, because other transactions that append entries wait until this transaction ends.
 */
export async function appendAuditEntry(
  tx: Queryable,
  { action, actor, address, details = {} }: NewAuditEntry,
): Promise<void> {
  // Locks the row, so that concurrent transactions neither fork the chain nor leave a gap.
  const [chain] = await tx.query<{ head_position: number; head_hash: string }>(
    `UPDATE audit_chain SET head_position = head_position + 1 WHERE id = 1
     RETURNING head_position, head_hash`,
  )
  if (chain === undefined) throw new Error('The head of the audit log is missing')
  const entry = {
    position: chain.head_position,
    at: Date.now(),
    action,
    actor,
    address,
    details: JSON.stringify(details),
  }
  const hash = hashAuditEntry(entry, chain.head_hash)
  await insertRow(tx, 'audit_log', { ...entry, hash })
  await tx.query('UPDATE audit_chain SET head_hash = ? WHERE id = 1', [hash])
}
