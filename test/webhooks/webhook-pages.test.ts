import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { newOrder } from '../support/order-store.js'
import { HTMX_HEADERS, startTwoAdmins } from '../support/page-client.js'
import { waitFor } from '../support/wait-for.js'
import { startReceiver } from '../support/webhook-receiver.js'

const PATH = '/admin/settings/webhooks'
const LOOPBACK = { WEBHOOK_ALLOW_LOOPBACK: 'true' }

const getSecret = (text: string): string => /whsec_[\w+/]+=/.exec(text)?.[0] ?? ''
const getPath = (text: string): string =>
  /\/admin\/settings\/webhooks\/we_[0-9a-f]+/.exec(text)?.[0] ?? ''

t.test('the settings link to the webhooks', async (t) => {
  const { ann } = await startTwoAdmins(t)
  t.match(await ann.get('/admin'), { text: /<a href="\/admin\/settings"/ })
  const settings = await ann.get('/admin/settings')
  t.equal(settings.headers.get('location'), '/admin/settings/api-keys')
  t.match((await ann.get('/admin/settings/api-keys')).text, new RegExp(`<a href="${PATH}"`))
  t.match((await ann.get(PATH)).text, /No endpoints yet/)
})

t.test('an endpoint is added, tested, changed and deleted without scripts', async (t) => {
  const receiver = await startReceiver(t)
  const { ann } = await startTwoAdmins(t, LOOPBACK)
  const form = await ann.get(`${PATH}/new`)
  t.match(form.text, /value="order\.updated" checked/)
  t.notMatch(form.text, /value="qr_code\.generated" checked/)

  const invalid = await ann.post(PATH, { url: 'http://shop.example.com', description: 'Shop' })
  t.equal(invalid.status, 422)
  t.match(invalid.text, /Fix 2 errors/)
  t.match(invalid.text, /must be an https URL/)
  t.match(invalid.text, /choose at least one event/)
  t.match(invalid.text, /value="Shop"/, 'keeps the input')

  const fields = new URLSearchParams([
    ['url', receiver.url],
    ['description', 'The <b>shop</b>'],
    ['events', 'order.paid'],
    ['events', 'order.created'],
  ])
  const created = await ann.post(PATH, fields)
  t.equal(created.status, 201)
  t.equal(created.headers.get('cache-control'), 'no-store')
  const secret = getSecret(created.text)
  const path = getPath(created.text)
  t.match(created.text, /The &lt;b&gt;shop/)
  const shown = await ann.get(path)
  t.equal(getSecret(shown.text), '', 'the secret is shown once')
  t.match(shown.text, /Nothing has been sent yet/)
  t.notMatch((await ann.get(PATH)).text, /whsec_/)

  t.equal((await ann.post(`${path}/test`, {})).headers.get('location'), path)
  t.match((await ann.get(path)).text, /A test event is being sent\./)
  t.notMatch(
    (await ann.get(path)).text,
    /A test event is being sent\./,
    'the message is shown once',
  )
  await waitFor(async () => receiver.requests.length === 1)
  const [received] = receiver.received()
  new Webhook(secret).verify(received?.body ?? '', received?.headers ?? {})
  const logged = await waitFor(async () => {
    const { text } = await ann.get(path, HTMX_HEADERS)
    return text.includes('Delivered') && text
  })
  t.match(logged, /^<section class="card" id="deliveries"/, 'htmx receives the log only')
  t.notMatch(logged, /hx-trigger/, 'and stops to request it')
  t.match(logged, /webhook\.test.*<strong>200<\/strong>.*<pre[^>]*>\{\}<\/pre>/s)

  const [replay = ''] = /\/admin\S+\/deliveries\/\w+\/replay/.exec(logged) ?? []
  t.equal((await ann.post(replay, {})).status, 303)
  await waitFor(async () => receiver.requests.length === 2)

  const edit = await ann.get(`${path}/edit`)
  t.match(edit.text, /value="order\.paid" checked/)
  t.notMatch(edit.text, /value="order\.updated" checked/)
  await ann.post(`${path}/edit`, { url: receiver.url, description: '', events: 'order.updated' })
  const saved = await ann.get(path)
  t.match(saved.text, /The endpoint was saved\./)
  t.match(saved.text, /<h1><bdi>127\.0\.0\.1:\d+/, 'without a name its host is shown')

  const rotated = await ann.post(`${path}/rotate-secret`, {})
  t.not(getSecret(rotated.text), secret)
  t.match(rotated.text, /also signed with the previous secret until/)

  await ann.post(`${path}/disable`, {})
  t.match((await ann.get(path)).text, /An administrator disabled this endpoint/)
  t.equal((await ann.post(replay, {})).status, 409)
  t.equal((await ann.post(`${path}/replay`, { since: '2026-01-01T00:00' })).status, 409)
  await ann.post(`${path}/enable`, {})
  t.match((await ann.get(path)).text, /The endpoint was enabled/)

  t.match((await ann.get(`${path}/delete`)).text, /Delete this endpoint\?/)
  t.equal((await ann.post(`${path}/delete`, {})).headers.get('location'), PATH)
  t.match((await ann.get(PATH)).text, /The endpoint was deleted\.[^]*No endpoints yet/)
  t.equal((await ann.get(path)).status, 404)
})

t.test('deliveries are replayed since a local time', async (t) => {
  const receiver = await startReceiver(t)
  const { ann } = await startTwoAdmins(t, LOOPBACK)
  const { text } = await ann.post(PATH, { url: receiver.url, events: 'order.created' })
  const path = getPath(text)
  await ann.call('POST', '/api/admin/orders', newOrder())
  await waitFor(async () => (await ann.get(path)).text.includes('Delivered'))
  t.match((await ann.get(path)).text, /CW-000001/)
  t.match(await ann.post(`${path}/replay`, { since: '' }), { status: 422, text: /enter a date/ })
  await ann.post(`${path}/replay`, { since: '2026-01-01T00:00', failedOnly: 'true' })
  t.match((await ann.get(path)).text, /no deliveries to send again/)
  await ann.post(`${path}/replay`, { since: '2026-01-01T00:00' })
  t.match((await ann.get(path)).text, /The deliveries will be sent again/)
  await waitFor(async () => receiver.requests.length === 2)
})

t.test('administrators are shown that an endpoint was disabled', async (t) => {
  const receiver = await startReceiver(t)
  receiver.respond = (_request, response) => response.writeHead(410).end('<script>gone</script>')
  const { ann, ben } = await startTwoAdmins(t, LOOPBACK)
  const { text } = await ann.post(PATH, { url: receiver.url, events: 'order.created' })
  const path = getPath(text)
  t.notMatch((await ben.get('/admin')).text, /Webhooks were disabled/)
  await ann.post(`${path}/test`, {})
  await waitFor(async () => (await ann.get(path)).text.includes('status 410'))
  t.match((await ann.get(path)).text, /&lt;script&gt;gone/)
  t.match((await ben.get(PATH)).text, /Webhooks were disabled/)
  t.match((await ben.get('/admin')).text, /Webhooks were disabled/)
  await ben.post(`${path}/enable`, {})
  t.notMatch((await ann.get('/admin')).text, /Webhooks were disabled/)
})
