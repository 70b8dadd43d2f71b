import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { freePort } from './free-port.js'
import { NOBODY_USER } from './postgres.js'

const PROGRAM = 'pgbouncer'

export const hasPgBouncer = (): boolean => spawnSync(PROGRAM, ['--version']).status === 0

export interface PgBouncer {
  port: number
  kill: () => Promise<void>
  start: () => Promise<void>
}

/** Starts PgBouncer in transaction mode, with few connections to the server. */
export async function startPgBouncer(t: Test, serverPort: number): Promise<PgBouncer> {
  const port = await freePort()
  const folder = mkdtempSync('/tmp/clearwake-pgbouncer-')
  chmodSync(folder, 0o755)
  const config = join(folder, 'pgbouncer.ini')
  writeFileSync(
    config,
    `[databases]
* = host=127.0.0.1 port=${serverPort} user=noco
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
server_login_retry = 1
`,
  )
  let running: ChildProcess | null = null
  async function start(): Promise<void> {
    const started = spawn(PROGRAM, [config], NOBODY_USER)
    let output = ''
    for await (const chunk of started.stderr) {
      output += String(chunk)
      if (output.includes('process up')) break
    }
    if (!output.includes('process up')) throw new Error(`PgBouncer did not start:\n${output}`)
    running = started
  }
  async function kill(): Promise<void> {
    if (running?.exitCode !== null) return
    const exited = once(running, 'exit')
    running.kill('SIGKILL')
    await exited
    running = null
  }
  await start()
  t.teardown(async () => {
    await kill()
    rmSync(folder, { recursive: true, force: true })
  })
  return { port, start, kill }
}
