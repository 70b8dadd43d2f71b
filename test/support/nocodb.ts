import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_TITLES } from '../../src/nocodb/columns.js'
import { createNocoDbClient } from '../../src/nocodb/nocodb-client.js'
import { setUpTable } from '../../src/nocodb/table-schema.js'
import { temporaryFolder } from './app.js'
import { freePort } from './free-port.js'
import { NOCODB_SERVER, NOCODB_TOOLS } from './nocodb-tools.js'
import type { Scope } from './scope.js'

const OWNER = { email: 'owner@example.com', password: 'Passw0rd!of-the-tests' }

/** Long enough for a busy machine, ms. */
const START_TIMEOUT_MS = 240_000

export interface TestBase {
  baseId: string
  tableId: string
  /** Environment variables of Clearwake */
  environment: Record<string, string>
}

export interface NocoDbResponse {
  status: number
  body: any
}

export interface TestNocoDb {
  url: string
  token: string
  /** Folder of its files, such as its SQLite database `noco.db` */
  folder: string
  start: () => Promise<void>
  /** Kills the process, as a crash does */
  kill: () => Promise<void>
  /** Accepts connections, but does not respond */
  freeze: () => void
  thaw: () => void
  /** Sends a request to NocoDB's API */
  api: (method: string, path: string, body?: unknown) => Promise<NocoDbResponse>
  /** Creates a base without tables; returns its id */
  createEmptyBase: () => Promise<string>
  /** Creates a base with an empty orders table */
  createBase: () => Promise<TestBase>
}

async function parseBody(response: Response): Promise<any> {
  const text = await response.text()
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/**
 * Starts a NocoDB server with an owner account; stopped when the test ends.
 *
 * @param database the value of NC_DB; SQLite by default
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
    const appendOutput = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-20_000)
    }
    started.stdout.on('data', appendOutput)
    started.stderr.on('data', appendOutput)
    const deadline = Date.now() + START_TIMEOUT_MS
    while (!output.includes('NOCODB_READY')) {
      if (started.exitCode !== null || started.signalCode !== null || Date.now() > deadline) {
        throw new Error(`NocoDB did not start:\n${output}`)
      }
      await sleep(50)
    }
  }

  async function kill(): Promise<void> {
    if (server === null) return
    const exited = once(server, 'exit')
    server.kill('SIGKILL')
    await exited
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
    return { status: response.status, body: await parseBody(response) }
  }

  t.teardown(kill)
  await start()
  const { body: owner } = await call('POST', '/api/v1/auth/user/signup', OWNER, {})
  const asOwner = { 'xc-auth': String(owner.token) }
  const created = await call('POST', '/api/v1/tokens', { description: 'tests' }, asOwner)
  const token = String(created.body.token)

  async function createEmptyBase(): Promise<string> {
    const title = `base ${++bases}`
    const { body } = await call('POST', '/api/v2/meta/bases', { title }, asOwner)
    return String(body.id)
  }

  return {
    url,
    token,
    folder,
    start,
    kill,
    freeze: () => void server?.kill('SIGSTOP'),
    thaw: () => void server?.kill('SIGCONT'),
    api: (method, path, body) => call(method, path, body, { 'xc-token': token }),
    createEmptyBase,
    async createBase() {
      const baseId = await createEmptyBase()
      const client = createNocoDbClient({ baseUrl: url, token, requestsPerSecond: 1_000 })
      const { tableId } = await setUpTable({
        client,
        baseId,
        tableId: '',
        titles: DEFAULT_TITLES,
        onProgress: () => undefined,
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
