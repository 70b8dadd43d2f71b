import { spawn, spawnSync, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { getDatabasePath } from '../src/database/database-plugin.js'
import { openDatabase } from '../src/database/open-database.js'
import { postJson, SECRET, temporaryFolder } from './support/app.js'
import { distPath } from './support/dist-path.js'
import { freePort } from './support/free-port.js'
import { newOrder } from './support/order-store.js'
import { rawRequest, rawSocket, readToEnd } from './support/raw-http.js'
import { startService } from './support/service.js'
import { ADMIN_ACCOUNTS, signIn } from './support/sign-in.js'
import { waitUntil } from './support/wait-for.js'

const SERVER = distPath('server.js')

interface Run {
  process: ChildProcess
  output: () => string
  errors: () => string
  /** Its exit code, once it has ended */
  ended: Promise<number | null>
}

/** Starts the service as an operator does, with nothing in its environment but what is given. */
function run(
  t: Test,
  cwd: string,
  environment: Record<string, string> = {},
  options: SpawnOptions = {},
): Run {
  const { PATH = '' } = process.env
  // tap's hooks write next to the project, which this user may not.
  const child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, SERVER], {
    ...options,
    stdio: 'pipe',
    cwd,
    env: { PATH, ...environment },
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', (part: Buffer) => (output += part.toString()))
  child.stderr.on('data', (part: Buffer) => (errors += part.toString()))
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  t.teardown(() => child.kill('SIGKILL'))
  return { process: child, output: () => output, errors: () => errors, ended }
}

async function waitUntilResponding(url: string, { process: child, errors }: Run): Promise<void> {
  for (;;) {
    try {
      const response = await fetch(`${url}/healthz`)
      await response.text()
      return
    } catch (error) {
      if (child.exitCode !== null) throw new Error(`it ended: ${errors()}`, { cause: error })
      await sleep(50)
    }
  }
}

/** Generates a code and returns its link. */
async function getLink(url: string): Promise<string> {
  const response = await fetch(`${url}/api/qr-code/generate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      calculatorType: 'custom',
      calculatorData: { amount: 1, unit: 't' },
      vessel: { name: 'Eendracht' },
    }),
  })
  const { url: link } = (await response.json()) as { url: string }
  return link
}

t.test('starts without configuration, and keeps its secret in ./data', async (t) => {
  const cwd = temporaryFolder(t)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const service = run(t, cwd, { PORT: String(port) })
  await waitUntilResponding(url, service)
  t.match(await (await fetch(url)).text(), /<h1>/)
  t.ok(existsSync(join(cwd, 'data', 'session-secret')))

  const link = await getLink(url)
  t.ok(link.startsWith(`${url}/calculator/custom?`))

  service.process.kill('SIGTERM')
  t.equal(await service.ended, 0)
  t.match(service.errors(), /^ {2}password {2}\S{23}$/m, 'prints the first administrator once')

  const again = run(t, cwd, { PORT: String(port) })
  await waitUntilResponding(url, again)
  t.match(await (await fetch(link)).text(), /id="trip"/, 'printed codes survive a restart')
  again.process.kill('SIGINT')
  t.equal(await again.ended, 0)
  const secret = readFileSync(join(cwd, 'data', 'session-secret'), 'utf8').trim()
  t.notOk((service.output() + again.output()).includes(secret))
})

t.test('reports every configuration error in one message', async (t) => {
  const service = run(t, temporaryFolder(t), {
    HOST: '0.0.0.0',
    PORT: 'http',
    SESSION_SECRET: 'short and secret',
    TIME_ZONE: 'Nowhere',
    CURRENCY: 'euro',
  })
  t.equal(await service.ended, 1)
  for (const name of [
    'PORT',
    'SESSION_SECRET',
    'TIME_ZONE',
    'CURRENCY',
    'ADMIN_ACCOUNTS',
    'PUBLIC_BASE_URL',
  ]) {
    t.match(service.errors(), new RegExp(`^ {2}${name} `, 'm'))
  }
  t.notMatch(service.errors(), /short and secret/)
  t.notMatch(service.errors(), /\n\s+at /, 'without a stack')
  t.equal(service.output(), '')
})

t.test('fails to start with one message if the port is in use', async (t) => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  t.teardown(() => holder.close())
  const { port } = holder.address() as AddressInfo
  const service = run(t, temporaryFolder(t), { PORT: String(port) })
  t.equal(await service.ended, 1)
  t.match(service.errors(), /port is in use.*PORT/)
  t.notMatch(service.errors(), /\n\s+at /)
})

t.test('fails to start with one message if the data directory cannot exist', async (t) => {
  const service = run(t, temporaryFolder(t), { PORT: '0', DATA_DIR: '/proc/nope/data' })
  t.equal(await service.ended, 1)
  t.match(service.errors(), /the session secret cannot be stored in DATA_DIR .*ENOENT/)
})

/** File permissions do not apply to root, so the service runs as `nobody`. */
const UNPRIVILEGED = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
const canReadBuild = spawnSync(process.execPath, ['--check', SERVER], UNPRIVILEGED).status === 0

t.test(
  'fails to start with one message if the data directory is not writable',
  { skip: canReadBuild ? false : 'the user nobody cannot read the build' },
  async (t) => {
    const cannotStore = (subject: string) =>
      new RegExp(`^ {2}${subject} cannot be \\w+ in DATA_DIR \\(permission denied, EACCES\\)$`, 'm')
    const given = { PORT: '0', SESSION_SECRET: SECRET, ADMIN_ACCOUNTS }
    for (const [message, environment] of [
      [cannotStore('the session secret'), {}],
      [cannotStore('the first administrator'), { SESSION_SECRET: SECRET }],
      [/^Clearwake cannot start: Cannot open .*orders\.db: it is not writable \(\w+\)\.$/m, given],
    ] as const) {
      const folder = temporaryFolder(t)
      chmodSync(folder, 0o555)
      t.teardown(() => chmodSync(folder, 0o755))
      const service = run(t, folder, { DATA_DIR: folder, ...environment }, UNPRIVILEGED)
      t.equal(await service.ended, 1)
      t.match(service.errors(), message)
      t.notMatch(service.errors(), /\n\s+at |PORT/)
      t.strictSame(readdirSync(folder), [])
    }
  },
)

t.test('fails to start with one message if the order database lacks a table', async (t) => {
  const folder = temporaryFolder(t)
  const db = openDatabase(getDatabasePath(folder))
  db.exec('DROP TABLE order_totals')
  db.close()
  const service = run(t, folder, { DATA_DIR: folder, PORT: '0' })
  t.equal(await service.ended, 1)
  t.match(
    service.errors(),
    /^Clearwake cannot start: Cannot open .*orders\.db: no such table: order_totals; restore it from a backup\.$/m,
  )
  t.notMatch(service.errors(), /\n\s+at /)
})

/** Stops the service while a request is half sent; returns its response and those of later requests. */
async function stopDuringRequest(t: Test) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const service = run(t, temporaryFolder(t), {
    PORT: String(port),
    SESSION_SECRET: SECRET,
    SHUTDOWN_TIMEOUT_MS: '60000',
  })
  await waitUntilResponding(url, service)

  const body = JSON.stringify({ fuelType: 'mgo', quantity: 1, unit: 'kg' })
  const socket = await rawSocket(url)
  socket.write(
    'POST /api/calculators/fuel/estimate HTTP/1.1\r\nhost: localhost\r\n' +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
  )
  // A response on another connection shows that this one was accepted before.
  await (await fetch(`${url}/healthz`)).text()
  service.process.kill('SIGTERM')
  const sendRequest = () =>
    rawRequest(url, 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n').catch(() => null)
  await waitUntil(() => service.output().includes('closing'))
  const atOnce = await sendRequest()
  const isClosed = await waitUntil(async () => (await sendRequest()) === null)
  socket.write(body.slice(10))
  return { atOnce, isClosed, answer: await readToEnd(socket), code: await service.ended }
}

t.test('finishes the current request on SIGTERM, then exits with 0', async (t) => {
  let stop = await stopDuringRequest(t)
  // New connections are accepted for half a second; a busy machine may miss it.
  for (let tries = 0; stop.atOnce === null && tries < 4; tries++) stop = await stopDuringRequest(t)
  t.match(stop.atOnce, /^HTTP\/1\.1 200 /, 'serves a request on a new connection')
  t.match(stop.atOnce, /\r\nconnection: close\r\n/i, 'with Connection: close')
  t.ok(stop.isClosed, 'then accepts no more connections')
  t.match(stop.answer, /^HTTP\/1\.1 200 /)
  t.match(stop.answer, /"co2eKg":3\.87/)
  t.equal(stop.code, 0)
})

t.test('an idle connection does not keep the process running', async (t) => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const service = run(t, temporaryFolder(t), { PORT: String(port), SESSION_SECRET: SECRET })
  await waitUntilResponding(url, service)
  const silent = await rawSocket(url)
  const half = await rawSocket(url)
  half.write('GET / HTTP/1.1\r\nhost')
  const closed = Promise.all([silent, half].map((socket) => once(socket.resume(), 'close')))
  service.process.kill('SIGTERM')
  await closed
  t.equal(await service.ended, 0)
})

t.test('loses no responses when stopped under load', async (t) => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const service = run(t, temporaryFolder(t), { PORT: String(port), SESSION_SECRET: SECRET })
  await waitUntilResponding(url, service)
  const agent = new Agent({ keepAlive: true })
  let answered = 0
  let stopped = false
  const lost: string[] = []
  const sendRequest = () =>
    new Promise<boolean>((resolve) => {
      get(`${url}/api/calculators`, { agent }, (response) => {
        response.resume().once('end', () => {
          answered++
          resolve(response.headers.connection !== 'close')
        })
      }).once('error', (error: NodeJS.ErrnoException) => {
        // Refused before anything was sent, so a client can retry elsewhere.
        if (error.code !== 'ECONNREFUSED' || !stopped) lost.push(String(error.code))
        resolve(false)
      })
    })
  const clients = Array.from({ length: 12 }, async () => {
    while (await sendRequest());
  })
  t.ok(await waitUntil(() => answered > 100))
  stopped = true
  service.process.kill('SIGTERM')
  await Promise.all(clients)
  agent.destroy()
  t.same(lost, [])
  t.equal(await service.ended, 0)
})

t.test('reads .env from the working directory; the environment takes precedence', async (t) => {
  const cwd = temporaryFolder(t)
  const port = await freePort()
  writeFileSync(
    join(cwd, '.env'),
    `PORT=1\nPUBLIC_BASE_URL=https://carbon.example.com\nDATA_DIR=./from-file\n# a comment\n`,
  )
  const service = run(t, cwd, { PORT: String(port) })
  await waitUntilResponding(`http://127.0.0.1:${port}`, service)
  t.match(await getLink(`http://127.0.0.1:${port}`), /^https:\/\/carbon\.example\.com\//)
  t.ok(existsSync(join(cwd, 'from-file', 'session-secret')))
  service.process.kill('SIGTERM')
  t.equal(await service.ended, 0)
})

t.test('starts search and export workers from the build directory', async (t) => {
  const { url } = await startService(t)
  const authorization = `Bearer ${await signIn(url)}`
  await postJson(`${url}/api/admin/orders`, newOrder(), { authorization })
  const sendRequest = async (query: string) => {
    const response = await fetch(`${url}/api/admin/orders${query}`, { headers: { authorization } })
    return { status: response.status, body: Buffer.from(await response.arrayBuffer()) }
  }
  const [search, csv, excel] = await Promise.all([
    sendRequest('?q=example'),
    sendRequest('/export?format=csv'),
    sendRequest('/export?format=xlsx'),
  ])
  t.same([search.status, csv.status, excel.status], [200, 200, 200])
  for (const { body } of [search, csv]) t.match(body.toString(), /Ann Example/)
  t.equal(excel.body.subarray(0, 2).toString(), 'PK')
})
