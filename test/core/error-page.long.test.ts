import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { temporaryFolder } from '../support/app.js'
import { fillStore, newOrder } from '../support/order-store.js'
import { typicalOrders } from '../support/orders.js'
import { HTMX_HEADERS, startTwoAdmins, type PageResponse } from '../support/page-client.js'
import { SKIP_WITHOUT_POSTGRES, startPostgres } from '../support/postgres.js'
import { signIn } from '../support/sign-in.js'
import { waitUntil } from '../support/wait-for.js'

const AT = '/admin/orders'

/** The URLs of the links and forms of a page. */
const listLinks = ({ text }: PageResponse): string[] =>
  [...text.matchAll(/(?:href|action)="([^"]*)"/g)].map(([, to = '']) => to.replaceAll('&amp;', '&'))

/** The text of the main part of a page, or of a fragment. */
const words = ({ text }: PageResponse): string =>
  (/<main[^>]*>([^]*)<\/main>/.exec(text)?.[1] ?? text)
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&quot;', '"')
    .replace(/\s+/g, ' ')
    .trim()

/** Asserts that an error is shown in the portal layout, with a link to the orders. */
function isInFrame(t: Test, response: PageResponse, status: number, name: string): void {
  t.equal(response.status, status, name)
  t.match(response.headers.get('content-type'), /^text\/html/, name)
  t.match(response.text, /<body class="portal">[^]*<nav aria-label="Portal">/, name)
  t.ok(listLinks(response).includes(AT), `${name}: links to the orders`)
  t.notMatch(response.text, /class="message"/, `${name}: shows no message`)
  t.notMatch(response.text, /Go to the calculators|For integrators/, `${name}: is not a guest page`)
}

/** Checks that a fragment replaces the messages only. */
function isMessage(t: Test, response: PageResponse, status: number, name: string): void {
  t.equal(response.status, status, name)
  t.match(
    response.text.trim(),
    /^<hx-partial hx-target="#messages" hx-swap="innerHTML">[^]*role="alert"[^]*<\/hx-partial>$/,
    name,
  )
  t.equal(response.text.split('<hx-partial').length, 2, `${name}: all of it is the message`)
  t.equal(response.headers.get('hx-push-url'), 'false', `${name}: the address stays`)
}

t.test('shows missing pages in the portal layout', async (t) => {
  const { ann, url } = await startTwoAdmins(t)
  for (const path of [
    '/admin/nothing',
    '/admin/orders/1/2/3',
    '/admin/orders/7',
    '/ADMIN/%6frders/',
  ]) {
    const page = await ann.get(path)
    isInFrame(t, page, 404, path)
    t.notMatch(words(page), /Try again/, 'without a retry that cannot succeed')
  }
  isInFrame(t, await ann.get('/admin/logout'), 405, 'a wrong method')
  isMessage(t, await ann.get(`${AT}/7`, HTMX_HEADERS), 404, 'an order that is not there')
  isMessage(
    t,
    await ann.post(`${AT}/7/status`, { version: '1' }, HTMX_HEADERS),
    404,
    'also for a change',
  )
  const guest = await fetch(`${url}/nothing`)
  t.match(await guest.text(), /Go to the calculators/, 'guests keep theirs')
  const stranger = await fetch(`${url}/admin/nothing`)
  t.notMatch(await stranger.text(), /Log out/, 'has no sign-out for anonymous users')
})

t.test('hides internal errors, and offers a retry', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const { ann, log } = await startTwoAdmins(t, { DATA_DIR })
  const { id } = await ann.call('POST', '/api/admin/orders', newOrder())
  const db = new Database(join(DATA_DIR, 'orders.db'))
  for (const table of ['changes', 'order_totals'])
    db.exec(`ALTER TABLE ${table} RENAME TO ${table}_away`)
  t.teardown(() => db.close())

  const list = await ann.get(`${AT}?status=paid&q=ann`)
  isInFrame(t, list, 500, 'the list')
  t.ok(listLinks(list).includes(`${AT}?status=paid&q=ann`), 'the same list once more')
  t.match(words(list), /^Something went wrong [^]* Try again Go to orders If this keeps happening/)
  t.match(list.text, 'Sign out', 'the user is still signed in')
  t.match(await ann.call('GET', '/api/admin/orders?q=ann'), { status: 500 }, 'also in the API')
  const order = await ann.get(`${AT}/${id}`)
  isInFrame(t, order, 500, 'an order')
  t.ok(listLinks(order).includes(`${AT}/${id}`))

  const fields = { version: '1', notes: 'typed with care' }
  const form = await ann.post(`${AT}/${id}/edit?group=notes`, fields)
  isInFrame(t, form, 500, 'a form')
  t.match(words(form), /What you typed is not lost. Reload this page to submit it again/)
  t.notMatch(words(form), /Try again/, 'a link would not repeat the POST')

  isMessage(t, await ann.get(`${AT}?q=ann`, HTMX_HEADERS), 500, 'a search')
  const saving = await ann.post(`${AT}/${id}/edit?group=notes`, fields, HTMX_HEADERS)
  isMessage(t, saving, 500, 'saving')
  t.match(words(saving), /What you typed is still here/)
  const requestId = saving.headers.get('x-request-id') ?? 'none'
  t.ok(words(saving).includes(requestId), 'something to quote')
  for (const { text } of [list, order, form, saving])
    t.notMatch(text, /sqlite|no such table|_away|\/src\//i)
  t.equal(log.filter(({ msg }) => msg === 'request failed').length, 6)
})

t.test('changes wait while others write, and are not lost', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const { ann } = await startTwoAdmins(t, { DATA_DIR })
  const { id } = await ann.call('POST', '/api/admin/orders', newOrder())
  const other = new Database(join(DATA_DIR, 'orders.db'))
  t.teardown(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  const notes = { version: '1', notes: 'x' }
  const path = `${AT}/${id}/edit?group=notes`
  const [page, fragment] = await Promise.all([
    ann.post(path, notes),
    ann.post(path, notes, HTMX_HEADERS),
  ])
  isInFrame(t, page, 503, 'a form')
  t.match(words(page), /^Temporarily unavailable Orders cannot be saved at the moment/)
  t.ok(Number(page.headers.get('retry-after')) > 0)
  isMessage(t, fragment, 503, 'a fragment')
  other.exec('ROLLBACK')
  t.equal((await ann.post(path, notes)).status, 303, 'the same once more')
})

t.test(
  'reports a lost PostgreSQL on every page, and recovers',
  SKIP_WITHOUT_POSTGRES,
  async (t) => {
    const postgres = await startPostgres(t)
    const { ann } = await startTwoAdmins(t, { DATABASE_URL: await postgres.createDatabase() })
    const { id } = await ann.call('POST', '/api/admin/orders', newOrder())
    await postgres.kill()
    for (const path of ['/admin?range=7d', `${AT}?q=ann`, `${AT}/${id}`, `${AT}/new`]) {
      const page = await ann.get(path)
      isInFrame(t, page, 503, path)
      t.match(words(page), /^Temporarily unavailable .* Try again Go to orders$/)
      t.ok(listLinks(page).includes(path), `${path}: offers a retry`)
      isMessage(t, await ann.get(path, HTMX_HEADERS), 503, path)
    }
    const notes = { version: '1', notes: 'x' }
    isInFrame(t, await ann.post(`${AT}/${id}/edit?group=notes`, notes), 503, 'a form')
    isMessage(t, await ann.post(`${AT}/${id}/edit?group=notes`, notes, HTMX_HEADERS), 503, 'saving')
    const login = await ann.get('/admin/login')
    t.equal(login.status, 200, 'the sign-in page is available')
    await postgres.start()
    const isAvailable = async () => (await ann.get(`${AT}/${id}`)).status === 200
    t.ok(await waitUntil(isAvailable, { everyMs: 50 }))
  },
)

t.test('rejects a form from another site with a readable page', async (t) => {
  const { ann } = await startTwoAdmins(t)
  const { id } = await ann.call('POST', '/api/admin/orders', newOrder())
  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  for (const path of [AT, `${AT}/bulk`, `${AT}/${id}/cancel`, '/admin/logout']) {
    const page = await ann.post(path, { version: '1' }, foreign)
    isInFrame(t, page, 403, path)
    t.equal(
      words(page),
      'Not allowed The form was sent from another site. Nothing was changed. Go to orders',
    )
    isMessage(t, await ann.post(path, { version: '1' }, { ...foreign, ...HTMX_HEADERS }), 403, path)
  }
  t.match(await ann.call('GET', `/api/admin/orders/${id}`), { status: 'pending' })
})

t.test('shows when to retry after too many requests', async (t) => {
  const { ann } = await startTwoAdmins(t, { RATE_LIMIT_PER_MINUTE: '12' })
  let page = await ann.get(AT)
  for (let request = 0; page.status === 200 && request < 12; request++) page = await ann.get(AT)
  isInFrame(t, page, 429, 'a page')
  t.match(words(page), /^Too many requests Too many requests .* Try again in .* Try again Go to/)
  t.ok(Number(page.headers.get('retry-after')) > 0)
  isMessage(t, await ann.get(`${AT}?q=a`, HTMX_HEADERS), 429, 'a search')
  isMessage(t, await ann.post(AT, {}, HTMX_HEADERS), 429, 'a form')
})

t.test('rejects a form that is too large or empty in the portal layout', async (t) => {
  const { ann } = await startTwoAdmins(t)
  isInFrame(t, await ann.post(AT, { notes: 'x'.repeat(140_000) }), 413, 'too large')
  const odd = await ann.post(AT, { a: '1' }, { 'content-type': 'text/csv' })
  isInFrame(t, odd, 415, 'not a form')
})

t.test('reports a failed export as a page, or as a problem to scripts', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  await fillStore(getDatabasePath(DATA_DIR), 'UTC', typicalOrders(25_000))
  const { ann, url } = await startTwoAdmins(t, { DATA_DIR })
  const list = await ann.get(`${AT}?status=paid&sort=customerName`)
  const [csv = ''] = listLinks(list).filter((to) => to.startsWith(`${AT}/export`))
  t.equal(csv, `${AT}/export?status=paid&sort=customerName&format=csv`)
  const file = await ann.get(csv)
  t.match(file.headers.get('content-disposition'), /^attachment; filename="orders-[\d-]+\.csv"$/)
  t.equal(file.headers.get('cache-control'), 'no-store')
  const api = await fetch(`${url}/api${csv}`)
  t.equal(api.status, 401, 'the file is for administrators')
  t.equal((await fetch(url + csv, { redirect: 'manual' })).status, 303)

  const authorization = `Bearer ${await signIn(url)}`
  const leaving = new AbortController()
  const two = await Promise.all(
    [1, 2].map(async () =>
      fetch(`${url}/api/admin/orders/export`, {
        signal: leaving.signal,
        headers: { authorization, 'accept-encoding': 'identity' },
      }),
    ),
  )
  const page = await ann.get(csv)
  isInFrame(t, page, 503, 'a third one')
  t.match(words(page), /Other exports are running\. Try again in a few seconds\. Try again/)
  t.ok(listLinks(page).includes(csv))
  t.equal(page.headers.get('content-disposition'), null, 'is not a download')
  t.same(
    two.map(({ bodyUsed }) => bodyUsed),
    [false, false],
    'the others were in progress',
  )
  leaving.abort()

  const wrong = await ann.get(`${AT}/export?status=lost&from=2026-02-01&format=csv`)
  isInFrame(t, wrong, 422, 'an invalid URL')
  t.match(words(wrong), /status/)
  isInFrame(
    t,
    await ann.get(`${AT}/export?from=2026-02-01&to=2026-01-01`),
    422,
    'days turned about',
  )
})
