import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Test } from 'tap'
import { temporaryFolder } from './app.js'
import { freePort } from './free-port.js'
import { rawSocket, readToEnd } from './raw-http.js'
import { waitUntil } from './wait-for.js'

/** Part of REDIS_URL; must not be disclosed. */
export const REDIS_PASSWORD = 'redis-password-of-the-tests'

/** Path of redis-server: REDIS_SERVER_PATH, or in PATH; `null` if it is not installed. */
export function findRedis(): string | null {
  const { REDIS_SERVER_PATH, PATH = '' } = process.env
  const places = [
    ...(REDIS_SERVER_PATH ? [REDIS_SERVER_PATH] : []),
    ...PATH.split(delimiter).map((folder) => join(folder, 'redis-server')),
  ]
  return places.find((placeOrder) => existsSync(placeOrder)) ?? null
}

export interface TestRedis {
  url: string
  start(): Promise<void>
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>
  /** Accepts connections and requests without a response. */
  freeze(): void
  thaw(): void
}

/** Creates a persistent Redis, which is not started yet; stopped when the test ends. */
export async function testRedis(t: Test): Promise<TestRedis> {
  const executable = findRedis()
  if (executable === null) throw new Error('no redis-server found: run npm test')
  const port = await freePort()
  const folder = temporaryFolder(t)
  let server: ChildProcess | null = null

  async function kill(): Promise<void> {
    if (server?.exitCode !== null) return
    const ended = once(server, 'exit')
    server.kill('SIGKILL')
    await ended
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
      const ended = () => server?.exitCode !== null
      if (!(await waitUntil(async () => ended() || (await responses(port)))) || ended()) {
        throw new Error(`redis-server does not start:\n${output}`)
      }
    },
    kill,
    freeze: () => void server?.kill('SIGSTOP'),
    thaw: () => void server?.kill('SIGCONT'),
  }
}

/** Whether it has finished loading its data. */
async function responses(port: number): Promise<boolean> {
  try {
    const socket = await rawSocket(`http://127.0.0.1:${port}`)
    socket.end(`AUTH ${REDIS_PASSWORD}\r\nPING\r\n`)
    return (await readToEnd(socket)).endsWith('+PONG\r\n')
  } catch {
    return false
  }
}
