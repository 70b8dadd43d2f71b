import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { freePort } from './free-port.js'
import { POSTGRES_NATIVE } from './nocodb-tools.js'

const NOBODY = 65_534

/** PostgreSQL refuses to run as root. */
const isRoot = process.getuid?.() === 0
const as = isRoot ? { uid: NOBODY, gid: NOBODY } : {}

/** An empty PostgreSQL of the test's own, stopped when the test ends; its address as NocoDB takes it. */
export async function startPostgres(t: Test): Promise<string> {
  const port = await freePort()
  const parent = mkdtempSync('/tmp/clearwake-postgres-')
  chmodSync(parent, 0o755)
  const folder = join(parent, 'data')
  mkdirSync(folder, { mode: 0o700 })
  if (isRoot) chownSync(folder, NOBODY, NOBODY)
  const env = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', HOME: '/tmp' }
  const options = { ...as, env, cwd: '/tmp' }
  const program = (name: string): string => join(POSTGRES_NATIVE, 'bin', name)

  execFileSync(program('initdb'), ['-D', folder, '-U', 'noco', '-A', 'trust', '-E', 'UTF8'], {
    ...options,
    stdio: 'ignore',
  })
  spawnSync(program('postgres'), ['--single', '-D', folder, 'postgres'], {
    ...options,
    input: 'create database noco;\n',
  })
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'off',
    timezone: 'UTC',
  }
  const server: ChildProcess = spawn(
    program('postgres'),
    [
      ...['-D', folder, '-p', String(port)],
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    options,
  )
  t.teardown(async () => {
    const ended = once(server, 'exit')
    server.kill('SIGINT')
    await ended
    rmSync(parent, { recursive: true, force: true })
  })
  let output = ''
  server.stdout?.resume()
  server.stderr?.on('data', (part: Buffer) => {
    output += part.toString()
  })
  for (let tries = 0; !output.includes('ready to accept connections'); tries++) {
    if (server.exitCode !== null || tries === 8_000) {
      throw new Error(`PostgreSQL does not start:\n${output}`)
    }
    await sleep(30)
  }
  return `pg://127.0.0.1:${port}?u=noco&p=noco&d=noco`
}
