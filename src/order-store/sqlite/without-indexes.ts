import type { Database } from 'better-sqlite3'

/**
 * Does some work on the orders without their indexes, and makes those anew, one after the other.
 * All of it within the caller's transaction: other connections see the indexes all along.
 *
 * @param making is told before each index which it is
 */
export function withoutIndexes(
  db: Database,
  work: () => void,
  making: (place: number, of: number) => void,
): void {
  const indexes = db
    .prepare<[], { name: string; sql: string }>(
      `SELECT name, sql FROM sqlite_schema
       WHERE type = 'index' AND tbl_name = 'orders' AND sql IS NOT NULL`,
    )
    .all()
  for (const { name } of indexes) db.exec(`DROP INDEX ${name}`)
  work()
  for (const [i, { sql }] of indexes.entries()) {
    making(i + 1, indexes.length)
    db.exec(sql)
  }
}
