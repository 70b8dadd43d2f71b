import { fork, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { distPath } from '../support/dist-path.js'
import { ADMIN_ACCOUNTS } from '../support/sign-in.js'

const START_TIMEOUT_MS = 30_000

const hasExited = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null

/**
 * Starts a server in its own process. Resolves when it responds with 2xx to a GET of the path.
 *
 * @param environment must contain PORT
 */
export async function startServer(
  script: string,
  environment: NodeJS.ProcessEnv,
  path: string,
): Promise<ChildProcess> {
  const sendRequest = () => fetch(`http://127.0.0.1:${environment.PORT}${path}`).catch(() => null)
  if ((await sendRequest()) !== null) throw new Error(`Port ${environment.PORT} is in use`)
  const child = fork(script, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const deadline = performance.now() + START_TIMEOUT_MS
  while (performance.now() < deadline && !hasExited(child)) {
    if ((await sendRequest())?.ok) return child
    await sleep(2)
  }
  await stopServers([child])
  throw new Error(`${script} did not start`)
}

/** Starts the built Clearwake with an administrator, and without rate limits and load shedding. */
export const startClearwake = (
  port: number,
  dataDir: string,
  path: string,
  environment: NodeJS.ProcessEnv = {},
): Promise<ChildProcess> =>
  startServer(
    distPath('server.js'),
    {
      ADMIN_ACCOUNTS,
      PORT: String(port),
      DATA_DIR: dataDir,
      RATE_LIMIT_PER_MINUTE: '1000000',
      QR_RATE_LIMIT_PER_MINUTE: '1000000',
      SHED_AFTER_MS: '60000',
      ...environment,
    },
    path,
  )

/** Kills servers, and waits until they have exited. */
export async function stopServers(children: ChildProcess[]): Promise<void> {
  await Promise.all(
    children.map(async (child) => {
      if (hasExited(child)) return
      const exited = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await exited
    }),
  )
}

/** Resident memory of a process (VmRSS), MB. */
export function getResidentMB(child: ChildProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024
}
