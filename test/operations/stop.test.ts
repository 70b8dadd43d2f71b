import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import t from 'tap'
import { projectRoot } from '../../src/core/config/config-part.js'
import { SECRET, temporaryFolder } from '../support/app.js'
import { freePort } from '../support/free-port.js'
import type { Load } from '../support/load-generator.js'
import { startService } from '../support/service.js'
import { ADMIN_ACCOUNTS } from '../support/sign-in.js'
import { waitFor, waitUntil } from '../support/wait-for.js'

const run = promisify(execFile)

t.test('responds to every client when stopped under overload', async (t) => {
  const {
    url,
    process: service,
    ended,
  } = await startService(t, {
    RATE_LIMIT_PER_MINUTE: '1000000',
    SHUTDOWN_TIMEOUT_MS: '30000',
  })
  const script = join(projectRoot, '.test', 'test', 'support', 'load-generator.js')
  const loading = run(process.execPath, [script, `${url}/calculator/fuel?quantity=5`, '300', '6'])
  await sleep(3_000)
  service.kill('SIGTERM')
  t.equal(await ended, 0)
  const { responses, lost } = JSON.parse((await loading).stdout) as Load
  t.comment(JSON.stringify({ responses, lost }))
  t.ok((responses['200']?.count ?? 0) > 0)
  t.equal(lost, 0)
})

t.test('SIGTERM to `npm start` stops the service', async (t) => {
  const PORT = String(await freePort())
  const DATA_DIR = temporaryFolder(t)
  const settings = { PORT, DATA_DIR, SESSION_SECRET: SECRET, ADMIN_ACCOUNTS }
  const npm = spawn('npm', ['start'], { cwd: projectRoot, env: { ...process.env, ...settings } })
  let output = ''
  npm.stdout.on('data', (part: Buffer) => (output += part.toString()))
  const ended = once(npm, 'exit')
  const isRunning = () =>
    fetch(`http://127.0.0.1:${PORT}/healthz`).then(
      () => true,
      () => false,
    )
  const pid = await waitFor(async () =>
    (await isRunning()) ? /"pid":(\d+)/.exec(output)?.[1] : undefined,
  )
  t.teardown(() => {
    try {
      process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It has ended.
    }
  })
  npm.kill('SIGTERM')
  await ended
  t.ok(await waitUntil(async () => !(await isRunning())))
})
