import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { hashPasswordSync } from '../../src/accounts/password.js'
import { getBrowserName } from '../../src/accounts/session-store.js'
import { projectRoot } from '../../src/core/config/config-part.js'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { startApp, temporaryFolder } from '../support/app.js'
import { startService } from '../support/service.js'
import {
  ADMIN,
  ADMIN_ACCOUNTS,
  cookieHeader,
  parseSetCookies,
  postLogin,
  signIn,
  verify,
} from '../support/sign-in.js'
import { waitUntil } from '../support/wait-for.js'

const OTHER = { email: 'other@example.com', password: 'another demo only' }
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0'

interface SessionItem {
  id: string
  current: boolean
  browser: string
  address: string
  createdAt: string
  lastSeenAt: string
  expiresAt: string
}

async function start(t: Test) {
  const DATA_DIR = temporaryFolder(t)
  const accounts = `${ADMIN_ACCOUNTS},${OTHER.email}:${hashPasswordSync(OTHER.password)}`
  const service = await startApp(t, { DATA_DIR, ADMIN_ACCOUNTS: accounts, TRUST_PROXY: 'true' })
  const { url } = service
  const send = (token: string, method: string, path = '') =>
    fetch(`${url}/api/admin/sessions${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
    })
  const list = async (token: string) =>
    ((await (await send(token, 'GET')).json()) as { items: SessionItem[] }).items
  const getId = async (token: string) => (await list(token)).find(({ current }) => current)?.id
  const isIn = async (token: string) => (await verify(url, token)).status === 200
  return { ...service, DATA_DIR, send, list, getId, isIn }
}

t.test('lists the sessions of the user, and of nobody else', async (t) => {
  const { url, list } = await start(t)
  const client = { 'user-agent': FIREFOX, 'x-forwarded-for': '203.0.113.7' }
  const first = await postLogin(url, ADMIN, client)
  await signIn(url, OTHER)
  const token = await signIn(url)
  const items = await list(token)
  t.equal(items.length, 2)
  const firefox = items.find(({ current }) => !current)
  t.match(firefox, { browser: 'Firefox on Windows', address: '203.0.113.7' })
  t.equal(firefox?.expiresAt, first.body.expiresAt)
  t.ok(Math.abs(Date.now() - Date.parse(firefox?.createdAt ?? '')) < 10_000)
  t.equal(firefox?.lastSeenAt, firefox?.createdAt)
})

t.test('ends one session or all others, immediately', async (t) => {
  const { url, send, getId, isIn } = await start(t)
  const [mine, lost, another] = [await signIn(url), await signIn(url), await signIn(url)]
  const foreign = await signIn(url, OTHER)
  t.equal((await send(mine, 'DELETE', `/${await getId(foreign)}`)).status, 404)
  t.equal((await send(mine, 'DELETE', '/nothing')).status, 404)
  t.equal(await isIn(foreign), true, 'the session of another account continues')

  t.equal((await send(mine, 'DELETE', `/${await getId(lost)}`)).status, 204)
  t.same([await isIn(mine), await isIn(lost), await isIn(another)], [true, false, true])
  t.equal((await send(mine, 'DELETE')).status, 204)
  t.same([await isIn(mine), await isIn(another), await isIn(foreign)], [true, false, true])
  t.equal((await send(mine, 'DELETE', `/${await getId(mine)}`)).status, 204)
  t.equal(await isIn(mine), false)
})

t.test('a copy of the database gives no access', async (t) => {
  const { app, url, DATA_DIR, isIn } = await start(t)
  const token = await signIn(url)
  const claims = app.jwt.decode<{ sub: string; jti: string; mark: string; exp: number }>(token)
  const { sub = '', jti = '', mark = '', exp = 0 } = claims ?? {}
  const hash = createHash('sha256').update(jti).digest('base64url')
  const files = ['', '-wal'].map((suffix) => readFileSync(getDatabasePath(DATA_DIR) + suffix))
  const isStored = (text: string) => files.some((file) => file.includes(text))
  t.ok(isStored(hash))
  for (const part of [token, jti, token.split('.')[2] ?? '']) t.notOk(isStored(part))
  t.equal(await isIn(app.jwt.sign({ sub, jti, mark, exp })), true)
  t.equal(await isIn(app.jwt.sign({ sub, jti: hash, mark, exp })), false)
})

t.test('each sign-in starts a new session, and ends that of the cookie', async (t) => {
  const { url, isIn } = await start(t)
  const first = await postLogin(url)
  const cookie = cookieHeader(first)
  const second = await postLogin(url, ADMIN, { cookie, origin: url })
  t.not(second.body.token, first.body.token)
  t.equal(await isIn(first.body.token as string), false)
  t.equal(await isIn(second.body.token as string), true)
  const failed = await postLogin(url, { ...ADMIN, password: 'wrong' }, { cookie, origin: url })
  t.equal(failed.status, 401)
  t.equal(await isIn(second.body.token as string), true, 'a failed sign-in ends none')
})

t.test('requests do not wait for writes to a locked database', async (t) => {
  const { url, DATA_DIR } = await start(t)
  const login = await postLogin(url)
  const headers = { cookie: cookieHeader(login), origin: url }
  const db = new Database(getDatabasePath(DATA_DIR))
  t.teardown(() => db.close())
  db.exec('BEGIN IMMEDIATE')
  const signOut = fetch(`${url}/admin/logout`, { method: 'POST', headers, redirect: 'manual' })
  const begun = performance.now()
  for (let i = 0; i < 5; i++) t.equal((await verify(url, login.body.token)).status, 200)
  t.ok(performance.now() - begun < 15_000)
  const failed = await signOut
  t.equal(failed.status, 503)
  t.match(parseSetCookies(failed).get('clearwake'), /^clearwake=; .*Expires=Thu, 01 Jan 1970/)
  t.match(await failed.text(), /your session was not ended on the server/)
  db.exec('ROLLBACK')
})

t.test('sessions end after 30 minutes without use, and after 8 hours', async (t) => {
  const CLOCK_FILE = join(temporaryFolder(t), 'clock')
  const setClock = (minutes: number) => writeFileSync(CLOCK_FILE, String(minutes * 60_000))
  setClock(0)
  const environment = { CLOCK_FILE, DATA_DIR: temporaryFolder(t) }
  const clock = join(projectRoot, '.test', 'test', 'support', 'fake-clock.js')
  const startClock = () => startService(t, environment, { nodeOptions: ['--import', clock] })
  const { url, process: service, ended } = await startClock()
  const isInAt = async (minutes: number, token: string, headers = {}) => {
    setClock(minutes)
    const authorization = `Bearer ${token}`
    const response = await fetch(`${url}/api/admin/verify`, {
      headers: { authorization, ...headers },
    })
    return response.status === 200
  }
  const [used, idle, open] = [await signIn(url), await signIn(url), await signIn(url)]
  const background = { 'clearwake-background': 'true' }
  t.equal(await isInAt(0.9, idle), true, 'within the minute, so it is not written')
  t.equal(await isInAt(29, used), true)
  t.equal(await isInAt(29, open, background), true)
  t.equal(await isInAt(30.1, idle), false, 'not used')
  t.equal(await isInAt(30.1, open, background), false, 'only used by an open page')
  t.equal(await isInAt(29, idle), true)
  t.equal(await isInAt(58, used), true, 'each use extends it')
  for (let minutes = 58; minutes < 480; minutes += 20) await isInAt(minutes, used)
  t.equal(await isInAt(479.9, used), true)
  t.equal(await isInAt(480.1, used), false, 'used, but too old')

  const db = new Database(getDatabasePath(environment.DATA_DIR), { readonly: true })
  t.teardown(() => db.close())
  const countRows = () => db.prepare('SELECT count(*) FROM sessions').pluck().get()
  t.equal(countRows(), 3)
  service.kill('SIGTERM')
  await ended
  await startClock()
  t.ok(await waitUntil(() => countRows() === 0), 'expired sessions are deleted')
})

t.test('names browsers and programs', async (t) => {
  const webKit = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'
  const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0'
  for (const [userAgent, name] of [
    [FIREFOX, 'Firefox on Windows'],
    [
      `Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) ${webKit} Version/26.0 Mobile/15E148 Safari/604.1`,
      'Safari on iPhone',
    ],
    [
      `Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) ${webKit} CriOS/142.0.7444.46 Mobile/15E148 Safari/604.1`,
      'Chrome on iPhone',
    ],
    [
      `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webKit} Version/26.0 Safari/605.1.15`,
      'Safari on macOS',
    ],
    [`Mozilla/5.0 (X11; Linux x86_64) ${chrome} Safari/537.36`, 'Chrome on Linux'],
    [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${chrome} Safari/537.36`, 'Chrome on ChromeOS'],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 Edg/142.0.0.0`,
      'Edge on Windows',
    ],
    [
      `Mozilla/5.0 (Linux; Android 10; K) ${chrome.replace('Chrome', 'SamsungBrowser/29.0 Chrome')} Mobile Safari/537.36`,
      'Samsung Internet on Android',
    ],
    ['Mozilla/5.0 (Android 15; Mobile; rv:145.0) Gecko/145.0 Firefox/145.0', 'Firefox on Android'],
    ['curl/8.14.1', 'curl'],
    ['python-requests/2.32.5', 'python-requests'],
    ['node', 'node'],
    ['Mozilla/5.0 (Linux; something)', 'Browser on Linux'],
    ['<script>', 'Unknown'],
    ['', 'Unknown'],
  ] as const) {
    t.equal(getBrowserName(userAgent), name)
  }
})
