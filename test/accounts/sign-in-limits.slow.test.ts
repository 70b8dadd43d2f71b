import t, { type Test } from 'tap'
import { startApp } from '../support/app.js'
import {
  ADMIN,
  ADMIN_ACCOUNTS,
  cookieHeader,
  parseSetCookies,
  postLogin,
  type LoginResponse,
} from '../support/sign-in.js'

const WRONG = { ...ADMIN, password: 'a wrong password' }

/** Starts the service with TRUST_PROXY, so that a test can act as many clients. */
const start = (t: Test, environment: NodeJS.ProcessEnv = {}) =>
  startApp(t, { ADMIN_ACCOUNTS, TRUST_PROXY: 'true', ...environment })

const from = (address: string, cookie?: string): Record<string, string> => ({
  'x-forwarded-for': address,
  ...(cookie === undefined ? {} : { cookie }),
})

async function statuses(
  times: number,
  attempt: (i: number) => Promise<LoginResponse>,
): Promise<number[]> {
  const found = []
  for (let i = 0; i < times; i++) found.push((await attempt(i)).status)
  return found
}

t.test('locks out a client after failed sign-ins, with Retry-After', async (t) => {
  const { url, log } = await start(t, { LOGIN_LIMIT_PER_CLIENT: '3' })
  const here = from('203.0.113.1')
  t.same(await statuses(3, () => postLogin(url, WRONG, here)), [401, 401, 401])
  const refused = await postLogin(url, ADMIN, here)
  t.equal(refused.status, 429, 'the right password too, or guessing would go on')
  const seconds = Number(refused.headers.get('retry-after'))
  t.ok(seconds > 800 && seconds <= 900)
  t.match(refused.body, { status: 429, detail: /Try again in 15 minutes/ })
  t.equal(
    (await postLogin(url, ADMIN, from('203.0.113.2'))).status,
    200,
    'other clients can sign in',
  )
  t.match(
    log.filter(({ msg }) => msg === 'sign-in').map(({ outcome }) => outcome),
    ['failed', 'failed', 'failed', 'limited', 'succeeded'],
  )
})

t.test('defaults to ten failures per client', async (t) => {
  const { url } = await start(t)
  const found = await statuses(12, () => postLogin(url, WRONG, from('203.0.113.1')))
  t.same(found, [...Array<number>(10).fill(401), 429, 429])
})

t.test('a port, or text that is no address, does not make another client', async (t) => {
  for (const TRUST_PROXY of ['1', 'true', 'loopback']) {
    const { url } = await start(t, { TRUST_PROXY, LOGIN_LIMIT_PER_CLIENT: '2' })
    const guess = (address: string) => postLogin(url, WRONG, from(address))
    for (const write of [
      (i: number) => `203.0.113.7:2000${i}`,
      (i: number) => `[2001:db8::7]:2000${i}`,
      (i: number) => `2001:db8:0:1::7%${i}`,
      (i: number) => `198.51.100.${i}, unknown${i}, 192.0.2.9:8${i}`,
    ]) {
      const found = await statuses(3, (i) => guess(write(i)))
      t.same(found, [401, 401, 429], `${TRUST_PROXY}: ${write(0)}`)
    }
    t.equal((await guess('unknown1')).status, 429, 'the address of the connection')
    t.equal((await guess('[2001:db8::8]')).status, 429, 'the same /64 network')
    t.equal((await guess('203.0.113.8:20001')).status, 401, 'another client')
  }
})

t.test('counts an IPv6 /64 network as one client', async (t) => {
  const { url } = await start(t, { LOGIN_LIMIT_PER_CLIENT: '2' })
  const guess = (address: string) => postLogin(url, WRONG, from(address))
  t.equal((await guess('2001:db8:1:2::1')).status, 401)
  t.equal((await guess('2001:db8:1:2:ffff::2')).status, 401)
  t.equal((await guess('2001:db8:1:2:aaaa:bbbb:cccc:dddd')).status, 429)
  t.equal((await guess('2001:db8:1:3::1')).status, 401)
})

t.test('concurrent guesses do not exceed the limit', async (t) => {
  const { url } = await start(t, { LOGIN_LIMIT_PER_CLIENT: '5' })
  const found = await Promise.all(
    Array.from(
      { length: 25 },
      async () => (await postLogin(url, WRONG, from('203.0.113.1'))).status,
    ),
  )
  t.equal(found.filter((status) => status === 401).length, 5)
  t.equal(found.filter((status) => status === 429).length, 20)
})

t.test('does not count successful sign-ins', async (t) => {
  const { url } = await start(t, { LOGIN_LIMIT_PER_CLIENT: '2', LOGIN_LIMIT_PER_ACCOUNT: '2' })
  t.same(await statuses(5, () => postLogin(url, ADMIN, from('203.0.113.1'))), [
    ...Array<number>(5).fill(200),
  ])
})

t.test('limits the guesses of many clients at one account', async (t) => {
  const { url } = await start(t, { LOGIN_LIMIT_PER_ACCOUNT: '4' })
  const found = await statuses(6, (i) => postLogin(url, WRONG, from(`203.0.113.${i}`)))
  t.same(found, [401, 401, 401, 401, 429, 429])
  const refused = await postLogin(url, WRONG, from('203.0.113.99'))
  t.ok(Number(refused.headers.get('retry-after')) > 3000)
})

t.test('a lockout does not reveal whether the account exists', async (t) => {
  const { url } = await start(t, { LOGIN_LIMIT_PER_ACCOUNT: '3' })
  const guessed = async (email: string, net: string) => {
    const responses = []
    for (let i = 0; i < 5; i++) {
      const { status, body } = await postLogin(url, { email, password: 'x' }, from(`${net}.${i}`))
      responses.push({ status, detail: body.detail })
    }
    return responses
  }
  const known = await guessed(ADMIN.email, '203.0.113')
  t.same(await guessed('stranger@example.com', '198.51.100'), known)
  t.match(known, [{ status: 401 }, { status: 401 }, { status: 401 }, { status: 429 }])
})

t.test('strangers cannot lock an administrator out of a known device', async (t) => {
  const { url } = await start(t, { LOGIN_LIMIT_PER_CLIENT: '2', LOGIN_LIMIT_PER_ACCOUNT: '4' })
  const cookie = cookieHeader(await postLogin(url, ADMIN, from('192.0.2.1')))
  for (let i = 0; i < 6; i++) await postLogin(url, WRONG, from(`203.0.113.${i}`))
  await statuses(3, () => postLogin(url, WRONG, from('203.0.113.77')))

  t.equal((await postLogin(url, ADMIN, from('198.51.100.1'))).status, 429, 'somewhere new, no')
  t.equal((await postLogin(url, ADMIN, from('198.51.100.1', cookie))).status, 200, 'on it, yes')
  t.equal(
    (await postLogin(url, ADMIN, from('203.0.113.77', cookie))).status,
    200,
    'also in the network of the guesses',
  )
})

t.test('strangers cannot lock an administrator out at a known address', async (t) => {
  const { url } = await start(t, { LOGIN_LIMIT_PER_ACCOUNT: '4' })
  await postLogin(url, ADMIN, from('192.0.2.1'))
  for (let i = 0; i < 6; i++) await postLogin(url, WRONG, from(`203.0.113.${i}`))
  t.equal((await postLogin(url, ADMIN, from('198.51.100.1'))).status, 429)
  t.equal((await postLogin(url, ADMIN, from('192.0.2.1'))).status, 200)
})

t.test('failures on a known device or address do not count against the account', async (t) => {
  const { url } = await start(t, { LOGIN_LIMIT_PER_ACCOUNT: '2' })
  const cookie = cookieHeader(await postLogin(url, ADMIN, from('192.0.2.1')))
  t.same(await statuses(3, () => postLogin(url, WRONG, from('192.0.2.1'))), [401, 401, 401])
  t.same(await statuses(3, () => postLogin(url, WRONG, from('192.0.2.9', cookie))), [401, 401, 401])
  t.equal((await postLogin(url, ADMIN, from('198.51.100.1'))).status, 200)
})

t.test('a stolen device cookie allows no more guesses than any client', async (t) => {
  const { url } = await start(t, { LOGIN_LIMIT_PER_CLIENT: '3' })
  const cookie = cookieHeader(await postLogin(url, ADMIN, from('192.0.2.1')))
  const found = await statuses(5, (i) => postLogin(url, WRONG, from(`203.0.113.${i}`, cookie)))
  t.same(found, [401, 401, 401, 429, 429])
})

t.test('a device cookie is valid for its account only, and cannot be forged', async (t) => {
  const { url } = await start(t, { LOGIN_LIMIT_PER_ACCOUNT: '2' })
  const login = await postLogin(url, ADMIN, from('192.0.2.1'))
  const device = parseSetCookies(login).get('clearwake-device')?.split(';', 1)[0] ?? ''
  const [id = '', expires = '', signature = ''] = device.replace('clearwake-device=', '').split('.')
  const other = 'stranger@example.com'
  for (let i = 0; i < 2; i++) {
    await postLogin(url, WRONG, from(`203.0.113.${i}`))
    await postLogin(url, { ...WRONG, email: other }, from(`203.0.113.${i}`))
  }
  const elsewhere = (email: string, value: string) =>
    postLogin(url, { ...WRONG, email }, from('198.51.100.1', `clearwake-device=${value}`))
  t.equal((await elsewhere(other, `${id}.${expires}.${signature}`)).status, 429)
  for (const value of [
    `other.${expires}.${signature}`,
    `${id}.${Number(expires) + 1}.${signature}`,
    `${id}.${expires}.`,
    `${id}.${expires}`,
    'x',
    '',
  ]) {
    t.equal((await elsewhere(ADMIN.email, value)).status, 429, value)
  }
  t.equal((await elsewhere(ADMIN.email, `${id}.${expires}.${signature}`)).status, 401)
})
