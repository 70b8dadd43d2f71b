import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Test } from 'tap'
import { temporaryFolder } from './app.js'
import { freePort } from './free-port.js'
import { rawRequest } from './raw-http.js'
import { waitUntil } from './wait-for.js'

/** Part of the URL of the test server; must not appear in any output. */
export const REDIS_PASSWORD = 'redis-password-of-the-tests'

/** Finds redis-server in REDIS_SERVER_PATH or PATH; `null` if there is none. */
export function findRedis(): string | null {
  const { REDIS_SERVER_PATH, PATH = '' } = process.env
  const candidates = [
    ...(REDIS_SERVER_PATH ? [REDIS_SERVER_PATH] : []),
    ...PATH.split(delimiter).map((folder) => join(folder, 'redis-server')),
  ]
  return candidates.find((path) => existsSync(path)) ?? null
}

export interface TestRedis {
  url: string
  start(): Promise<void>
  /** Kills the process, as a crash does */
  kill(): Promise<void>
  /** Accepts connections without a response */
  freeze(): void
  thaw(): void
}

/** True once the server has loaded its data; before that, it responds with LOADING. */
async function isReady(port: number): Promise<boolean> {
  const commands = `AUTH ${REDIS_PASSWORD}\r\nPING\r\nQUIT\r\n`
  const response = await rawRequest(`http://127.0.0.1:${port}`, commands).catch(() => '')
  return response.includes('+PONG\r\n')
}

/** A Redis server with persistence, not yet started; stopped when the test ends. */
export async function testRedis(t: Test): Promise<TestRedis> {
  const executable = findRedis()
  if (executable === null) throw new Error('redis-server not found; run npm test to install it')
  const port = await freePort()
  const folder = temporaryFolder(t)
  let server: ChildProcess | null = null

  async function kill(): Promise<void> {
    if (server?.exitCode !== null) return
    const exited = once(server, 'exit')
    server.kill('SIGKILL')
    await exited
    server = null
  }
  t.teardown(kill)

  return {
    url: `redis://:${REDIS_PASSWORD}@127.0.0.1:${port}/0`,
    async start() {
      server = spawn(executable, [
        ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder],
        ...['--requirepass', REDIS_PASSWORD],
        ...['--save', '', '--appendonly', 'yes', '--appendfsync', 'always'],
      ])
      let output = ''
      server.stdout?.on('data', (part: Buffer) => (output += part.toString()))
      const hasExited = () => server?.exitCode !== null
      if (!(await waitUntil(async () => hasExited() || (await isReady(port)))) || hasExited()) {
        throw new Error(`redis-server did not start:\n${output}`)
      }
    },
    kill,
    freeze: () => void server?.kill('SIGSTOP'),
    thaw: () => void server?.kill('SIGCONT'),
  }
}
