import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'

// Runs the tests and prints TAP. A few files of a folder share a process, because loading the
// service takes longer than most tests. Arguments:
//
//   --fast    leaves out tests that start browsers or take long
//   --nocodb  runs the tests that need NocoDB instead
//   <text>    runs only files whose paths contain it, such as `calculator` or `orders/api`

const TESTS = fileURLToPath(new URL('..', import.meta.url))
const RUNNER = fileURLToPath(new URL('./run-test-files.js', import.meta.url))
const PROCESSES = 3
const SLOW = /^(browser|operations|postgres)\/|\.slow\.test\.js$/

const options = new Set(process.argv.filter((argument) => argument.startsWith('--')))
const parts = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const isNocoDb = options.has('--nocodb')
const suffix = isNocoDb ? '.nocodb-test.js' : '.test.js'
const filesPerProcess = isNocoDb ? 1 : 5

function findFiles(): string[] {
  return readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => path.endsWith(suffix) && !(options.has('--fast') && SLOW.test(path)))
    .filter((path) => parts.length === 0 || parts.some((part) => path.includes(part)))
}

/** Slow files come first, so that no process is left with many of them at the end. */
function groupByFolder(files: string[]): string[][] {
  const folders = new Map<string, string[]>()
  const slowFirst = (a: string, b: string): number =>
    Number(SLOW.test(b)) - Number(SLOW.test(a)) || a.localeCompare(b)
  for (const file of files.sort(slowFirst)) {
    const folder = dirname(file)
    folders.set(folder, [...(folders.get(folder) ?? []), file])
  }
  return [...folders.values()].flatMap((inFolder) =>
    Array.from({ length: Math.ceil(inFolder.length / filesPerProcess) }, (_, i) =>
      inFolder.slice(i * filesPerProcess, (i + 1) * filesPerProcess),
    ),
  )
}

const groups = groupByFolder(findFiles())

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
await Promise.all(Array.from({ length: PROCESSES }, runGroups))
