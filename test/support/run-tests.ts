import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join, sep } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'

// Runs the tests and prints TAP. Arguments select the files whose paths contain one of them;
// `--fast` leaves out those that start browsers or take long. A few files of a folder share a
// process, because loading the service takes longer than most tests.

const TESTS = fileURLToPath(new URL('..', import.meta.url))
const RUNNER = fileURLToPath(new URL('./run-test-files.js', import.meta.url))
const PROCESSES = 2
const FILES_PER_PROCESS = 5
const SLOW = /^(browser|operations|postgres)\/|\.slow\.test\.js$/

const isFast = process.argv.includes('--fast')
const parts = process.argv.slice(2).filter((argument) => argument !== '--fast')

const files = readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
  .map((path) => path.split(sep).join('/'))
  .filter((path) => path.endsWith('.test.js') && !(isFast && SLOW.test(path)))
  .filter((path) => parts.length === 0 || parts.some((part) => path.includes(part)))
  .sort()

const folders = new Map<string, string[]>()
for (const file of files) {
  const folder = file.split('/').slice(0, -1).join('/')
  folders.set(folder, [...(folders.get(folder) ?? []), file])
}
/** Slow ones first, so that none is left at the end. */
const groups = [...folders.values()]
  .sort((a, b) => Number(SLOW.test(b[0] ?? '')) - Number(SLOW.test(a[0] ?? '')))
  .flatMap((inFolder) =>
    Array.from({ length: Math.ceil(inFolder.length / FILES_PER_PROCESS) }, (_, i) =>
      inFolder.slice(i * FILES_PER_PROCESS, (i + 1) * FILES_PER_PROCESS),
    ),
  )

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
