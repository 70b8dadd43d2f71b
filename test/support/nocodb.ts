import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_TITLES } from '../../src/order-store/nocodb/columns.js'
import { createNocoDbClient } from '../../src/order-store/nocodb/nocodb-client.js'
import { setUpTable } from '../../src/order-store/nocodb/table-setup.js'
import { temporaryFolder } from './app.js'
import { freePort } from './free-port.js'
import type { Scope } from './scope.js'
import { NOCODB_SERVER, NOCODB_TOOLS } from './nocodb-tools.js'

const OWNER = { email: 'owner@example.com', password: 'Passw0rd!of-the-tests' }

/** Longer than NocoDB takes to start on a busy machine, ms. */
const STARTS_WITHIN_MS = 240_000

export interface TestBase {
  baseId: string
  tableId: string
  /** What Clearwake needs to use it */
  environment: Record<string, string>
}

export interface NocoDbAnswer {
  status: number
  body: any
}

export interface TestNocoDb {
  url: string
  token: string
  start: () => Promise<void>
  /** Ends it at once, as a crash would. */
  kill: () => Promise<void>
  /** It takes connections, and answers nothing. */
  freeze: () => void
  thaw: () => void
  /** Asks as its own pages do. */
  api: (method: string, path: string, body?: unknown) => Promise<NocoDbAnswer>
  /** A new base without tables */
  emptyBase: () => Promise<string>
  /** A new base with an empty table of orders */
  ordersBase: () => Promise<TestBase>
}

async function json(response: Response): Promise<any> {
  const text = await response.text()
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/**
 * A NocoDB of the test's own, started and with an owner; stopped when the test ends.
 *
 * @param database address of its database, in NocoDB's own way; SQLite unless given
 */
export async function startNocoDb(t: Scope, database?: string): Promise<TestNocoDb> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const folder = join(temporaryFolder(t), 'nocodb')
  mkdirSync(folder)
  let server: ChildProcess | null = null
  let bases = 0

  async function start(): Promise<void> {
    const started = spawn(process.execPath, [NOCODB_SERVER], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        TZ: 'UTC',
        TOOLS: NOCODB_TOOLS,
        PORT: String(port),
        NC_DB: database ?? `sqlite3://sqlite3?d=${join(folder, 'noco.db')}`,
        NC_TOOL_DIR: folder,
        NC_DISABLE_TELE: 'true',
        NC_DISABLE_ERR_REPORTS: 'true',
        NC_AUTH_JWT_SECRET: 'a secret of the tests',
      },
    })
    server = started
    let output = ''
    const keep = (part: Buffer): void => {
      output = (output + part.toString()).slice(-20_000)
    }
    started.stdout.on('data', keep)
    started.stderr.on('data', keep)
    const givesUp = Date.now() + STARTS_WITHIN_MS
    while (!output.includes('NOCODB_READY')) {
      if (started.exitCode !== null || started.signalCode !== null || Date.now() > givesUp) {
        throw new Error(`NocoDB does not start:\n${output}`)
      }
      await sleep(50)
    }
  }

  async function kill(): Promise<void> {
    if (server === null) return
    const ended = once(server, 'exit')
    server.kill('SIGKILL')
    await ended
    server = null
  }

  async function call(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ) {
    const response = await fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await json(response) }
  }

  t.teardown(kill)
  await start()
  const { body: owner } = await call('POST', '/api/v1/auth/user/signup', OWNER, {})
  const asOwner = { 'xc-auth': String(owner.token) }
  const made = await call('POST', '/api/v1/tokens', { description: 'tests' }, asOwner)
  const token = String(made.body.token)

  async function emptyBase(): Promise<string> {
    const title = `base ${++bases}`
    const { body } = await call('POST', '/api/v2/meta/bases', { title }, asOwner)
    return String(body.id)
  }

  return {
    url,
    token,
    start,
    kill,
    freeze: () => void server?.kill('SIGSTOP'),
    thaw: () => void server?.kill('SIGCONT'),
    api: (method, path, body) => call(method, path, body, { 'xc-token': token }),
    emptyBase,
    async ordersBase() {
      const baseId = await emptyBase()
      const client = createNocoDbClient({ baseUrl: url, token, requestsPerSecond: 1_000 })
      const { tableId } = await setUpTable({
        client,
        baseId,
        tableId: '',
        titles: DEFAULT_TITLES,
        tell: () => undefined,
      })
      await client.close()
      return {
        baseId,
        tableId,
        environment: {
          DATABASE_BASE_URL: url,
          DATABASE_BASE_ID: baseId,
          DATABASE_API_KEY: token,
          DATABASE_ORDERS_TABLE_ID: tableId,
          NOCODB_SYNC_INTERVAL: '0.3',
          NOCODB_REQUESTS_PER_SECOND: '1000',
        },
      }
    },
  }
}
