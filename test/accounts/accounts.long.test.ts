import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { parseAdminAccounts } from '../../src/accounts/account-config.js'
import { ConfigError } from '../../src/core/config/config-part.js'
import { startApp, temporaryFolder } from '../support/app.js'
import { distPath } from '../support/dist-path.js'
import { freePort } from '../support/free-port.js'
import { ADMIN_ACCOUNTS, postLogin } from '../support/sign-in.js'

const run = promisify(execFile)

interface Credentials {
  email: string
  password: string
}

/** Parses the credentials that a start prints, if any. */
function parseCredentials(errors: string): Credentials | null {
  const email = /^ {2}email +(\S+)$/m.exec(errors)?.[1]
  const password = /^ {2}password +(\S+)$/m.exec(errors)?.[1]
  return email === undefined || password === undefined ? null : { email, password }
}

/** Starts the service as an operator does, and waits until it listens. */
async function operate(t: Test, DATA_DIR: string, environment: Record<string, string> = {}) {
  const { PATH = '' } = process.env
  const port = await freePort()
  const child = spawn(process.execPath, [distPath('server.js')], {
    cwd: temporaryFolder(t),
    env: { PATH, PORT: String(port), DATA_DIR, ...environment },
  })
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  let errors = ''
  child.stderr.on('data', (part: Buffer) => (errors += part.toString()))
  while (!output.includes('listening')) {
    const [part] = (await once(child.stdout, 'data')) as [Buffer]
    output += part.toString()
  }
  return { url: `http://127.0.0.1:${port}`, output: () => output, errors: () => errors }
}

t.test('creates a first administrator and prints its password once', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const file = join(DATA_DIR, 'first-administrator')
  const first = await operate(t, DATA_DIR)
  const credentials = parseCredentials(first.errors())
  t.match(credentials, {
    email: 'admin@localhost',
    password: /^([2-9a-km-np-z]{5}-){3}[2-9a-km-np-z]{5}$/,
  })
  t.equal((await postLogin(first.url, credentials)).status, 200)
  t.equal(statSync(file).mode & 0o777, 0o600)
  const password = credentials?.password ?? ''
  t.notOk(readFileSync(file, 'utf8').includes(password))
  t.notOk(first.output().includes(password), 'is not logged')

  const second = await operate(t, DATA_DIR)
  t.equal(parseCredentials(second.errors()), null)
  t.equal((await postLogin(second.url, credentials)).status, 200, 'the first password still works')

  const named = await operate(t, DATA_DIR, { ADMIN_ACCOUNTS })
  t.equal(
    (await postLogin(named.url, credentials)).status,
    401,
    'counts only without configured accounts',
  )
  t.equal((await postLogin(named.url)).status, 200)

  rmSync(file)
  const third = await operate(t, DATA_DIR)
  const renewed = parseCredentials(third.errors())
  t.not(renewed?.password, password, 'creates another one if the file is missing')
  t.equal((await postLogin(third.url, credentials)).status, 401)
  t.equal((await postLogin(third.url, renewed)).status, 200)
})

t.test('only a start that succeeds shows the password of the first administrator', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const store = join(DATA_DIR, 'orders.db')
  writeFileSync(store, 'this is no order book, and never was one; '.repeat(50))
  const environment = { PATH: process.env.PATH, DATA_DIR, PORT: String(await freePort()) }
  const failed = run(process.execPath, [distPath('server.js')], { env: environment })
  let errors = ''
  failed.child.stderr?.on('data', (part: Buffer) => (errors += part.toString()))
  await t.rejects(failed, { code: 1, stderr: /orders\.db is damaged/ })
  t.equal(parseCredentials(errors), null)

  rmSync(store)
  const repaired = await operate(t, DATA_DIR)
  const credentials = parseCredentials(repaired.errors())
  t.equal((await postLogin(repaired.url, credentials)).status, 200)
})

t.test('concurrent processes create one first administrator', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const both = await Promise.all([operate(t, DATA_DIR), operate(t, DATA_DIR), operate(t, DATA_DIR)])
  const credentials = both
    .map(({ errors }) => parseCredentials(errors()))
    .filter((one) => one !== null)
  t.equal(credentials.length, 1, 'one process prints it')
  for (const { url } of both) t.equal((await postLogin(url, credentials[0])).status, 200)
})

t.test('simultaneous processes share one secret file', async (t) => {
  const folder = join(temporaryFolder(t), 'data') // does not exist yet
  const module = new URL('../../src/core/config/read-or-create-file.js', import.meta.url).href
  // All begin together and take their time, so that each finds no file at first.
  const begin = Date.now() + 1500
  const script = `
    const { readOrCreateFile } = await import('${module}')
    const wait = (until) => { while (Date.now() < until); }
    wait(${begin})
    const make = () => { wait(${begin + 300}); return crypto.randomUUID() }
    console.log(JSON.stringify(readOrCreateFile('${folder}', 'secret', make)))`
  const kept = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script])
      return JSON.parse(stdout) as { text: string; isNew: boolean }
    }),
  )
  t.equal(new Set(kept.map(({ text }) => text)).size, 1)
  t.equal(kept.filter(({ isNew }) => isNew).length, 1)
})

t.test('a damaged file prevents the start', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  writeFileSync(join(DATA_DIR, 'first-administrator'), 'admin@localhost:half a ha')
  await t.rejects(startApp(t, { DATA_DIR }), {
    name: ConfigError.name,
    message: /first-administrator in DATA_DIR is damaged/,
  })
})

t.test('each administrator signs in with their own password', async (t) => {
  const { stdout: second } = await hashed('Second@Example.com', 'a password of another\n')
  const { url } = await startApp(t, { ADMIN_ACCOUNTS: `${ADMIN_ACCOUNTS},${second}` })
  t.equal((await postLogin(url)).status, 200)
  const credentials = { email: 'second@example.com', password: 'a password of another' }
  t.equal((await postLogin(url, credentials)).status, 200)
  t.equal((await postLogin(url, { ...credentials, email: 'admin@example.com' })).status, 401)
})

/** What `npm run -s admin:hash -- EMAIL < password` runs. */
async function hashed(
  email: string,
  password: string,
): Promise<{ stdout: string; stderr: string }> {
  const command = run(process.execPath, [distPath('commands', 'admin-hash.js'), email])
  command.child.stdin?.end(password)
  return command
}

t.test('the command prints one account, which can sign in', async (t) => {
  const password = 'pass word, with: signs$ and é'
  const { stdout, stderr } = await hashed('Captain@Example.com', `${password}\n`)
  t.match(stdout, /^captain@example\.com:\$argon2id\$v=19\$m=19456,t=2,p=1\$[^\n]+\n$/)
  t.equal(stderr, '')
  t.equal(parseAdminAccounts(stdout)?.length, 1)
  const { url } = await startApp(t, { ADMIN_ACCOUNTS: stdout })
  t.equal((await postLogin(url, { email: 'captain@example.com', password })).status, 200)
})

t.test('the command rejects invalid accounts', async (t) => {
  for (const [email, password, reason] of [
    ['captain', 'a long enough password', /Usage/],
    ['captain@example.com', 'too short', /at least 12 characters/],
    ['captain@example.com', 'x'.repeat(1025), /at most 1024 characters/],
    ['captain@example.com', '', /at least 12 characters/],
    ['captain@example.com', 'Sunshine2024!', /too common/],
    ['captain@example.com', 'the captain at sea', /name in your email address/],
    ['captain@example.com', 'my clearwake password', /clearwake/],
  ] as const) {
    await t.rejects(hashed(email, password), { code: 1, stdout: '', stderr: reason })
  }
})
