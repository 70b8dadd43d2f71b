import { once } from 'node:events'
import { pathToFileURL } from 'node:url'
import t from 'tap'

// Runs test files one after the other in this process, for run-tests.ts.

const TIMEOUT_MS = 30 * 60_000

t.setTimeout(TIMEOUT_MS)
for (const path of process.argv.slice(2)) {
  const loading = import(pathToFileURL(path).href)
  // Otherwise, tap would end while a file is loaded.
  t.waitOn(loading)
  await loading
  if (!t.idle) await once(t, 'idle')
  t.comment(path)
}
