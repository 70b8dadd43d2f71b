import type { Database } from 'better-sqlite3'

/**
 * Drops the indexes of the orders table, runs `work` and recreates the indexes. All of this happens
 * in the caller's transaction, so other connections keep using the indexes.
 *
 * @param onIndex called before each index is created, with its position and the number of indexes
 */
export function withoutIndexes(
  db: Database,
  work: () => void,
  onIndex: (position: number, count: number) => void,
): void {
  const indexes = db
    .prepare<[], { name: string; sql: string }>(
      `SELECT name, sql FROM sqlite_schema
       WHERE type = 'index' AND tbl_name = 'orders' AND sql IS NOT NULL`,
    )
    .all()
  for (const { name } of indexes) db.exec(`DROP INDEX ${name}`)
  work()
  for (const [index, { sql }] of indexes.entries()) {
    onIndex(index + 1, indexes.length)
    db.exec(sql)
  }
}
