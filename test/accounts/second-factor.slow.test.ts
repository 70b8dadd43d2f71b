import { Secret, TOTP } from 'otpauth'
import t, { type Test } from 'tap'
import { createIdentifierHasher } from '../../src/core/config/secrets.js'
import { createAccount } from '../support/accounts.js'
import { SECRET, startApp, temporaryFolder } from '../support/app.js'
import { startMailService } from '../support/mail-service.js'
import { signInClient, type PageClient } from '../support/page-client.js'
import { manyOrders, startPortal } from '../support/portal.js'
import { upstreamEnvironment } from '../support/recording-upstream.js'
import { runCommand } from '../support/run-command.js'
import { ADMIN, ADMIN_ACCOUNTS, cookieHeader, postLogin, signIn } from '../support/sign-in.js'
import { waitFor } from '../support/wait-for.js'

const APP_PAGE = '/admin/account/authenticator-app'
const STEP_MS = 30_000
/** Nothing listens there. */
const UNREACHABLE = 'http://127.0.0.1:9'

async function addApp(client: PageClient): Promise<{ totp: TOTP; recoveryCodes: string[] }> {
  const form = await client.get(APP_PAGE)
  const [, sealed = ''] = /name="sealed" value="([^"]+)"/.exec(form.text) ?? []
  const [, key = ''] = /<code>([A-Z2-7 ]+)<\/code>/.exec(form.text) ?? []
  const totp = new TOTP({ secret: Secret.fromBase32(key.replaceAll(' ', '')) })
  // The code of the previous step leaves the current one for the tests.
  const code = totp.generate({ timestamp: Date.now() - STEP_MS })
  const added = await client.post(APP_PAGE, { sealed, code })
  const [, codes = ''] = /recovery-codes"[^>]*>([^<]+)</.exec(added.text) ?? []
  return { totp, recoveryCodes: codes.trim().split('\n') }
}

async function start(t: Test) {
  const DATA_DIR = temporaryFolder(t)
  const started = await startApp(t, { DATA_DIR, ADMIN_ACCOUNTS, LOGIN_LIMIT_PER_CLIENT: '1000' })
  return { ...started, DATA_DIR, client: await signInClient(started.url, ADMIN) }
}

t.test('codes of an authenticator app are accepted once, and with clock drift', async (t) => {
  const { url, app, client } = await start(t)
  const otherToken = await signIn(url)
  const { totp, recoveryCodes } = await addApp(client)
  t.equal(recoveryCodes.length, 10)
  const { status } = await fetch(`${url}/api/admin/verify`, {
    headers: { authorization: `Bearer ${otherToken}` },
  })
  t.equal(status, 401, 'sessions without the new factor end')
  t.equal((await client.get('/admin/account')).status, 200, 'this session continues')

  const getStatus = async (code?: string) => (await postLogin(url, { ...ADMIN, code })).status
  const generate = (steps: number) => totp.generate({ timestamp: Date.now() + steps * STEP_MS })
  t.equal(await getStatus(), 401, 'the password is not enough')
  t.equal(await getStatus(generate(3)), 401, 'too far in the future')
  t.equal(await getStatus(generate(1)), 200, 'a clock that is half a minute ahead')
  t.equal(await getStatus(generate(1)), 401, 'the same code again')
  t.equal(await getStatus(generate(0)), 401, 'an earlier code')
  const [first = '', second = ''] = recoveryCodes
  const uses = await Promise.all([getStatus(first), getStatus(first), getStatus(first)])
  t.same(uses.sort(), [200, 401, 401], 'a recovery code works once, however often it is sent')
  const wrong = []
  for (let i = 0; i < 10; i++) wrong.push(await getStatus('000000'))
  t.equal(wrong.at(-1), 429, 'guesses are limited')
  t.equal(await getStatus(second), 200, 'but recovery codes are accepted')

  const rows = await app.database.query<{ secret: string }>('SELECT * FROM authenticator_apps')
  const stored = JSON.stringify([rows, await app.database.query('SELECT * FROM recovery_codes')])
  t.notMatch(stored, totp.secret.base32)
  t.notOk(recoveryCodes.some((code) => stored.includes(code.replaceAll('-', ''))))
})

t.test('wrong codes of a stranger do not lock out a known device', async (t) => {
  const { url, app, client } = await start(t)
  const { totp } = await addApp(client)
  const signInWith = (code: string, cookie = '') =>
    postLogin(url, { ...ADMIN, code }, { cookie, origin: url })
  const generate = (steps: number) => totp.generate({ timestamp: Date.now() + steps * STEP_MS })
  const guess = async (times: number, cookie?: string) => {
    const found = new Set<number>()
    for (let i = 0; i < times; i++) found.add((await signInWith('000000', cookie)).status)
    return [...found]
  }
  const device = cookieHeader(await signInWith(generate(0)))

  t.same(await guess(10), [401])
  t.match(await signInWith(generate(1)), { status: 429, body: { detail: /recovery code/ } })
  t.equal((await signInWith(generate(1), device)).status, 200)

  // A quarter of an hour later, until a day is over
  const key = `codes:${createIdentifierHasher(SECRET)('codes', ADMIN.email)}`
  const skipPause = async () => {
    for (let i = 0; i < 10; i++) await app.stateStore.refund(key)
  }
  await skipPause()
  t.same(await guess(10), [401])
  await skipPause()
  const limited = await signInWith('000000')
  t.equal(limited.status, 429)
  t.ok(Number(limited.headers.get('retry-after')) > 60 * 60)

  t.same(await guess(10, device), [401])
  t.same(await guess(1, device), [429], 'nor can a stolen cookie be used to guess')
})

t.test('users are notified of failed codes, new devices and changed credentials', async (t) => {
  const service = await startMailService(t)
  const { url, smtp } = service
  const account = await createAccount(service, 'manager')
  const { email, password } = account
  const waitForNotice = async (title: string) => {
    const notice = await waitFor(async () =>
      smtp.notices.find(
        ({ headers, recipients }) =>
          recipients.includes(email) && headers.get('subject')?.includes(title),
      ),
    )
    smtp.notices.splice(smtp.notices.indexOf(notice), 1)
    return notice
  }
  const client = await signInClient(url, account)
  const signedIn = await waitForNotice('New sign-in')
  t.match(signedIn.text, /\d{4} at \d\d:.*: node, 127\.0\.0\.1\n.*\/admin\/account\n/s)
  await signInClient(url, account)

  await addApp(client)
  await waitForNotice('New second factor')
  await client.post('/admin/account/recovery-codes', {})
  await waitForNotice('New recovery codes')
  for (let i = 0; i < 3; i++) await postLogin(url, { email, password, code: '000000' })
  await waitForNotice('Failed sign-in')
  const renewed = 'quay lantern harbour'
  await client.post('/admin/account/password', {
    current: password,
    password: renewed,
    repeated: renewed,
  })
  await waitForNotice('password was changed')
  await client.post('/admin/account/authenticator-app/remove', {})
  await waitForNotice('Second factor removed')
  t.equal((await postLogin(url, { email, password: renewed })).status, 200)

  await addApp(client)
  await waitForNotice('New second factor')
  await service.ann.call('DELETE', `/api/admin/accounts/${account.id}/second-factor`)
  t.match((await waitForNotice('Second factor removed')).text, `: ${ADMIN.email}\n`)
  const others = smtp.notices.filter(({ recipients }) => recipients.includes(email))
  t.same(others, [], 'once each')
})

t.test('a passkey that is not valid is rejected', async (t) => {
  const { client } = await start(t)
  const valid = {
    id: 'x',
    rawId: 'x',
    type: 'public-key',
    clientExtensionResults: {},
    response: {
      clientDataJSON: 'e30',
      authenticatorData: '',
      signature: '',
      attestationObject: '',
    },
  }
  const credentials = [
    ...['', 'x', 'null', '{}', '{"id":1}', '{"id":"unknown"}', '{"response":{}}', '{"id":[["a"]]}'],
    ...[
      {},
      { id: [['a']] },
      { id: ['x'] },
      { response: [] },
      { response: { clientDataJSON: 1 } },
    ].map((change) => JSON.stringify({ ...valid, ...change })),
  ]
  for (const path of [
    '/admin/login/passkey',
    '/admin/confirm/passkey',
    '/admin/account/passkeys',
  ]) {
    for (const credential of credentials) {
      t.equal((await client.post(path, { credential })).status, 422, `${path} ${credential}`)
    }
  }
  const { items } = await client.call('GET', '/api/admin/audit-log?action=sign_in.failed')
  const own = items.filter(({ actor }: { actor: string }) => actor === ADMIN.email)
  t.equal(own.length, credentials.length, 'failed confirmations are recorded')
})

t.test('a new password does not replace the second factor', async (t) => {
  const started = await start(t)
  const { url, app } = started
  const { email, password } = await createAccount(started, 'manager')
  const client = await signInClient(url, { email, password })
  const { totp } = await addApp(client)
  const [row] = await app.database.query<{ id: string }>('SELECT id FROM accounts')
  const token = await app.accounts.createLink(row?.id ?? '', 'password-reset')
  const renewed = 'quay lantern harbour'
  const fields = { password: renewed, repeated: renewed }
  t.equal((await client.post(`/admin/password-reset/${token ?? ''}`, fields)).status, 303)
  t.match(await postLogin(url, { email, password: renewed }), {
    status: 401,
    body: { errors: [{ path: 'code' }] },
  })
  t.equal((await postLogin(url, { email, password: renewed, code: totp.generate() })).status, 200)
})

t.test('a sign-in that waits for its code ends when the password changes', async (t) => {
  const started = await start(t)
  const { url, app } = started
  const { id, email, password } = await createAccount(started, 'manager')
  const { totp } = await addApp(await signInClient(url, { email, password }))
  const cookies = await Promise.all(
    [1, 2].map(async () => {
      const response = await fetch(`${url}/admin/login`, {
        method: 'POST',
        headers: { origin: url },
        body: new URLSearchParams({ email, password }),
        redirect: 'manual',
      })
      t.match(response.headers.get('location'), /^\/admin\/login\/verify/)
      return cookieHeader(response)
    }),
  )
  const verify = async (cookie: string | undefined, steps: number) => {
    const response = await fetch(`${url}/admin/login/verify`, {
      method: 'POST',
      headers: { origin: url, cookie: cookie ?? '' },
      body: new URLSearchParams({
        code: totp.generate({ timestamp: Date.now() + steps * STEP_MS }),
      }),
      redirect: 'manual',
    })
    return response.headers.get('location')
  }
  t.equal(await verify(cookies[0], 0), '/admin')
  const forged = (cookies[1] ?? '').replace(/=[^.]+/, `=${Buffer.from('\0').toString('base64url')}`)
  t.match(await verify(forged, 1), /^\/admin\/login\?/)
  await app.database.query('UPDATE accounts SET password_hash = ? WHERE id = ?', ['other', id])
  t.match(await verify(cookies[1], 1), /^\/admin\/login\?/)
})

t.test('an account has one app, whose secret is encrypted again with a new key', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const environment = { DATA_DIR, ADMIN_ACCOUNTS, SESSION_SECRET: 'a'.repeat(40) }
  const before = await startApp(t, environment)
  const client = await signInClient(before.url, ADMIN)
  const { totp } = await addApp(client)
  const again = await client.get(APP_PAGE)
  const [, sealed = ''] = /name="sealed" value="([^"]+)"/.exec(again.text) ?? []
  const [, key = ''] = /<code>([A-Z2-7 ]+)<\/code>/.exec(again.text) ?? []
  const other = new TOTP({ secret: Secret.fromBase32(key.replaceAll(' ', '')) })
  t.equal((await client.post(APP_PAGE, { sealed, code: other.generate() })).status, 409)
  await before.app.close()

  const secrets = ['a', 'b', 'c'].map((letter) => letter.repeat(40))
  for (const [index, steps] of [
    [1, 0],
    [2, 1],
  ] as const) {
    const { app, url } = await startApp(t, {
      ...environment,
      SESSION_SECRET: secrets[index],
      SESSION_SECRET_PREVIOUS: secrets[index - 1],
    })
    const code = totp.generate({ timestamp: Date.now() + steps * STEP_MS })
    t.equal((await postLogin(url, { ...ADMIN, code })).status, 200, `rotation ${index}`)
    await app.close()
  }
})

t.test('the command removes the second factor of an account', async (t) => {
  const { url, client, DATA_DIR } = await start(t)
  await addApp(client)
  t.equal((await postLogin(url)).status, 401)
  const run = () => runCommand('second-factor-remove', [ADMIN.email], { DATA_DIR })
  t.match(await run(), { code: 0, output: /was removed/ })
  t.equal((await postLogin(url)).status, 200)
  t.match(await run(), { code: 1, errors: /has no second factor/ })
  t.match(await runCommand('second-factor-remove', [], { DATA_DIR }), { code: 1, errors: /Usage/ })
})

t.test('an owner removes the second factor of a person who has lost it', async (t) => {
  const started = await start(t)
  const { url, client } = started
  const { id: accountId, ...account } = await createAccount(started, 'operator')
  const person = await signInClient(url, account)
  await addApp(person)
  const getAccount = async () =>
    (await client.call('GET', '/api/admin/accounts')).items.find(
      ({ id }: { id: string }) => id === accountId,
    )
  t.match(await getAccount(), { hasSecondFactor: true })
  const people = '/admin/settings/people'
  const button = `action="${people}/${accountId}/second-factor/remove"`
  t.match((await client.get(people)).text, button)

  const removed = await client.post(`${people}/${accountId}/second-factor/remove`, {})
  t.equal(removed.status, 303)
  const page = await client.get(people)
  t.match(page.text, 'The second factor was removed.')
  t.notMatch(page.text, button)
  t.match(await getAccount(), { hasSecondFactor: false })
  t.equal((await person.get('/admin/account')).status, 303, 'the sessions end')
  t.equal((await postLogin(url, account)).status, 200, 'the password is enough')
  const { items } = await client.call('GET', '/api/admin/audit-log?action=second_factor.removed')
  t.match(items, [{ actor: ADMIN.email, details: { email: account.email } }])

  const path = `/api/admin/accounts/${accountId}/second-factor`
  t.match(await client.call('DELETE', path), { id: accountId, hasSecondFactor: false })
  const after = await client.call('GET', '/api/admin/audit-log?action=second_factor.removed')
  t.equal(after.items.length, 1, 'there was nothing to remove')
  const own = await client.call('DELETE', `/api/admin/accounts/${ADMIN.email}/second-factor`)
  t.equal(own.status, 409)
})

t.test('sensitive changes and large exports require a recent sign-in', async (t) => {
  const { url, app } = await startPortal(t, manyOrders(1001), upstreamEnvironment(UNREACHABLE))
  const client = await signInClient(url, ADMIN)
  const token = await signIn(url)
  const headers = { authorization: `Bearer ${token}` }
  const age = (minutes: number) =>
    app.database.query('UPDATE sessions SET authenticated_at = ?', [Date.now() - minutes * 60_000])
  const newKey = { name: 'Shop', scopes: 'orders:read', days: '30' }
  const getExport = async (query: string) => {
    const response = await fetch(`${url}/api/admin/orders/export?format=csv${query}`, { headers })
    await response.arrayBuffer()
    return response.status
  }

  await age(11)
  const confirm = '/admin/confirm?returnTo=%2Fadmin%2Fsettings%2Fapi-keys%2Fnew'
  const form = await client.get('/admin/settings/api-keys/new')
  t.equal(form.status, 303)
  t.equal(form.headers.get('location'), confirm)
  t.equal((await client.post('/admin/settings/api-keys', newKey)).status, 201, 'an open form')
  t.equal(await getExport(''), 403)
  t.equal(await getExport('&status=paid'), 200, 'fewer than 1,000 orders')
  const people = await client.get('/admin/settings/people')
  t.equal(people.status, 200, 'looking at the people of the team changes nothing')
  t.equal((await client.get('/admin/settings/people/invite')).status, 303)
  const money = ['/admin/orders/1/refund', '/admin/orders/1/fulfilment']
  for (const path of money) {
    const { headers: given } = await client.get(path)
    t.equal(given.get('location'), `/admin/confirm?returnTo=${encodeURIComponent(path)}`)
  }
  const { key } = await client.call('POST', '/api/admin/api-keys', {
    name: 'Shop',
    scopes: ['provider:write'],
  })
  const place = async (token: string) =>
    (
      await fetch(`${url}/api/ordersource/offset-orders`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: '{}',
      })
    ).status
  t.equal(await place(token), 502, 'the provider is asked')
  await age(31)
  for (const path of money) {
    t.match((await client.post(path, {})).headers.get('location'), /^\/admin\/confirm/, path)
  }
  t.equal(await place(token), 403)
  t.equal(await place(key), 502, 'API keys have no sign-in')
  t.equal((await client.post('/admin/settings/api-keys', newKey)).status, 303)
  t.match(await client.post('/admin/confirm', { password: 'wrong' }), { status: 422 })
  const { password } = ADMIN
  const listIds = async () =>
    (await app.database.query<{ id: string }>('SELECT id FROM sessions ORDER BY id')).map(
      ({ id }) => id,
    )
  const before = await listIds()
  const confirmed = await client.post('/admin/confirm', { password, returnTo: '//evil.example' })
  t.equal(confirmed.headers.get('location'), '/admin')
  const after = await listIds()
  t.equal(after.length, before.length)
  t.equal(
    after.filter((id) => !before.includes(id)).length,
    1,
    'a new session replaces the old one',
  )
  t.equal((await client.get('/admin/settings/api-keys/new')).status, 200)
})

t.test('pages that show a new secret are not compressed', async (t) => {
  const { client } = await start(t)
  const isCompressed = ({ headers }: { headers: Headers }) => headers.has('content-encoding')
  t.equal(isCompressed(await client.get('/admin/account/second-factor')), false)
  t.equal(isCompressed(await client.get('/admin/orders')), true, 'others are')
  t.equal(isCompressed(await client.get(APP_PAGE)), false)
  await addApp(client)
  const webhooks = '/admin/settings/webhooks'
  const endpoint = { url: 'https://shop.invalid/', description: '', events: 'order.paid' }
  const created = await client.post(webhooks, endpoint)
  const [path = ''] = /\/admin\/settings\/webhooks\/we_\w+/.exec(created.text) ?? []
  const key = { name: 'Shop', scopes: 'orders:read', days: '30' }
  for (const [response, secret] of [
    [await client.post('/admin/account/recovery-codes', {}), /recovery-codes/],
    [await client.post('/admin/settings/api-keys', key), /\bcwk_\w+/],
    [created, /whsec_/],
    [await client.post(`${path}/rotate-secret`, {}), /whsec_/],
  ] as const) {
    t.match(response.text, secret)
    t.equal(isCompressed(response), false)
  }
})
