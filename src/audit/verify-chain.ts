import type { Queryable } from '../database/database.js'
import { appendAuditEntry, hashAuditEntry, type AuditActor, type AuditRow } from './audit-entry.js'
import type { AuditHead } from './audit-log.js'

const BATCH_SIZE = 1_000

type ChainCheck =
  | { ok: true; entries: number; head: AuditHead }
  /** The first position where the chain is broken */
  | { ok: false; position: number; reason: string }

/**
 * Verifies the audit log from its oldest to its latest entry. Detects every entry that was changed,
 * removed, inserted or moved, unless all later hashes were recomputed. Of entries whose details were
 * erased, only the position and the hash are verified.
 *
 * @param tx must read from a consistent snapshot of the database
 * @param recorded a head from an earlier check; reveals whether hashes were recomputed since then
 */
export async function verifyChain(tx: Queryable, recorded?: AuditHead): Promise<ChainCheck> {
  const [chain] = await tx.query<{
    head_position: number
    head_hash: string
    anchor_position: number
    anchor_hash: string
  }>('SELECT head_position, head_hash, anchor_position, anchor_hash FROM audit_chain WHERE id = 1')
  if (chain === undefined) return { ok: false, position: 0, reason: 'the head is missing' }

  let last: AuditHead = { position: chain.anchor_position, hash: chain.anchor_hash }
  let entries = 0
  const fail = (position: number, reason: string): ChainCheck => ({ ok: false, position, reason })
  const matchesRecord = () => recorded?.position !== last.position || recorded.hash === last.hash
  if (recorded !== undefined && recorded.position < last.position) {
    return fail(recorded.position, 'the entry has expired: compare with a newer head')
  }
  if (!matchesRecord()) return fail(last.position, 'its hash differs from the recorded one')

  const isErased = await readErasedEntries(tx)
  for (let readTo = Number.MIN_SAFE_INTEGER; ;) {
    const rows = await tx.query<AuditRow>(
      'SELECT * FROM audit_log WHERE position > ? ORDER BY position LIMIT ?',
      [readTo, BATCH_SIZE],
    )
    for (const { hash, ...row } of rows) {
      const expected = last.position + 1
      if (row.position > expected) return fail(expected, 'the entry is missing')
      if (row.position < expected) return fail(row.position, 'the entry was inserted')
      if (hashAuditEntry(row, last.hash) !== hash && !isErased(row)) {
        return fail(row.position, 'the entry does not match its hash')
      }
      last = { position: row.position, hash }
      entries++
      if (!matchesRecord()) return fail(last.position, 'its hash differs from the recorded one')
    }
    if (rows.length < BATCH_SIZE) break
    readTo = last.position
  }

  if (last.position < chain.head_position) {
    return fail(last.position + 1, 'the entry is missing: later entries were removed')
  }
  if (last.position > chain.head_position || last.hash !== chain.head_hash) {
    return fail(last.position, 'the entry is not the head that was stored')
  }
  if (recorded !== undefined && recorded.position > last.position) {
    return fail(last.position + 1, 'the entry is missing: the recorded head is later')
  }
  return { ok: true, entries, head: last }
}

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
async function readErasedEntries(tx: Queryable): Promise<(row: Omit<AuditRow, 'hash'>) => boolean> {
  const rows = await tx.query<Pick<AuditRow, 'details'>>(
    "SELECT details FROM audit_log WHERE action = 'view.names_erased'",
  )
  const erased = new Set(
    rows.flatMap(({ details }) => (JSON.parse(details) as { positions: number[] }).positions),
  )
  return ({ position, action, details }) =>
    erased.has(position) && VIEW_ACTIONS.includes(action) && details === ERASED_DETAILS
}
