import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ConfigError } from '../../src/config/config-error.js'
import {
  ADMIN_ACCOUNTS,
  cookieHeader,
  parseSetCookies,
  signIn,
  postLogin,
  verify,
} from '../support/sign-in.js'
import { startApp, temporaryFolder } from '../support/app.js'

/** A service whose file of ended sessions cannot be written any more. */
async function startUnwritable(t: Test, how: 'a folder' | 'a full disk' = 'a folder') {
  const DATA_DIR = temporaryFolder(t)
  const service = await startApp(t, { DATA_DIR, ADMIN_ACCOUNTS })
  const file = join(DATA_DIR, 'remembered')
  return {
    ...service,
    environment: { DATA_DIR, ADMIN_ACCOUNTS },
    breakFile() {
      rmSync(file, { force: true })
      if (how === 'a folder') mkdirSync(file)
      else symlinkSync('/dev/full', file)
    },
    mendFile: () => rmSync(file, { recursive: true }),
  }
}

const signOut = (url: string, token: string): Promise<Response> =>
  fetch(`${url}/api/admin/logout`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })

async function readiness(url: string) {
  const response = await fetch(`${url}/readyz`)
  const { checks } = (await response.json()) as { checks: Record<string, { detail: string }> }
  return { status: response.status, detail: checks.sessions?.detail }
}

for (const [how, reason] of [
  ['a folder', /EISDIR/],
  ['a full disk', /the disk is full, ENOSPC/],
] as const) {
  t.test(`reports a sign-out that cannot be persisted (${how})`, async (t) => {
    const service = await startUnwritable(t, how)
    const { url, log } = service
    const token = await signIn(url)
    t.match(await readiness(url), { status: 200 })
    service.breakFile()

    const response = await signOut(url, token)
    t.equal(response.status, 503)
    t.match(response.headers.get('content-type'), 'application/problem+json')
    t.match(await response.json(), { detail: /^You are signed out, but the sign-out could not/ })
    t.match(parseSetCookies(response).get('clearwake'), /Expires=Thu, 01 Jan 1970/)
    t.equal((await verify(url, token)).status, 401, 'the session has ended all the same')
    t.match(
      log.filter(({ level }) => level === 50),
      [{ msg: 'revoked sessions cannot be persisted in DATA_DIR' }],
    )
    t.match(await readiness(url), { status: 503, detail: reason })
    t.equal((await postLogin(url)).status, 200, 'sign-in still works')

    service.mendFile()
    t.match(await readiness(url), { status: 200 })
    const again = await startApp(t, service.environment)
    t.equal((await verify(again.url, token)).status, 401, 'is persisted in the end')
  })
}

t.test('persists a sign-out with the next one, and on shutdown', async (t) => {
  const service = await startUnwritable(t)
  const { url, environment } = service
  const first = await signIn(url)
  const second = await signIn(url)
  const third = await signIn(url)
  service.breakFile()
  t.equal((await signOut(url, first)).status, 503)
  service.mendFile()
  // What a disk that fills up in the middle of a line leaves.
  writeFileSync(join(environment.DATA_DIR, 'remembered'), `${Date.now() + 60_000} ended:ha`)
  t.equal((await signOut(url, second)).status, 204)
  const beside = await startApp(t, environment)
  for (const token of [first, second]) t.equal((await verify(beside.url, token)).status, 401)

  service.breakFile()
  t.equal((await signOut(url, third)).status, 503)
  service.mendFile()
  await service.app.close()
  const again = await startApp(t, environment)
  t.equal((await verify(again.url, third)).status, 401)
})

t.test('reports an unsaved sign-out on the page', async (t) => {
  const service = await startUnwritable(t)
  const { url } = service
  const cookie = cookieHeader(await postLogin(url))
  service.breakFile()
  const response = await fetch(`${url}/admin/logout`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, 'sec-fetch-site': 'same-origin' },
  })
  t.equal(response.status, 503)
  t.match(parseSetCookies(response).get('clearwake'), /Expires=Thu, 01 Jan 1970/)
  const page = await response.text()
  t.match(page, /<h1>Sign in<\/h1>/)
  t.match(page, /role="alert">You are signed out, but the sign-out could not be saved/)
  const after = await fetch(`${url}/admin`, { headers: { cookie }, redirect: 'manual' })
  t.not(after.status, 200)
})

t.test('reports a full disk at the start, and leaves no temporary file', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const [expires, draft] = [Date.now() + 60_000, `remembered.${process.pid}`]
  writeFileSync(join(DATA_DIR, 'remembered'), `${expires} ended:someone\n`)
  symlinkSync('/dev/full', join(DATA_DIR, draft))
  await t.rejects(startApp(t, { DATA_DIR, ADMIN_ACCOUNTS }), {
    name: ConfigError.name,
    message: /revoked sessions cannot be persisted in DATA_DIR \(the disk is full, ENOSPC\)$/,
  })
  const files = readdirSync(DATA_DIR).filter((name) => !name.startsWith('orders.db'))
  t.strictSame(files, ['remembered'])
})
