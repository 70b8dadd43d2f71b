import type { Database } from 'better-sqlite3'

/** What is kept beside a book that is a copy. */
export type ReplicaSetting =
  /** What it is a copy of */
  | 'source'
  /** The last id that the first load has reached */
  | 'loaded_to'
  /** There once the first load is done */
  | 'loaded'
  /** When a row was last touched in NocoDB, by its clock, ms since 1970 */
  | 'touched'
  /** `yes` where columns were missing, or of other types, since all of it was read */
  | 'misfit'
  /** It shows what was in NocoDB at this moment, ISO 8601 */
  | 'as_of'

/** Reads and writes such settings. */
export function createReplicaSettings(db: Database) {
  db.exec(
    `CREATE TABLE IF NOT EXISTS replica (
       name TEXT PRIMARY KEY, value TEXT NOT NULL
     ) STRICT, WITHOUT ROWID`,
  )
  const get = db.prepare<[string], string>('SELECT value FROM replica WHERE name = ?').pluck()
  const set = db.prepare<[string, string]>('INSERT OR REPLACE INTO replica VALUES (?, ?)')
  return {
    get: (name: ReplicaSetting): string | null => get.get(name) ?? null,
    set: (name: ReplicaSetting, value: string): void => void set.run(name, value),
  }
}
