import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { API_KEY_SCOPE_NAMES } from '../../src/accounts/permissions.js'
import { projectRoot } from '../../src/core/config/config-part.js'
import { startTwoAdmins } from '../support/page-client.js'

const PATH = '/admin/settings/api-keys'
const KEY = /cwk_[0-9A-Za-z]{36}/

t.test('a key is created, shown once, used and revoked without scripts', async (t) => {
  const { ann, url } = await startTwoAdmins(t)
  t.match((await ann.get(PATH)).text, /No API keys yet/)
  t.match((await ann.get(`${PATH}/new`)).text, /<option value="365" selected>One year/)

  const fields = new URLSearchParams([
    ['name', 'The <b>shop</b>'],
    ['scopes', 'orders:read'],
    ['scopes', 'stats:read'],
    ['days', '30'],
  ])
  const created = await ann.post(PATH, fields)
  t.equal(created.status, 201)
  t.equal(created.headers.get('cache-control'), 'no-store')
  const key = KEY.exec(created.text)?.[0] ?? ''
  t.match(created.text, /The &lt;b&gt;shop&lt;\/b&gt;/)
  t.match(created.text, /orders:read, stats:read/)

  const getStatus = async () => {
    const headers = { authorization: `Bearer ${key}` }
    return (await fetch(`${url}/api/admin/orders`, { headers })).status
  }
  t.equal(await getStatus(), 200)
  const list = (await ann.get(PATH)).text
  t.notMatch(list, KEY, 'the key is shown once')
  t.match(list, new RegExp(`cwk_…${key.slice(-4)}`))
  t.match(list, /Last used/)

  const revoke = /\/admin\/settings\/api-keys\/[\w-]+\/revoke/.exec(list)?.[0] ?? ''
  t.match((await ann.get(revoke)).text, /Revoke this key\?/)
  t.equal((await ann.post(revoke, {})).headers.get('location'), PATH)
  const revoked = (await ann.get(PATH)).text
  t.match(revoked, /The key was revoked/)
  t.match(revoked, /Revoked/)
  t.equal(await getStatus(), 401)
  t.equal((await ann.get(revoke)).status, 404, 'it cannot be revoked again')
})

t.test('a form with errors keeps its input and creates no key', async (t) => {
  const { ann } = await startTwoAdmins(t)
  const invalid = await ann.post(PATH, { name: '', days: 'soon' })
  t.equal(invalid.status, 422)
  t.match(invalid.text, /Fix 3 errors; no key was created/)
  t.match(invalid.text, /enter a name/)
  t.match(invalid.text, /choose at least one/)
  const named = await ann.post(PATH, { name: 'Shop', scopes: 'everything', days: '' })
  t.match(named.text, /value="Shop"/)
  t.match((await ann.get(PATH)).text, /No API keys yet/)
})

t.test('the documentation lists every scope', async (t) => {
  const text = readFileSync(join(projectRoot, 'docs', 'api.md'), 'utf8')
  const [, table = ''] = /\n\| scope [^\n]*\n([^]*?)\n\n/.exec(text) ?? []
  const listed = [...table.matchAll(/^\|([^|]*)\|/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  )
  t.same(listed, API_KEY_SCOPE_NAMES)
})
