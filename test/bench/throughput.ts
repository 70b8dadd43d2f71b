import { fork, type ChildProcess } from 'node:child_process'
import { cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'

export const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
export const SECONDS = Number(process.env.BENCH_SECONDS ?? 3)
export const CONNECTIONS = 10

/** Where measurements were made, for the reader. */
export const MACHINE = `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}, Node ${process.version}`

/** A server in a process of its own, once it answers at a path; its port is in its environment. */
export async function start(
  script: string,
  environment: NodeJS.ProcessEnv,
  path: string,
): Promise<ChildProcess> {
  const child = fork(script, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  for (let i = 0; i < 100; i++) {
    const answer = await fetch(`http://127.0.0.1:${environment.PORT}${path}`).catch(() => null)
    if (answer?.ok) return child
    await sleep(100)
  }
  throw new Error(`${script} does not answer`)
}

/** Answers a second to a GET, or a POST of JSON, after making sure that they are answers. */
export async function throughput(port: number, path: string, body?: unknown): Promise<number> {
  const result = await autocannon({
    url: `http://127.0.0.1:${port}${path}`,
    connections: CONNECTIONS,
    duration: SECONDS,
    ...(body === undefined
      ? {}
      : {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        }),
  })
  if (result.non2xx + result.errors > 0)
    throw new Error(`${path}: ${result.non2xx} refused, ${result.errors} failed`)
  return result.requests.average
}

export const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
