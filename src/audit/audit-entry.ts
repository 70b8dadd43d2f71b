import { createHash } from 'node:crypto'
import type { AuditAction } from './audit-actions.js'

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
export interface NewAuditEntry extends AuditActor {
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
