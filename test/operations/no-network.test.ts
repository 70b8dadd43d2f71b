import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/core/config/config-part.js'
import { temporaryFolder } from '../support/app.js'

/** A network namespace with loopback only; root needs no further privileges. */
const NAMESPACE = ['--net', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])]
const inside = (command: string) => ['sh', '-c', `ip link set lo up && ${command}`]
const canIsolate = spawnSync('unshare', [...NAMESPACE, ...inside('true')]).status === 0

t.test(
  'the built service starts and serves without any network, with nothing configured',
  { skip: canIsolate ? false : 'this user may not create a network namespace' },
  async (t) => {
    const script = join(projectRoot, '.test', 'test', 'support', 'without-network.js')
    const command = inside('exec "$0" "$1" "$2"')
    const found = execFileSync(
      'unshare',
      [...NAMESPACE, ...command, process.execPath, script, temporaryFolder(t)],
      { encoding: 'utf8' },
    )
    t.same(JSON.parse(found), {
      page: 200,
      docs: 200,
      ready: 200,
      order: 201,
      code: 200,
      exitCode: 0,
      logErrors: [],
    })
  },
)
