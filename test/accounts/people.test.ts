import t from 'tap'
import { createAccount, PASSWORD } from '../support/accounts.js'
import { startApp } from '../support/app.js'
import { startMailService } from '../support/mail-service.js'
import { startOrderApi } from '../support/order-api.js'
import { signInClient } from '../support/page-client.js'
import { ADMIN, ADMIN_ACCOUNTS, postLogin, signIn, verify } from '../support/sign-in.js'
import { waitFor } from '../support/wait-for.js'

const NEW_PASSWORD = 'quiet harbour at dusk'
const HOUR_MS = 60 * 60 * 1000

const submit = (url: string, path: string, fields: Record<string, string>, headers = {}) =>
  fetch(url + path, {
    method: 'POST',
    redirect: 'manual',
    headers,
    body: new URLSearchParams(fields),
  })

const choosePassword = (url: string, path: string, password = NEW_PASSWORD) =>
  submit(url, path, { password, repeated: password })

const getStatus = async (url: string, email: string, password: string): Promise<number> =>
  (await postLogin(url, { email, password })).status

t.test('owners invite, change, disable and delete people', async (t) => {
  const { call, url } = await startOrderApi(t)
  const created = await call('POST', '/api/admin/accounts', {
    email: 'Ann@Example.com',
    role: 'manager',
  })
  t.equal(created.status, 201)
  const { id, inviteUrl, ...account } = created.body
  t.match(account, {
    email: 'ann@example.com',
    role: 'manager',
    state: 'invited',
    source: 'portal',
    createdBy: ADMIN.email,
  })
  t.equal(new URL(inviteUrl).origin, url)
  const path = new URL(inviteUrl).pathname

  const list = await call('GET', '/api/admin/accounts')
  t.match(list.body.items, [
    { email: ADMIN.email, role: 'owner', state: 'active', source: 'configuration' },
    { id, state: 'invited' },
  ])
  t.notMatch(JSON.stringify(list.body), path.split('/').at(-1), 'the link is not shown again')

  t.equal((await choosePassword(url, path)).headers.get('location'), '/admin/login?password')
  t.equal((await choosePassword(url, path)).status, 404, 'a link works once')
  const token = await signIn(url, { email: 'ANN@example.com', password: NEW_PASSWORD })
  const current = async () => {
    const response = await verify(url, token)
    return response.status === 200 ? (await response.json()).admin : response.status
  }
  t.same(await current(), { email: 'ann@example.com', role: 'manager' })

  const changed = await call('PATCH', `/api/admin/accounts/${id}`, { role: 'viewer' })
  t.match(changed, { status: 200, body: { role: 'viewer', state: 'active' } })
  t.equal(await current(), 401, 'a change of the role ends the sessions')
  const disabled = await call('PATCH', `/api/admin/accounts/${id}`, { disabled: true })
  t.equal(disabled.body.state, 'disabled')
  t.equal(await getStatus(url, 'ann@example.com', NEW_PASSWORD), 401)
  await call('PATCH', `/api/admin/accounts/${id}`, { disabled: false })
  t.equal(await getStatus(url, 'ann@example.com', NEW_PASSWORD), 200)

  t.equal((await call('DELETE', `/api/admin/accounts/${id}`)).status, 204)
  t.equal(await getStatus(url, 'ann@example.com', NEW_PASSWORD), 401)
  t.equal((await call('DELETE', `/api/admin/accounts/${id}`)).status, 404)
  t.equal((await call('PATCH', `/api/admin/accounts/${id}`, { role: 'viewer' })).status, 404)
})

t.test('an owner always remains', async (t) => {
  const started = await startApp(t, { ADMIN_ACCOUNTS })
  const { url } = started
  const { id, ...owner } = await createAccount(started, 'owner')
  const headers = {
    authorization: `Bearer ${await signIn(url, owner)}`,
    'content-type': 'application/json',
  }
  const send = (method: string, account: string, body: object) =>
    fetch(`${url}/api/admin/accounts/${account}`, { method, headers, body: JSON.stringify(body) })
  for (const [account, detail] of [
    [id, /your own account/],
    [ADMIN.email, /ADMIN_ACCOUNTS/],
  ] as const) {
    for (const [method, body] of [
      ['PATCH', { role: 'viewer' }],
      ['PATCH', { disabled: true }],
      ['DELETE', {}],
    ] as const) {
      const response = await send(method, account, body)
      t.equal(response.status, 409, `${method} ${JSON.stringify(body)}`)
      t.match((await response.json()).detail, detail)
    }
  }
  t.equal((await verify(url, headers.authorization.slice(7))).status, 200)
})

t.test('rejects invalid and duplicate accounts', async (t) => {
  const { call } = await startOrderApi(t)
  const ann = { email: 'ann@example.com', role: 'viewer' }
  t.equal((await call('POST', '/api/admin/accounts', ann)).status, 201)
  for (const email of [ann.email, 'ANN@example.com', ADMIN.email]) {
    const { status } = await call('POST', '/api/admin/accounts', { ...ann, email })
    t.equal(status, 409, email)
  }
  for (const body of [{ ...ann, role: 'admin' }, { ...ann, email: 'ann' }, { role: 'viewer' }]) {
    t.equal((await call('POST', '/api/admin/accounts', body)).status, 422)
  }
  t.equal((await call('PATCH', '/api/admin/accounts/1', {})).status, 422)
})

t.test('an account of ADMIN_ACCOUNTS takes precedence over one of the database', async (t) => {
  const started = await startApp(t, { ADMIN_ACCOUNTS })
  await createAccount(started, 'viewer', ADMIN.email)
  t.equal(await getStatus(started.url, ADMIN.email, PASSWORD), 401)
  const { body } = await postLogin(started.url)
  t.equal(body.admin.role, 'owner')
})

t.test('refuses passwords that are easy to guess', async (t) => {
  const { call, url } = await startOrderApi(t)
  const { body } = await call('POST', '/api/admin/accounts', {
    email: 'harbourmaster@example.com',
    role: 'viewer',
  })
  const path = new URL(body.inviteUrl).pathname
  for (const [password, error] of [
    ['elevenchars', 'at least 12 characters'],
    ['My-Clearwake-secret', 'must not contain “clearwake”'],
    ['HarbourMaster 77', 'must not contain the name'],
    ['1qaz2wsx3edc', 'too common'],
    ['Sunshine2024!', 'too common'],
    ['passwordpassword', 'too common'],
    ['zzzzzzzzzzzz', 'too common'],
    ['1a2b1a2b1a2b', 'too common'],
  ] as const) {
    const response = await choosePassword(url, path, password)
    t.equal(response.status, 422, password)
    t.match(await response.text(), error)
  }
  const mismatch = await submit(url, path, { password: NEW_PASSWORD, repeated: 'another one' })
  t.match(await mismatch.text(), 'The passwords do not match')
  t.equal((await choosePassword(url, path, 'no digits needed')).status, 303)
})

t.test('pages of links reveal nothing to other sites, caches and logs', async (t) => {
  const { call, url, log } = await startOrderApi(t)
  const { body } = await call('POST', '/api/admin/accounts', {
    email: 'ann@example.com',
    role: 'viewer',
  })
  const path = new URL(body.inviteUrl).pathname
  const token = path.split('/').at(-1) ?? ''
  const response = await fetch(url + path)
  t.equal(response.status, 200, 'opening the link does not use it up')
  t.equal(response.headers.get('referrer-policy'), 'no-referrer')
  t.equal(response.headers.get('cache-control'), 'no-store')
  for (const variant of [path, path.replace('/in', '/%69n'), `${path}?x=1`, `/${path}`]) {
    await fetch(url + variant)
  }
  const rows = await call('GET', '/api/admin/accounts')
  t.notMatch(JSON.stringify([log, rows.body]), token)
  t.match(JSON.stringify(log), '/admin/invitation/[token]')
})

t.test('invitations and resets by email', async (t) => {
  const { app, url, smtp, ann: owner, waitForMails } = await startMailService(t)
  const invited = await owner.call('POST', '/api/admin/accounts', {
    email: 'zoe@example.com',
    role: 'operator',
  })
  const invitation = await waitForMails(1)
  t.same(invitation.recipients, ['zoe@example.com'])
  const findLink = (text: string) => new URL(/http:\S+/.exec(text)?.[0] ?? '')
  const link = findLink(invitation.text)
  t.equal(link.origin, url)
  t.match(invitation.html, `href="${link.href}"`)
  t.equal((await choosePassword(url, link.pathname)).status, 303)
  const unused = new URL(invited.inviteUrl).pathname
  t.equal((await choosePassword(url, unused)).status, 404, 'the other link ends, too')

  const session = await signIn(url, { email: 'zoe@example.com', password: NEW_PASSWORD })
  // The address in the request does not get into the link.
  const headers = { 'x-forwarded-host': 'evil.example' }
  const asked = await submit(url, '/admin/forgot-password', { email: 'Zoe@example.com' }, headers)
  const reset = findLink((await waitForMails(2)).text)
  t.equal(reset.origin, url)
  t.equal((await choosePassword(url, reset.pathname, 'another quiet harbour')).status, 303)
  t.equal((await choosePassword(url, reset.pathname)).status, 404)
  t.equal((await verify(url, session)).status, 401, 'a reset ends the sessions')
  t.equal(await getStatus(url, 'zoe@example.com', 'another quiet harbour'), 200)

  const unknown = await submit(url, '/admin/forgot-password', { email: 'Sam@example.com' })
  t.equal(unknown.status, asked.status)
  const normalise = async (response: Response) =>
    (await response.text()).replace(/(?:Zoe|Sam)@/g, 'x@')
  t.equal(await normalise(unknown), await normalise(asked), 'no difference to an unknown email')
  await submit(url, '/admin/forgot-password', { email: ADMIN.email })
  await owner.call('PATCH', `/api/admin/accounts/${invited.id}`, { disabled: true })
  await submit(url, '/admin/forgot-password', { email: 'zoe@example.com' })
  const links = "SELECT * FROM outbox WHERE id LIKE 'account_%'"
  await waitFor(async () => (await app.database.query(links)).length === 2)
  t.equal(smtp.mails.length, 2, 'nor an email')
  const payloads = await app.database.query<{ payload: string }>('SELECT payload FROM outbox')
  t.notMatch(JSON.stringify(payloads), reset.pathname.split('/').at(-1), 'tokens are not stored')
})

t.test('links expire', async (t) => {
  const started = await startApp(t, { ADMIN_ACCOUNTS })
  const { app, url } = started
  const owner = await signInClient(url, ADMIN)
  const { id } = await createAccount(started, 'viewer')
  const invited = await owner.call('POST', '/api/admin/accounts', {
    email: 'ann@example.com',
    role: 'viewer',
  })
  const page = await owner.post(`/admin/settings/people/${id}/link`, {})
  const reset = /\/admin\/password-reset\/[\w-]+/.exec(page.text)?.[0] ?? ''
  for (const [path, lifetimeMs] of [
    [new URL(invited.inviteUrl).pathname, 72 * HOUR_MS],
    [reset, HOUR_MS / 2],
  ] as const) {
    const shift = (ms: number) =>
      app.database.query('UPDATE account_links SET expires_at = expires_at - ?', [ms])
    await shift(lifetimeMs - 60_000)
    for (const end of ['', '.', '%E2%80%8B', '/', '%22?utm_source=mail']) {
      t.equal((await fetch(url + path + end)).status, 200, path + end)
    }
    t.equal((await fetch(`${url}${path.slice(0, -1)}.`)).status, 404, 'cut off')
    await shift(60_000)
    t.equal((await fetch(url + path)).status, 404)
    t.equal((await choosePassword(url, path)).status, 404)
    await shift(-lifetimeMs)
  }
})

t.test('people change their own password', async (t) => {
  const started = await startApp(t, { ADMIN_ACCOUNTS })
  const { url } = started
  const { email, password } = await createAccount(started, 'viewer')
  const account = { email, password }
  const here = await signInClient(url, account)
  const elsewhere = await signIn(url, account)
  const change = (current: string, password: string) =>
    here.post('/admin/account/password', { current, password, repeated: password })
  t.match((await change('a wrong password', NEW_PASSWORD)).text, 'Wrong password')
  t.match((await change(PASSWORD, 'short')).text, 'at least 12 characters')
  t.equal((await change(PASSWORD, NEW_PASSWORD)).headers.get('location'), '/admin/account')
  t.match((await here.get('/admin/account')).text, 'Your password was changed')
  t.equal((await verify(url, elsewhere)).status, 401)
  t.equal(await getStatus(url, account.email, PASSWORD), 401)

  const configured = await signInClient(url, ADMIN)
  t.match((await configured.get('/admin/account')).text, 'ADMIN_ACCOUNTS')
  t.equal((await configured.get('/admin/account/password')).status, 409)
})
