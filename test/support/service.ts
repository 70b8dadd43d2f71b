import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'
import { SECRET, temporaryFolder } from './app.js'
import { distPath } from './dist-path.js'
import { freePort } from './free-port.js'
import { ADMIN_ACCOUNTS } from './sign-in.js'
import { waitUntil } from './wait-for.js'

export interface Service {
  url: string
  dataDir: string
  process: ChildProcess
  /** The log so far */
  output: () => string
  errors: () => string
  /** Resolves to the exit code */
  ended: Promise<number | null>
}

interface Options {
  /** Command-line options of Node */
  nodeOptions?: string[]
  /** A command that runs the service */
  prefix?: string[]
  cwd?: string
}

/** Starts the built service in its own process, and waits for it; killed when the test ends. */
export async function startService(
  t: Test,
  environment: NodeJS.ProcessEnv = {},
  { nodeOptions = [], prefix = [], cwd }: Options = {},
): Promise<Service> {
  const dataDir = environment.DATA_DIR ?? temporaryFolder(t)
  const port = environment.PORT ?? String(await freePort())
  const { PATH } = process.env
  const settings = { PATH, PORT: port, DATA_DIR: dataDir, SESSION_SECRET: SECRET, ADMIN_ACCOUNTS }
  const command = [...prefix, process.execPath, ...nodeOptions, distPath('server.js')] as const
  const child = spawn(command[0], command.slice(1), {
    cwd: cwd ?? dataDir,
    env: { ...settings, ...environment },
  })
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  let errors = ''
  child.stdout.on('data', (part: Buffer) => (output += part.toString()))
  child.stderr.on('data', (part: Buffer) => (errors += part.toString()))
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  const url = `http://127.0.0.1:${port}`
  const hasStartedOrExited = async () =>
    child.exitCode !== null || (await fetch(`${url}/healthz`).catch(() => null))?.ok === true
  if (!(await waitUntil(hasStartedOrExited, { everyMs: 50 })) || child.exitCode !== null) {
    throw new Error(`The service did not start: ${errors}`)
  }
  return { url, dataDir, process: child, output: () => output, errors: () => errors, ended }
}
