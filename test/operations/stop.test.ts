import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import t from 'tap'
import { projectRoot } from '../../src/config/project-root.js'
import type { Load } from '../support/load-generator.js'
import { startService } from '../support/service.js'

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
  t.ok((responses['200']?.count ?? 0) > 100)
  t.equal(lost, 0)
})
