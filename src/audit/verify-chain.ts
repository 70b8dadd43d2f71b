import type { Queryable } from '../database/database.js'
import { hashAuditEntry, type AuditRow } from './audit-entry.js'
import type { AuditHead } from './audit-log.js'
import { readErasedEntries } from './erase-view-names.js'

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
