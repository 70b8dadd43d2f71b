import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import {
  createHttpDelivery,
  parseRetryAfter,
  type Options,
} from '../../src/webhooks/webhook-sender.js'
import { startReceiver } from '../support/webhook-receiver.js'

function openDelivery(t: Test, options: Partial<Options> = {}) {
  const delivery = createHttpDelivery({ allowLoopback: true, timeoutMs: 10_000, ...options })
  t.teardown(() => delivery.close())
  return (url: string, signal = new AbortController().signal) =>
    delivery.send(url, { 'content-type': 'application/json' }, '{}', signal)
}

t.test('understands responses', async (t) => {
  const receiver = await startReceiver(t)
  const send = openDelivery(t)
  for (const [status, outcome] of [
    [200, 'sent'],
    [204, 'sent'],
    [299, 'sent'],
    [300, 'retry'],
    [400, 'retry'],
    [404, 'retry'],
    [410, 'rejected'],
    [429, 'retry'],
    [500, 'retry'],
  ] as const) {
    receiver.respond = (_request, response) => response.writeHead(status).end()
    t.match(await send(receiver.url), { outcome, status })
  }
  receiver.respond = (_request, response) =>
    response.writeHead(503, { 'retry-after': '120' }).end('come\u0000back\u202e later')
  t.match(await send(receiver.url), { retryAfterMs: 120_000, detail: 'come back  later' })
})

t.test('parses Retry-After with an upper limit', async (t) => {
  const now = Date.parse('2026-11-20T10:00:00Z')
  t.equal(parseRetryAfter('60', now), 60_000)
  t.equal(parseRetryAfter('Fri, 20 Nov 2026 10:01:00 GMT', now), 60_000)
  t.equal(parseRetryAfter('999999999', now), 24 * 60 * 60 * 1000)
  for (const header of [undefined, '', '0', '-5', 'soon', '1e9', ['1', '2']]) {
    t.equal(parseRetryAfter(header, now), undefined, String(header))
  }
})

t.test('does not follow redirects', async (t) => {
  const target = await startReceiver(t)
  const receiver = await startReceiver(t)
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.respond = (_request, response) =>
      response.writeHead(status, { location: target.url }).end()
    t.match(await openDelivery(t)(receiver.url), { outcome: 'retry', status, detail: /Redirects/ })
  }
  t.equal(target.requests.length, 0)
})

t.test('truncates a huge response', async (t) => {
  const receiver = await startReceiver(t)
  let written = 0
  receiver.respond = (_request, response) => {
    const write = () => {
      while (response.write('x'.repeat(16 * 1024))) written += 16 * 1024
    }
    response.on('drain', write).on('error', () => undefined)
    write()
  }
  const result = await openDelivery(t)(receiver.url)
  t.match(result, { outcome: 'sent', status: 200 })
  t.equal(result.detail, 'x'.repeat(1024))
  await sleep(200)
  t.ok(written < 10 * 1024 * 1024, 'and closes the connection')
})

t.test('times out if no response arrives', async (t) => {
  const receiver = await startReceiver(t)
  receiver.respond = () => undefined
  const send = openDelivery(t, { timeoutMs: 200 })
  t.match(await send(receiver.url), {
    outcome: 'retry',
    status: null,
    detail: 'No response within 0.2 seconds.',
  })

  receiver.respond = (_request, response) => void response.writeHead(200).write('{')
  t.match(await send(receiver.url), { outcome: 'sent', status: 200 }, 'the status counts')
})

t.test('stops on a name that does not resolve, and on closing', async (t) => {
  const send = openDelivery(t, { timeoutMs: 200, lookup: () => undefined })
  t.match(await send('https://shop.example.com/'), { detail: /No response within/ })

  const closing = new AbortController()
  const hanging = openDelivery(t, { lookup: () => undefined })('https://a.example/', closing.signal)
  closing.abort()
  t.match(await hanging, { outcome: 'retry' }, 'at once')
})

t.test('describes connections that fail, without addresses', async (t) => {
  const receiver = await startReceiver(t)
  const port = new URL(receiver.url).port
  receiver.respond = (request) => request.socket.destroy()
  const send = openDelivery(t)
  const details = [
    await send(receiver.url),
    await send('http://127.0.0.1:1/'),
    await send('https://nothing.invalid/'),
  ].map(({ detail }) => detail)
  t.same(details, [
    'The connection was closed before a response.',
    'The connection was refused.',
    'The host name was not found.',
  ])
  for (const detail of details) t.notMatch(detail, /127\.0\.0\.1|ECONN/)
  t.match(await openDelivery(t, { allowLoopback: false })(`http://127.0.0.1:${port}/`), {
    status: null,
    detail: 'Webhooks cannot be sent to this URL.',
  })
})

t.test('checks addresses at connection time', async (t) => {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  // The name had a public address when the endpoint was created.
  const lookup: Options['lookup'] = (_name, _options, callback) =>
    callback(null, [{ address: '127.0.0.1', family: 4 }])
  t.match(await openDelivery(t, { lookup })(`https://rebound.example:${port}/`), {
    outcome: 'retry',
    detail: 'The host has an address that is not public.',
  })
  t.equal(connections, 0)
})

t.test('ignores proxies of the environment', async (t) => {
  const proxy = await startReceiver(t)
  const receiver = await startReceiver(t)
  process.env.http_proxy = process.env.HTTP_PROXY = proxy.url
  t.teardown(() => {
    delete process.env.http_proxy
    delete process.env.HTTP_PROXY
  })
  t.match(await openDelivery(t)(receiver.url), { outcome: 'sent' })
  t.equal(proxy.requests.length, 0)
  t.equal(receiver.requests.length, 1)
})
