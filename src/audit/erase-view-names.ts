import type { Queryable } from '../database/database.js'
import { appendAuditEntry, type AuditActor, type AuditRow } from './audit-entry.js'

/** What replaces the details of an entry with an erased name. Stored, so never change it. */
const ERASED_DETAILS = JSON.stringify({ name: 'Erased' })

/** Entries whose details name a saved view. */
const VIEW_ACTIONS = ['view.saved', 'view.deleted']

/**
 * Erases names of saved views from the audit log, in the caller's transaction; call it last. The
 * hashes stay. An entry of its own records the positions, so that the log can still be verified.
 */
export async function eraseViewNames(
  tx: Queryable,
  isErased: (name: string) => boolean,
  by: AuditActor,
): Promise<void> {
  const rows = await tx.query<Pick<AuditRow, 'position' | 'details'>>(
    'SELECT position, details FROM audit_log WHERE action IN (?, ?) AND details <> ?',
    [...VIEW_ACTIONS, ERASED_DETAILS],
  )
  const positions = rows
    .filter(({ details }) => isErased((JSON.parse(details) as { name: string }).name))
    .map(({ position }) => position)
  if (positions.length === 0) return
  for (const position of positions) {
    await tx.query('UPDATE audit_log SET details = ? WHERE position = ?', [
      ERASED_DETAILS,
      position,
    ])
  }
  await appendAuditEntry(tx, { action: 'view.names_erased', ...by, details: { positions } })
}

/**
 * Returns a function that says whether the details of an entry were erased, as a later entry
 * records, so that they do not match the hash.
 */
export async function readErasedEntries(
  tx: Queryable,
): Promise<(row: Omit<AuditRow, 'hash'>) => boolean> {
  const rows = await tx.query<Pick<AuditRow, 'details'>>(
    "SELECT details FROM audit_log WHERE action = 'view.names_erased'",
  )
  const erased = new Set(
    rows.flatMap(({ details }) => (JSON.parse(details) as { positions: number[] }).positions),
  )
  return ({ position, action, details }) =>
    erased.has(position) && VIEW_ACTIONS.includes(action) && details === ERASED_DETAILS
}
