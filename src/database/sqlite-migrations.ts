import type { Database } from 'better-sqlite3'
import { getMigrations } from './migrations.js'

/** Marks a SQLite file as an order database ("ClwK"). */
export const APPLICATION_ID = 0x436c774b

const MIGRATIONS = getMigrations('sqlite')

/** The schema version of this version of Clearwake. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** The schema version of a database; 0 if it is empty. */
export const getSchemaVersion = (db: Database): number =>
  db.pragma('user_version', { simple: true }) as number

/** Migrates a database to the current schema version, in one transaction. */
export function migrate(db: Database): void {
  // Avoids waiting for the write lock.
  if (getSchemaVersion(db) === SCHEMA_VERSION) return
  db.transaction(() => {
    // Read again, because another process may have migrated the database since.
    for (const statements of MIGRATIONS.slice(getSchemaVersion(db))) {
      db.exec(statements.join(';\n'))
    }
    db.pragma(`application_id = ${APPLICATION_ID}`)
    db.pragma(`user_version = ${SCHEMA_VERSION}`)
  }).immediate()
}
