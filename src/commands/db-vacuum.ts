import { ConfigError } from '../core/config/config-part.js'
import { DatabaseError, openDatabase } from '../database/open-database.js'
import { REQUIRE_REWRITE, rewriteFile } from '../database/rewrite-file.js'
import { fail, findDatabaseFile, loadConfig } from './command.js'

const USAGE = `Usage: npm run -s db:vacuum

Rewrites the SQLite database in DATA_DIR without what was erased or deleted, and without free space.
Changes wait meanwhile, so stop the service if the database is large.`

if (process.argv.length > 2) fail(USAGE)
try {
  const path = findDatabaseFile(await loadConfig(), 'Use VACUUM FULL')
  const db = openDatabase(path)
  db.exec(REQUIRE_REWRITE)
  db.close()
  if (!(await rewriteFile(path))) throw new DatabaseError(`${path} is in use: try again.`)
  process.stdout.write(`${path} was rewritten.\n`)
} catch (error) {
  const isExpected = error instanceof ConfigError || error instanceof DatabaseError
  fail(isExpected ? error.message : String(error))
}
