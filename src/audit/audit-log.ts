import { setImmediate } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { createDayCalendar } from '../core/formatting/day-calendar.js'
import type { Database } from '../database/database.js'
import {
  appendAuditEntry,
  toAuditEntry,
  type AuditAction,
  type AuditActor,
  type AuditDetails,
  type AuditEntry,
  type AuditRow,
} from './audit-entry.js'
import { buildAuditCondition, createTextMatcher, type AuditFilters } from './audit-query.js'

/** Maximum number of entries deleted in one transaction */
const DELETE_BATCH = 10_000
/** Number of entries that a search reads at once */
const SCAN_BATCH = 1_000

/**
 * The latest entry. A copy that is stored elsewhere can later prove that no earlier entry was
 * changed.
 */
export interface AuditHead {
  position: number
  hash: string
}

/** The address of a client; `null` if it has disconnected. */
export const getAuditAddress = ({ ip }: { ip: string | undefined }): string | null => ip ?? null

/** The user or API key that makes a request, for the audit log. */
export const getAuditActor = (request: FastifyRequest): AuditActor => ({
  actor: request.actor,
  address: getAuditAddress(request),
})

/**
 * The append-only log of security events. Methods throw DatabaseUnavailableError; `deleteBefore`
 * also throws CommitUnknownError.
 */
export function createAuditLog(database: Database, timeZone: string) {
  const calendar = createDayCalendar(timeZone)

  /** Reads the matching entries before a position in batches, newest first. */
  async function* scan(
    filters: AuditFilters,
    before: number,
    limit: number,
  ): AsyncGenerator<AuditRow[]> {
    const { sql, values } = buildAuditCondition(filters, calendar)
    const matches = createTextMatcher(filters)
    const batch = matches === null ? limit : SCAN_BATCH
    for (let position: number | undefined = before; position !== undefined;) {
      const rows: AuditRow[] = await database.query<AuditRow>(
        `SELECT * FROM audit_log WHERE position < ? AND ${sql} ORDER BY position DESC LIMIT ?`,
        [position, ...values, batch],
      )
      yield matches === null ? rows : rows.filter(matches)
      position = rows.length < batch ? undefined : rows.at(-1)?.position
      // Other requests are served between two batches.
      await setImmediate()
    }
  }

  return {
    /**
     * Records an action, in a transaction of its own. If the action already has a transaction, call
     * appendAuditEntry in that transaction instead. Never throws: an entry that cannot be stored is
     * logged.
     *
     * @param actor required if the request is not authenticated
     */
    async record(
      request: FastifyRequest,
      {
        action,
        actor,
        details = {},
      }: { action: AuditAction; actor?: string; details?: AuditDetails },
    ): Promise<void> {
      try {
        const entry = {
          action,
          actor: actor ?? request.actor,
          address: getAuditAddress(request),
          details,
        }
        await database.write((tx) => appendAuditEntry(tx, entry))
      } catch (err) {
        request.log.error({ err, action, details }, 'the audit log could not be written')
      }
    },

    /** Lists entries, newest first, and whether there are more. */
    async list(
      filters: AuditFilters,
      { before = Number.MAX_SAFE_INTEGER, limit }: { before?: number | undefined; limit: number },
    ): Promise<{ items: AuditEntry[]; hasMore: boolean }> {
      const rows: AuditRow[] = []
      for await (const found of scan(filters, before, limit + 1)) {
        rows.push(...found)
        if (rows.length > limit) break
      }
      return { items: rows.slice(0, limit).map(toAuditEntry), hasMore: rows.length > limit }
    },

    async count(filters: AuditFilters): Promise<number> {
      let count = 0
      for await (const found of scan(filters, Number.MAX_SAFE_INTEGER, SCAN_BATCH)) {
        count += found.length
      }
      return count
    },

    async getHead(): Promise<AuditHead> {
      const [head] = await database.query<AuditHead>(
        'SELECT head_position AS position, head_hash AS hash FROM audit_chain WHERE id = 1',
      )
      if (head === undefined) throw new Error('The head of the audit log is missing')
      return head
    },

    /**
     * Deletes the oldest entries, at most DELETE_BATCH, and stops at the first entry that is not
     * older than `time`. Records the position and hash of the last deleted entry, from which the
     * chain continues. Returns the number of deleted entries.
     */
    deleteBefore: (time: number): Promise<number> =>
      database.write(async (tx) => {
        // Locks the row, as appendAuditEntry does.
        await tx.query('UPDATE audit_chain SET anchor_position = anchor_position WHERE id = 1')
        const expired = await tx.query<Pick<AuditRow, 'position' | 'at' | 'hash'>>(
          'SELECT position, at, hash FROM audit_log ORDER BY position LIMIT ?',
          [DELETE_BATCH],
        )
        const kept = expired.findIndex(({ at }) => at >= time)
        const last = expired.slice(0, kept === -1 ? undefined : kept).at(-1)
        if (last === undefined) return 0
        await tx.query('DELETE FROM audit_log WHERE position <= ?', [last.position])
        await tx.query('UPDATE audit_chain SET anchor_position = ?, anchor_hash = ? WHERE id = 1', [
          last.position,
          last.hash,
        ])
        return kept === -1 ? expired.length : kept
      }),
  }
}

export type AuditLog = ReturnType<typeof createAuditLog>
