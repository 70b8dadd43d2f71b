import type { Queryable } from '../database/database.js'
import { hashAuditEntry, type NewAuditEntry } from './audit-entry.js'

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
  await tx.query(
    `INSERT INTO audit_log (position, at, action, actor, address, details, hash)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [entry.position, entry.at, action, actor, address, entry.details, hash],
  )
  await tx.query('UPDATE audit_chain SET head_hash = ? WHERE id = 1', [hash])
}
