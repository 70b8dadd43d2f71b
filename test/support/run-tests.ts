import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, sep } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { hasPostgres, POSTGRES_IS_MISSING } from './postgres.js'

// Runs the tests and prints TAP. A few files share a process, because loading the service and
// starting a browser take longer than most tests. Arguments:
//
//   --fast    leaves out tests that start browsers or are slow
//   --long    runs only the long tests: crashes, outages, full disks, several processes, and every
//             page in a browser
//   --nocodb  runs the tests that need NocoDB instead
//   <text>    runs only files whose paths start with it, such as `calculator` or `orders/api`, or
//             whose names do, such as `sign-in`, and includes long ones

const TESTS = fileURLToPath(new URL('..', import.meta.url))
const RUNNER = fileURLToPath(new URL('./run-test-files.js', import.meta.url))
const LONG = /^(operations|postgres)\/|\.long\.test\.js$/
const BROWSER = /^browser\//
const SLOW = /\.slow\.test\.js$/

const options = new Set(process.argv.filter((argument) => argument.startsWith('--')))
const parts = process.argv
  .slice(2)
  .filter((argument) => !argument.startsWith('--'))
  // Paths can be typed as those of the sources.
  .map((part) => part.replace(/^test\//, '').replace(/\.ts$/, '.js'))
const isNocoDb = options.has('--nocodb')
const suffix = isNocoDb ? '.nocodb-test.js' : '.test.js'
const isLong = options.has('--long')
/** More than processors, because many tests wait. Long tests start processes of their own. */
const PROCESSES = availableParallelism() + (isNocoDb || isLong ? 1 : 2)
const MAX_FILES_PER_PROCESS = 4
/** The start of a process takes longer than most fast files. */
const MAX_FAST_FILES_PER_PROCESS = 12

const leftOut = [
  ...(options.has('--fast') ? [LONG, BROWSER, SLOW] : []),
  ...(isLong || parts.length > 0 ? [] : [LONG]),
]
const isIncluded = (path: string): boolean => !isLong || LONG.test(path)

function findFiles(): string[] {
  return readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => path.endsWith(suffix) && isIncluded(path))
    .filter((path) => !leftOut.some((pattern) => pattern.test(path)))
    .filter((path) => parts.length === 0 || parts.some((part) => `/${path}`.includes(`/${part}`)))
}

/** Distributes files into groups of about the same duration, estimated from file sizes. */
function deal(files: string[], maxFiles = MAX_FILES_PER_PROCESS): string[][] {
  const count = Math.ceil(files.length / maxFiles)
  const getSize = (file: string): number => statSync(join(TESTS, file)).size
  const bySize = files.sort((a, b) => getSize(b) - getSize(a))
  return Array.from({ length: count }, (_, group) =>
    bySize.filter((_, index) => index % count === group),
  )
}

const isKind = (file: string, ...kinds: RegExp[]) => kinds.some((kind) => kind.test(file))

/** Slow groups come first, so that no process is left with one at the end. */
function groupFiles(files: string[]): string[][] {
  if (isNocoDb) return deal(files, 1)
  const browser = deal(files.filter((file) => isKind(file, BROWSER) && !isKind(file, LONG)))
  const slow = deal(files.filter((file) => isKind(file, SLOW)))
  const fast = files.filter((file) => !isKind(file, LONG, BROWSER, SLOW))
  // Browsers need a processor and slow tests mostly wait, so they run at the same time.
  const mixed = Array.from({ length: Math.max(browser.length, slow.length) }, (_, i) => [
    ...browser.slice(i, i + 1),
    ...slow.slice(i, i + 1),
  ])
  return [
    ...deal(files.filter((file) => isKind(file, LONG))),
    ...mixed.flat(),
    ...deal(fast, MAX_FAST_FILES_PER_PROCESS),
  ]
}

if (parts.length === 0 && !hasPostgres()) {
  console.error(POSTGRES_IS_MISSING)
  process.exit(1)
}
const groups = groupFiles(findFiles())

async function runGroups(): Promise<void> {
  for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
    const paths = group.map((file) => join(TESTS, file))
    const child = spawn(process.execPath, ['--enable-source-maps', RUNNER, ...paths], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [output, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'exit')])
    const name = group.join(' ')
    await t.stdin(name, { tapStream: Readable.from([output]) })
    if (exitCode !== 0) t.fail(`${name} exited with ${exitCode}`)
  }
}

t.setTimeout(0)
if (groups.length === 0) t.fail(`no test files match ${parts.join(' ')}`)
await Promise.all(Array.from({ length: PROCESSES }, runGroups))
