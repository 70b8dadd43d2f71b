import type { Database } from '../database.js'
import { DATABASE_NOW } from '../lease.js'
import type { KeyValueStore } from './key-value-store.js'

const SWEEP_INTERVAL_MS = 60_000

const NOW = DATABASE_NOW.postgres

const SET = `
  INSERT INTO state_keys VALUES (?, ${NOW} + ?)
  ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at`

// Returns no row if the budget is used up.
const CONSUME = `
  INSERT INTO state_counters AS counter VALUES (?, 1, ${NOW} + ?)
  ON CONFLICT (key) DO UPDATE SET
    consumed = CASE WHEN counter.expires_at <= ${NOW} THEN 1 ELSE counter.consumed + 1 END,
    expires_at = CASE WHEN counter.expires_at <= ${NOW} THEN excluded.expires_at ELSE counter.expires_at END
  WHERE counter.expires_at <= ${NOW} OR counter.consumed < ?
  RETURNING consumed`

/** State that several processes share in PostgreSQL. */
export function openPostgresStore(
  postgres: Database,
  onSweepError: (error: unknown) => void,
): KeyValueStore & { close(): void } {
  async function sweep(): Promise<void> {
    for (const table of ['state_keys', 'state_counters']) {
      await postgres.query(`DELETE FROM ${table} WHERE expires_at <= ${NOW}`)
    }
  }
  const timer = setInterval(() => void sweep().catch(onSweepError), SWEEP_INTERVAL_MS)
  timer.unref()

  return {
    async set(key, ttlMs) {
      await postgres.query(SET, [key, Math.ceil(ttlMs)])
    },
    async has(key) {
      const sql = `SELECT 1 FROM state_keys WHERE key = ? AND expires_at > ${NOW}`
      return (await postgres.query(sql, [key])).length > 0
    },
    async consume(key, { limit, windowMs }) {
      const consumed = await postgres.query(CONSUME, [key, windowMs, limit])
      if (consumed.length > 0) return 0
      const [row] = await postgres.query<{ wait: number }>(
        `SELECT expires_at - ${NOW} AS wait FROM state_counters WHERE key = ?`,
        [key],
      )
      return Math.max(1, row?.wait ?? 0)
    },
    async refund(key) {
      await postgres.query(
        'UPDATE state_counters SET consumed = consumed - 1 WHERE key = ? AND consumed > 0',
        [key],
      )
    },
    close: () => clearInterval(timer),
  }
}
