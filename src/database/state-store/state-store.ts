import fp from 'fastify-plugin'
import type { Database } from '../database.js'

/** The time of the database, ms since 1970, because the clocks of processes may differ. */
export const DATABASE_NOW: Record<Database['engine'], string> = {
  sqlite: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  postgres: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
}

/** How often something may happen within a time window that starts with its first occurrence. */
export interface Budget {
  limit: number
  windowMs: number
}

/**
 * Short-lived state, such as sign-in limits; without PostgreSQL, it is lost when the process ends.
 * Every method throws DatabaseUnavailableError when the store is unavailable.
 */
export interface KeyValueStore {
  /**
   * Stores a key until its TTL expires. Keys are never evicted, so only authenticated actions may
   * add them.
   */
  set(key: string, ttlMs: number): Promise<void>
  has(key: string): Promise<boolean>
  /** Takes one unit from a budget, atomically. Returns 0, or the milliseconds until more is available. */
  consume(key: string, budget: Budget): Promise<number>
  /** Gives one unit back to a budget. */
  refund(key: string): Promise<void>
}

/**
 * Takes one unit from each budget, or from none if one is used up. Returns 0 or the milliseconds
 * until more is available, and a function that gives the units back.
 */
export async function consumeAll(
  stateStore: KeyValueStore,
  budgets: readonly [key: string, Budget][],
): Promise<{ waitMs: number; refund: () => Promise<void> }> {
  const consumed: string[] = []
  const refund = async () => {
    for (const key of consumed.splice(0)) await stateStore.refund(key)
  }
  for (const [key, budget] of budgets) {
    const waitMs = await stateStore.consume(key, budget)
    if (waitMs > 0) {
      await refund()
      return { waitMs, refund }
    }
    consumed.push(key)
  }
  return { waitMs: 0, refund }
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Failed sign-ins and other rate limits */
    stateStore: KeyValueStore
  }
}

/** Anyone can create counters, so the least recently used are evicted to limit memory use. */
const MAX_COUNTERS = 100_000

interface Counter {
  consumed: number
  /** A `performance.now` timestamp, so that a clock change does not extend a wait */
  expires: number
}

interface SweptStore extends KeyValueStore {
  /** Deletes expired keys and counters. Call it regularly. */
  sweep(): Promise<void>
}

/** The state of a single process. */
export function openMemoryStore(): SweptStore {
  /** When each key expires, ms since 1970 */
  const keys = new Map<string, number>()
  const counters = new Map<string, Counter>()

  function findCounter(key: string): Counter | undefined {
    const counter = counters.get(key)
    return counter && counter.expires > performance.now() ? counter : undefined
  }

  return {
    async set(key, ttlMs) {
      keys.set(key, Date.now() + ttlMs)
    },
    has: async (key) => (keys.get(key) ?? 0) > Date.now(),
    async consume(key, { limit, windowMs }) {
      const now = performance.now()
      const counter = findCounter(key) ?? { consumed: 0, expires: now + windowMs }
      // Move the counter to the end of the eviction order.
      counters.delete(key)
      counters.set(key, counter)
      const [oldest] = counters.keys()
      if (counters.size > MAX_COUNTERS && oldest !== undefined) counters.delete(oldest)
      if (counter.consumed >= limit) return counter.expires - now
      counter.consumed++
      return 0
    },
    async refund(key) {
      const counter = findCounter(key)
      if (counter && counter.consumed > 1) counter.consumed--
      else counters.delete(key)
    },
    async sweep() {
      const [time, elapsed] = [Date.now(), performance.now()]
      for (const [key, expires] of keys) if (expires <= time) keys.delete(key)
      for (const [key, { expires }] of counters) if (expires <= elapsed) counters.delete(key)
    },
  }
}

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
export function openPostgresStore(postgres: Database): SweptStore {
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
    async sweep() {
      for (const table of ['state_keys', 'state_counters']) {
        await postgres.query(`DELETE FROM ${table} WHERE expires_at <= ${NOW}`)
      }
    },
  }
}

/** Shares state through PostgreSQL if it is configured; otherwise keeps it in memory. */
export default fp(
  async (app) => {
    const { database } = app
    const store = database.engine === 'sqlite' ? openMemoryStore() : openPostgresStore(database)
    const sweep = () =>
      void store
        .sweep()
        .catch((err: unknown) => app.log.warn({ err }, 'expired state could not be deleted'))
    const timer = setInterval(sweep, SWEEP_INTERVAL_MS)
    timer.unref()
    app.decorate('stateStore', store)
    app.addHook('onClose', async () => clearInterval(timer))
  },
  { name: 'state-store', dependencies: ['database'] },
)

interface Lease {
  name: string
  /** Identifies the process */
  holder: string
}

/**
 * Takes a lease, or extends it. Returns `false` if another process holds it. A lease that ends much
 * later than it could is from a clock that was wrong, and counts as expired. Not if it ends a little
 * later: the holder may have extended it while this statement waited for the row.
 */
export async function takeLease(
  database: Database,
  { name, holder }: Lease,
  ttlMs: number,
): Promise<boolean> {
  const now = DATABASE_NOW[database.engine]
  const taken = await database.query(
    `INSERT INTO leases AS lease VALUES (?, ?, ${now} + ?)
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
     WHERE lease.holder = excluded.holder OR lease.expires_at <= ${now}
       OR lease.expires_at > excluded.expires_at + ?
     RETURNING holder`,
    [name, holder, ttlMs, ttlMs],
  )
  return taken.length > 0
}

/** Releases a lease, so that another process can take it at once. */
export async function releaseLease(database: Database, { name, holder }: Lease): Promise<void> {
  await database.query('DELETE FROM leases WHERE name = ? AND holder = ?', [name, holder])
}

/** Runs tasks with the same key one at a time; tasks with different keys run concurrently. */
export function createKeyedMutex() {
  const last = new Map<string, Promise<unknown>>()
  return <T>(key: string, task: () => Promise<T>): Promise<T> => {
    const previous = last.get(key) ?? Promise.resolve()
    const result = previous.then(task)
    const settled = result
      .catch(() => undefined)
      .then(() => {
        if (last.get(key) === settled) last.delete(key)
      })
    last.set(key, settled)
    return result
  }
}
