import { closeSync, openSync, writeSync } from 'node:fs'
import { openDatabase } from '../../src/database/open-database.js'

/** Overwrites the root page of a table. */
export function corruptTable(path: string, table: string): void {
  const db = openDatabase(path)
  const root = db.prepare<[string], number>('SELECT rootpage FROM sqlite_schema WHERE name = ?')
  const page = Number(root.pluck().get(table))
  const bytes = Number(db.pragma('page_size', { simple: true }))
  db.close()
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(bytes, 0xff), 0, bytes, (page - 1) * bytes)
  closeSync(file)
}

/** Adds an unused table that makes a replica too large for the integrity check at startup. */
export function enlargeDatabase(path: string): void {
  const db = openDatabase(path)
  db.exec('CREATE TABLE ballast (bytes BLOB)')
  for (let i = 0; i < 70; i++) db.exec('INSERT INTO ballast VALUES (zeroblob(1048576))')
  db.close()
}
