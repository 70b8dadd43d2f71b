import { once } from 'node:events'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { teardownProcess } from './process-teardown.js'

// Runs test files one after the other in this process, for run-tests.ts.

const TIMEOUT_MS = 30 * 60_000

const teardowns: (() => unknown)[] = []

async function tearDown(): Promise<void> {
  for (const work of teardowns.splice(0).reverse()) await work()
}

// Collects the teardowns of a file, which run before the next file starts.
t.teardown = (work) => void teardowns.push(work)
teardownProcess(tearDown)

// Without this, tap would end before the work is complete.
async function waitOn(work: Promise<unknown>): Promise<void> {
  t.waitOn(work)
  await work
}

// Node exits in silence if an import never settles, for example of a module that waits for itself.
let isComplete = false
process.on('exit', () => {
  if (isComplete) return
  console.error('The process ended before all test files were run')
  process.exitCode = 1
})

t.setTimeout(TIMEOUT_MS)
for (const path of process.argv.slice(2)) {
  await waitOn(import(pathToFileURL(path).href))
  if (!t.idle) await once(t, 'idle')
  await waitOn(tearDown())
  t.comment(path)
}
isComplete = true
