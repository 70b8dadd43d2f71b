import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Registry } from 'prom-client'
import t, { type Test } from 'tap'
import { createJsonClient } from '../../src/provider/json-client.js'
import { toRequestKey } from '../../src/provider/request-coalescing.js'
import { openUpstream } from '../../src/provider/upstream.js'
import { ADMIN_ACCOUNTS, logIn } from '../support/sign-in.js'
import { startApp } from '../support/app.js'
import { comesTrue } from '../support/wait-for.js'
import { rawSocket } from '../support/raw-http.js'
import { pointAt, recordingUpstream, UPSTREAM_TOKEN } from '../support/recording-upstream.js'
import { wire, type Wire } from '../support/wire.js'

const MOUNT = '/api/ordersource'
const GUESTS = 12
/** Questions that are known at most */
const MOST_KNOWN = 100
/** So long a request that has come in may take until it is relayed, or waits with others. */
const SETTLED_MS = 100

interface Held {
  request: IncomingMessage
  response: ServerResponse
}

/** The service before an order source that keeps its callers waiting until it is told what to say. */
async function startRelay(t: Test, more: NodeJS.ProcessEnv = {}) {
  const upstream = await recordingUpstream(t)
  const held: Held[] = []
  upstream.answer = (request, response) => held.push({ request, response })
  const started = await startApp(t, {
    ADMIN_ACCOUNTS,
    // Longer than anybody waits here for what must come to be
    ORDERSOURCE_TIMEOUT_MS: '60000',
    ...pointAt(upstream.url, more),
  })
  const { url, app } = started
  const bearer = { authorization: `Bearer ${await logIn(url)}` }
  let arrived = 0
  app.server.on('request', () => arrived++)

  /** Waits until so many requests have come in since the start, and have gone as far as they go. */
  async function settled(requests: number): Promise<void> {
    if (!(await comesTrue(() => arrived >= requests))) throw new Error('they do not come in')
    await sleep(SETTLED_MS)
  }

  /** Waits until so many calls wait at the order source. */
  async function waiting(calls: number): Promise<void> {
    if (!(await comesTrue(() => held.length >= calls))) throw new Error(`${held.length} calls`)
    await sleep(SETTLED_MS)
  }

  const ask = (path = '/portfolios', headers: Record<string, string> = {}, method = 'GET') =>
    wire(`${url}${MOUNT}${path}`, { method, headers })

  /** Answers all that wait, each with its number. */
  function answerAll(headers: Record<string, string | string[]> = {}, status = 200): number {
    const calls = held.splice(0)
    for (const [index, { response }] of calls.entries()) {
      const body = JSON.stringify({ call: index })
      response.writeHead(status, {
        'content-type': 'application/json',
        'content-length': String(body.length),
        ...headers,
      })
      response.end(body)
    }
    return calls.length
  }

  const arrivals = () => arrived
  return { ...started, upstream, held, bearer, ask, arrivals, settled, waiting, answerAll }
}

type Relay = Awaited<ReturnType<typeof startRelay>>

/** How many calls guests make of the order source who ask at one moment, and what they get. */
async function burst(
  { ask, held, arrivals, settled, waiting, answerAll }: Relay,
  headers: Record<string, string | string[]> = {},
  path = '/portfolios',
): Promise<{ calls: number; answers: Wire[] }> {
  const before = arrivals()
  const rounds = new AbortController()
  const asked = Promise.all(Array.from({ length: GUESTS }, () => ask(path)))
  const answers = asked.finally(() => rounds.abort())
  let calls = 0
  await settled(before + GUESTS)
  await waiting(1)
  while (!rounds.signal.aborted) {
    calls += answerAll(headers)
    await comesTrue(() => held.length > 0 || rounds.signal.aborted)
  }
  return { calls, answers: await answers }
}

/** A guest who asks for the portfolios, and may go. */
async function leaver(url: string): Promise<Socket> {
  const socket = await rawSocket(url)
  socket.on('error', () => undefined)
  socket.write(`GET ${MOUNT}/portfolios HTTP/1.1\r\nhost: x\r\n\r\n`)
  return socket
}

const textOf = ({ body }: Wire): string => body.toString()

t.test('guests who ask the same at once are one call, and each is answered', async (t) => {
  const relay = await startRelay(t)
  const { ask, upstream, answerAll, waiting, settled, bearer, log } = relay
  const asked = Array.from({ length: GUESTS }, (_, index) =>
    ask('/portfolios', { 'x-request-id': `guest-${index}` }),
  )
  asked.push(ask('/portfolios', bearer), ask('/portfolios', { cookie: 'any=1' }))
  await settled(GUESTS + 2)
  await waiting(1)
  answerAll({ 'cache-control': 'public, max-age=60', etag: '"a"' })
  const answers = await Promise.all(asked)
  t.equal(upstream.requests.length, 1)
  t.match(upstream.requests[0], { method: 'GET', url: '/v1/portfolios' })
  for (const [index, answer] of answers.entries()) {
    t.match(answer, { status: 200, headers: { etag: '"a"', 'content-length': '10' } })
    t.equal(textOf(answer), '{"call":0}')
    const isGuest = index < GUESTS
    if (isGuest) t.equal(answer.headers['x-request-id'], `guest-${index}`)
    const control = isGuest ? 'public, max-age=60' : 'no-store'
    t.equal(answer.headers['cache-control'], control, 'what caches may keep is up to who asked')
  }

  const later = ask()
  await waiting(1)
  answerAll()
  t.equal((await later).status, 200)
  t.equal(upstream.requests.length, 2, 'nothing is kept')
  t.notOk(
    log.some(({ level }) => Number(level) >= 40),
    'nothing to be warned of',
  )
})

t.test('what is not the same is asked for each', async (t) => {
  const { ask, upstream, answerAll, waiting, bearer, settled } = await startRelay(t, {
    ORDERSOURCE_PUBLIC_ROUTES: 'GET /portfolios,POST /portfolios,GET /other',
  })
  const kinds: Parameters<typeof ask>[] = [
    ['/portfolios'],
    ['/portfolios?page=2'],
    ['/other'],
    ['/portfolios', { accept: 'text/csv' }],
    ['/portfolios', { 'accept-language': 'de' }],
    ['/portfolios', { 'if-none-match': '"a"' }],
    ['/portfolios', { 'if-match': '"a"' }],
    ['/portfolios', { 'idempotency-key': 'a' }],
  ]
  const alone: Parameters<typeof ask>[] = [
    ['/portfolios', {}, 'HEAD'],
    ['/portfolios', {}, 'POST'],
    ['/offset-orders', bearer],
    ['/offset-orders', { ...bearer, accept: 'text/csv' }],
  ]
  const asked = [...kinds, ...kinds, ...alone, ...alone].map((one) => ask(...one))
  await settled(2 * (kinds.length + alone.length))
  await waiting(kinds.length + 2 * alone.length)
  t.equal(upstream.requests.length, kinds.length + 2 * alone.length)
  answerAll()
  for (const { status } of await Promise.all(asked)) t.equal(status, 200)
})

t.test('answers that say that they are for one are', async (t) => {
  for (const headers of [
    { 'cache-control': 'no-store' },
    { 'cache-control': 'max-age=60, Private' },
    { 'cache-control': 'no-cache' },
    { 'cache-control': 'public,max-age=0' },
    { 'cache-control': 'max-age=60, s-maxage=0' },
    { 'cache-control': 'max-age=-1' },
    { 'cache-control': 'ext="s-maxage=9", max-age=soon' },
    { vary: 'Accept, *' },
    { vary: ['Accept', 'Accept-Language, *'] },
  ]) {
    const relay = await startRelay(t)
    const { calls, answers } = await burst(relay, headers)
    t.equal(calls, GUESTS, JSON.stringify(headers))
    t.equal(answers.filter(({ status }) => status === 200).length, GUESTS)

    const { ask, waiting, answerAll } = relay
    const asked = Array.from({ length: GUESTS }, () => ask())
    await waiting(GUESTS)
    t.pass('from then on nobody waits for another’s')
    answerAll({ 'cache-control': 'max-age=60' })
    const texts = (await Promise.all(asked)).map(textOf)
    t.equal(new Set(texts).size, GUESTS, 'each has an answer of its own')

    t.equal((await burst(relay)).calls, 1, 'until one says otherwise')
  }
  for (const headers of [{ 'cache-control': 'max-age=0, s-maxage=9' }, { vary: 'Accept' }]) {
    t.equal((await burst(await startRelay(t), headers)).calls, 1, JSON.stringify(headers))
  }
})

t.test(
  'of many different questions those asked last are known, and all are answered',
  async (t) => {
    const relay = await startRelay(t)
    const { ask, upstream, held, arrivals, settled, waiting } = relay
    const pathOf = (page: number) => `/portfolios?page=${page}`
    const callsOf = (page: number) =>
      upstream.requests.filter(({ url }) => url === `/v1${pathOf(page)}`).length

    /** Asks for pages, which each get what they asked for once `more` has been done. */
    async function askFor(
      pages: number[],
      headers = {},
      more?: () => Promise<void>,
    ): Promise<void> {
      let left = pages.length
      const asked = pages.map((page) => ask(pathOf(page)).finally(() => left--))
      await more?.()
      while (left > 0) {
        await comesTrue(() => held.length > 0 || left === 0)
        for (const { request, response } of held.splice(0)) {
          const body = JSON.stringify(request.url)
          const length = String(body.length)
          const head = { 'content-type': 'application/json', 'content-length': length, ...headers }
          response.writeHead(200, head).end(body)
        }
      }
      for (const [index, answer] of (await Promise.all(asked)).entries()) {
        t.equal(textOf(answer), `"/v1${pathOf(pages[index] ?? -1)}"`)
      }
    }

    const others = Array.from({ length: MOST_KNOWN - 1 }, (_, index) => index + 1)
    await askFor([0], {}, async () => {
      await waiting(1)
      await askFor(others, {}, async () => {
        await settled(arrivals() + others.length)
        await askFor([MOST_KNOWN, MOST_KNOWN], {}, async () => {
          await settled(arrivals() + 2)
          await askFor([0])
        })
      })
    })
    t.equal(callsOf(MOST_KNOWN), 1, 'the newest is joined')
    t.equal(callsOf(0), 2, 'the oldest is not')

    // Whose answers are for one
    const forOne = { 'cache-control': 'no-store' }
    for (const page of [0, ...others, 0, MOST_KNOWN]) await askFor([page], forOne)
    t.equal((await burst(relay, {}, pathOf(1))).calls, 1, 'the oldest is forgotten')
    t.equal((await burst(relay, {}, pathOf(2))).calls, GUESTS, 'the next is not')
    t.equal((await burst(relay, {}, pathOf(0))).calls, GUESTS, 'nor is what was asked again')
  },
)

t.test('long answers, and those of unknown length, pass each to its own', async (t) => {
  const relay = await startRelay(t)
  const { ask, held, upstream, waiting, settled } = relay
  const long = Buffer.alloc(200_000, 'x')
  for (const head of [{ 'content-length': String(long.length) }, { 'x-chunked': 'yes' }]) {
    const before = upstream.requests.length
    const asked = Array.from({ length: 4 }, () => ask('/portfolios', { accept: String(before) }))
    await settled(before === 0 ? 4 : 8)
    let answered = 0
    while (answered < 4) {
      await waiting(1)
      for (const { response } of held.splice(0)) {
        answered++
        response.writeHead(200, { 'content-type': 'application/json', ...head }).end(long)
      }
    }
    for (const { body } of await Promise.all(asked)) t.ok(body.equals(long))
    t.equal(upstream.requests.length - before, 4)
  }
})

t.test('an empty answer is shared, too', async (t) => {
  const { ask, held, upstream, waiting, settled } = await startRelay(t)
  for (const [index, status] of [304, 204].entries()) {
    const asked = [1, 2, 3].map(() => ask('/portfolios', { 'if-none-match': '"a"' }))
    await settled(3 * (index + 1))
    await waiting(1)
    for (const { response } of held.splice(0)) response.writeHead(status, { etag: '"a"' }).end()
    for (const answer of await Promise.all(asked)) {
      t.match(answer, { status, headers: { etag: '"a"' }, body: Buffer.alloc(0) })
    }
    t.equal(upstream.requests.length, index + 1)
  }
})

t.test('who asked first may leave, and the others are answered', async (t) => {
  const { url, ask, upstream, waiting, settled, answerAll, held } = await startRelay(t)
  const first = await leaver(url)
  await waiting(1)
  const asked = [ask(), ask()]
  await settled(3)
  first.destroy()
  await sleep(SETTLED_MS)
  t.notOk(held[0]?.response.destroyed, 'the call goes on')
  answerAll()
  t.same((await Promise.all(asked)).map(textOf), ['{"call":0}', '{"call":0}'])
  t.equal(upstream.requests.length, 1)
})

t.test('when all have left the call ends, and who comes then asks anew', async (t) => {
  const { url, ask, upstream, waiting, settled, answerAll, held } = await startRelay(t)
  const sockets = [await leaver(url), await leaver(url), await leaver(url)]
  await settled(3)
  await waiting(1)
  const { response } = held[0] ?? {}
  for (const socket of sockets) socket.destroy()
  t.ok(await comesTrue(() => response?.destroyed === true), 'the call has ended')
  held.splice(0)
  const next = ask()
  await waiting(1)
  answerAll()
  t.equal((await next).status, 200)
  t.equal(upstream.requests.length, 2)
})

t.test('who has the only answer takes the call along when leaving in it', async (t) => {
  const { url, waiting, settled, held } = await startRelay(t)
  const sockets = [await leaver(url), await leaver(url)]
  await settled(2)
  await waiting(1)
  const open: ServerResponse[] = []
  for (let i = 0; i < 2; i++) {
    await waiting(1)
    for (const { response } of held.splice(0)) {
      response.writeHead(200, { 'cache-control': 'no-store', 'content-length': '9' }).write('{')
      open.push(response)
    }
  }
  await sleep(SETTLED_MS)
  sockets[0]?.destroy()
  t.ok(await comesTrue(() => open[0]?.destroyed === true))
  await sleep(SETTLED_MS)
  t.equal(open[1]?.destroyed, false)
  sockets[1]?.destroy()
  t.ok(await comesTrue(() => open[1]?.destroyed === true))
})

t.test('a failure is everybody’s, and counts once', async (t) => {
  const { url, ask, upstream, settled, held } = await startRelay(t, {
    ORDERSOURCE_TIMEOUT_MS: '1500',
  })
  const asked = Array.from({ length: GUESTS }, () => ask())
  for (const answer of await Promise.all(asked)) t.equal(answer.status, 504)
  t.equal(upstream.requests.length, 1)
  held.splice(0)

  const cut = Array.from({ length: GUESTS }, () => ask())
  await settled(2 * GUESTS)
  for (const { response } of held.splice(0)) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '9' })
    response.write('{')
    await sleep(SETTLED_MS)
    response.destroy()
  }
  for (const answer of await Promise.all(cut)) {
    t.equal(answer.status, 502)
    t.match(answer.headers['content-type'], /problem/)
  }
  t.equal(upstream.requests.length, 2)
  const ready = (await (await fetch(`${url}/readyz`)).json()) as { checks: object }
  t.match(ready.checks, { orderSource: { ready: true } })
})

t.test('nobody joins an answer that has begun', async (t) => {
  const { ask, held, upstream, waiting, settled, answerAll } = await startRelay(t)
  const early = [ask(), ask()]
  await settled(2)
  await waiting(1)
  const [begun] = held.splice(0)
  begun?.response.writeHead(200, { 'content-type': 'application/json', 'content-length': '11' })
  begun?.response.write('{"begun":')
  await sleep(SETTLED_MS)
  const late = ask()
  await waiting(1)
  answerAll()
  t.equal(textOf(await late), '{"call":0}')
  begun?.response.end('1}')
  t.same((await Promise.all(early)).map(textOf), ['{"begun":1}', '{"begun":1}'])
  t.equal(upstream.requests.length, 2)
})

const say = (held: Held | undefined, text: string) =>
  held?.response
    .writeHead(200, { 'content-type': 'application/json', 'content-length': text.length })
    .end(text)

t.test('after a change nobody gets what was before it, nor after one that failed', async (t) => {
  const { ask, held, bearer, waiting } = await startRelay(t)
  for (const [answer, status] of [
    [(put: Held | undefined) => say(put, '"saved"'), 200],
    [(put: Held | undefined) => put?.response.destroy(), 502],
  ] as const) {
    const before = ask()
    await waiting(1)
    const [old] = held.splice(0)
    const change = ask('/portfolios/1', bearer, 'PUT')
    await waiting(1)
    answer(held.splice(0)[0])
    t.equal((await change).status, status)
    const after = ask()
    await waiting(1)
    say(held.splice(0)[0], '"new"')
    t.equal(textOf(await after), '"new"')
    say(old, '"old"')
    t.equal(textOf(await before), '"old"')
  }
})

/** Calls of an order source that keeps its callers waiting, without the service around them. */
async function startCalls(t: Test) {
  const upstream = await recordingUpstream(t)
  const held: Held[] = []
  upstream.answer = (request, response) => held.push({ request, response })
  const settings = {
    ORDERSOURCE_BASE_URL: upstream.url,
    ORDERSOURCE_API_TOKEN: UPSTREAM_TOKEN,
    ORDERSOURCE_TIMEOUT_MS: 60_000,
  }
  const opened = openUpstream(settings, new Registry())
  if (opened === null) throw new Error('there is an order source')
  t.teardown(() => opened.close())
  const { origin } = new URL(upstream.url)
  const question = { origin, path: '/v1/portfolios', method: 'GET' } as const
  return { upstream, held, opened, question }
}

t.test('who destroys a body gives up its call', async (t) => {
  const { held, opened, question } = await startCalls(t)
  opened.request({ ...question, headers: {} }, (_error, answer) => answer?.body.destroy())
  await comesTrue(() => held.length === 1)
  held[0]?.response.write('[')
  t.ok(await comesTrue(() => held[0]?.response.destroyed === true))
})

t.test('what is placed from the portal is a change, too', async (t) => {
  const { upstream, held, opened, question } = await startCalls(t)
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      opened.request({ ...question, headers: toRequestKey({}) }, (error) => {
        if (error === null) resolve()
        else reject(error)
      })
    })
  const asked = [ask(), ask()]
  await comesTrue(() => held.length === 1)
  const placing = createJsonClient(opened)({ method: 'POST', path: '/offset-orders', body: {} })
  await comesTrue(() => held.length === 2)
  say(held[1], '{}')
  await placing
  asked.push(ask())
  t.ok(await comesTrue(() => held.length === 3))
  t.same(
    upstream.requests.map(({ method }) => method),
    ['GET', 'POST', 'GET'],
  )
  for (const one of [held[0], held[2]]) say(one, '[]')
  await Promise.all(asked)
})

t.test('of an error all get the status, also where its words do not come', async (t) => {
  const { ask, held, settled, waiting } = await startRelay(t)
  const ends = [() => undefined, ({ response }: Held) => response.destroy()]
  for (const [index, end] of ends.entries()) {
    const asked = [ask(), ask(), ask()]
    await settled(3 * (index + 1))
    await waiting(1)
    const [one] = held.splice(0)
    one?.response.writeHead(503, { 'retry-after': '9', 'content-length': '20' }).write('{')
    await sleep(SETTLED_MS)
    if (one) end(one)
    for (const answer of await Promise.all(asked)) {
      t.match(answer, { status: 503, headers: { 'retry-after': '9' } })
    }
  }
})

t.test('errors and tokens are hidden from each who must not see them', async (t) => {
  const { ask, held, bearer, waiting, settled } = await startRelay(t)
  const asked = [ask(), ask('/portfolios', bearer), ask()]
  await settled(3)
  await waiting(1)
  const words = JSON.stringify({ message: `the token ${UPSTREAM_TOKEN} is fine, the disk is not` })
  for (const { response } of held.splice(0)) {
    response
      .writeHead(500, { 'content-type': 'application/json', 'content-length': words.length })
      .end(words)
  }
  const [guest, administrator, other] = await Promise.all(asked)
  for (const stranger of [guest, other]) {
    t.equal(stranger?.status, 500)
    t.match(stranger?.body.toString(), 'The order source answered with an error.')
    t.notMatch(stranger?.body.toString(), 'disk')
  }
  t.match(administrator?.body.toString(), 'the disk is not')
  t.notMatch(administrator?.body.toString(), UPSTREAM_TOKEN)
})

t.test('however guests come and go, who stays gets the answer to his own question', async (t) => {
  const { url, upstream } = await startRelay(t)
  upstream.answer = (request, response) => {
    const text = JSON.stringify(request.url)
    const headers = {
      'content-type': 'application/json',
      ...(text.includes('n=3') ? { 'cache-control': 'no-store' } : {}),
      ...(text.includes('n=4') ? {} : { 'content-length': text.length }),
    }
    setTimeout(
      () => response.writeHead(200, headers).end(text),
      20 + (upstream.requests.length % 7),
    )
  }
  let stayed = 0
  async function guest(index: number): Promise<void> {
    await sleep((index * 7) % 90)
    const question = `/portfolios?n=${index % 5}`
    const leaves = index % 3 === 0
    const abort = new AbortController()
    const call = fetch(`${url}${MOUNT}${question}`, { signal: abort.signal })
    if (leaves) setTimeout(() => abort.abort(), (index * 11) % 40)
    try {
      const answer = await call
      const body: unknown = await answer.json()
      t.equal(answer.status, 200)
      t.equal(body, `/v1${question}`)
      stayed++
    } catch (error) {
      if (!leaves) throw error
    }
  }
  const guests = 300
  await Promise.all(Array.from({ length: guests }, (_, index) => guest(index)))
  t.ok(stayed >= (guests * 2) / 3)
  t.ok(upstream.requests.length < guests, `${upstream.requests.length} calls of ${guests} guests`)
})
