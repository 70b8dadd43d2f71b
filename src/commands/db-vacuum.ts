import { existsSync } from 'node:fs'
import { ConfigError } from '../core/config/config-part.js'
import { getDatabasePath } from '../database/database-path.js'
import { DatabaseError, openDatabase } from '../database/open-database.js'
import { REQUIRE_REWRITE, rewriteFile } from '../database/rewrite-file.js'
import { loadConfig } from './load-config.js'

const USAGE = `Usage: npm run -s db:vacuum

Rewrites the SQLite database in DATA_DIR without what was erased or deleted, and without free space.
Changes wait meanwhile, so stop the service if the database is large.`

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

if (process.argv.length > 2) fail(USAGE)
try {
  const { DATA_DIR, DATABASE_URL } = await loadConfig()
  if (DATABASE_URL !== undefined) {
    throw new ConfigError(['DATABASE_URL is set: data is stored in PostgreSQL. Use VACUUM FULL'])
  }
  const path = getDatabasePath(DATA_DIR)
  if (!existsSync(path)) throw new DatabaseError(`Order database not found: ${path} (DATA_DIR)`)
  const db = openDatabase(path)
  db.exec(REQUIRE_REWRITE)
  db.close()
  if (!(await rewriteFile(path))) throw new DatabaseError(`${path} is in use: try again.`)
  process.stdout.write(`${path} was rewritten.\n`)
} catch (error) {
  const isExpected = error instanceof ConfigError || error instanceof DatabaseError
  fail(isExpected ? error.message : String(error))
}
