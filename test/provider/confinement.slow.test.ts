import fc from 'fast-check'
import t, { type Test } from 'tap'
import { decodeUpstreamPath } from '../../src/provider/paths.js'
import { startApp } from '../support/app.js'
import { rawRequest } from '../support/raw-http.js'
import { recordingUpstream, upstreamEnvironment } from '../support/recording-upstream.js'
import { ADMIN_ACCOUNTS, signIn } from '../support/sign-in.js'

const MOUNT = '/api/ordersource'
const BASE = '/v1/offsets'

/** Starts the service and sends requests as an administrator. */
async function startProxy(t: Test) {
  const upstream = await recordingUpstream(t, BASE)
  const { url } = await startApp(t, { ADMIN_ACCOUNTS, ...upstreamEnvironment(upstream.url) })
  const authorization = `authorization: Bearer ${await signIn(url)}\r\n`
  const send = async (target: string, method = 'GET') => {
    const response = await rawRequest(
      url,
      `${method} ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${authorization}\r\n`,
    )
    return { status: Number(response.split(' ')[1]), response }
  }
  return { url, upstream, authorization, send }
}

/** Decodes a path like the most lenient parser: every escape, at any depth, and every kind of slash. */
function decodeLeniently(path: string): string[] {
  let text = path
  for (let depth = 0; depth < 6; depth++) {
    text = text
      .replace(/%u([\da-f]{4})/gi, (_match, hex: string) => String.fromCharCode(parseInt(hex, 16)))
      .replace(/%([\da-f]{2})/gi, (_match, hex: string) => String.fromCharCode(parseInt(hex, 16)))
      .replace(/[\0-\x20]/g, '')
  }
  const utf8 = Buffer.from(text, 'latin1').toString().normalize('NFKC')
  return [text, utf8].map((read) => read.replaceAll('\\', '/'))
}

/** Whether a path stays below the base for every parser. */
const staysInside = (path: string): boolean =>
  path.startsWith(BASE) &&
  decodeLeniently(path.slice(BASE.length)).every(
    (read) =>
      !read.includes('//') && !read.split(/[/;]/).some((segment) => /^\.{1,2}$/.test(segment)),
  )

const DOTS = [
  '..',
  '.',
  '%2e%2e',
  '%2E%2e',
  '.%2e',
  '%2e.',
  '%2e',
  '%252e%252e',
  '%252e.',
  '%25252e%25252e',
  '%25%32%65%25%32%65',
  '..;',
  '..;a=b',
  ';..',
  '..%00',
  '%00..',
  '..%20',
  '..%09',
  '..%0d%0a',
  '%c0%ae%c0%ae',
  '%e0%80%ae%e0%80%ae',
  '%u002e%u002e',
  '%ef%bc%8e%ef%bc%8e',
  '%e2%80%a5',
  '%e2%80%a4%e2%80%a4',
  '...',
]
const SLASHES = ['/', '//', '%2f', '%2F', '%5c', '\\', '%252f', '%255c', '%ef%bc%8f', '/;/', ';/']

t.test('keeps every spelling of a traversal below the base path', async (t) => {
  const { upstream, send } = await startProxy(t)
  const targets = DOTS.flatMap((dots) =>
    SLASHES.flatMap((slash) => [
      `${MOUNT}/${dots}${slash}secret`,
      `${MOUNT}/portfolios${slash}${dots}${slash}${dots}${slash}secret`,
    ]),
  )
  t.ok(targets.length > 500)
  const accepted: string[] = []
  for (const target of targets) {
    const { status } = await send(target)
    if (status !== 400 && status !== 404) accepted.push(`${status} ${target}`)
  }
  t.same(accepted, [])
  t.same(upstream.requests, [])
})

t.test('rejects ambiguous paths', async (t) => {
  const { upstream, send } = await startProxy(t)
  for (const target of [
    `${MOUNT}/..`,
    `${MOUNT}/.`,
    `${MOUNT}//`,
    `${MOUNT}//portfolios`,
    `${MOUNT}/a//b`,
    `${MOUNT}/a/..`,
    `${MOUNT}/a/./b`,
    `${MOUNT}/..a/b`,
    `${MOUNT}/a../b`,
    `${MOUNT}//evil.example/`,
    `${MOUNT}/\\evil.example/`,
    `${MOUNT}/a\\b`,
    `${MOUNT}/a%5cb`,
    `${MOUNT}/a%2fb`,
    `${MOUNT}/a%252fb`,
    `${MOUNT}/a%25b`,
    `${MOUNT}/a;b`,
    `${MOUNT}/a%3bb`,
    `${MOUNT}/a%3fb`,
    `${MOUNT}/a%23b`,
    `${MOUNT}/a%00`,
    `${MOUNT}/a%0d%0ax:y`,
    `${MOUNT}/a%7f`,
    `${MOUNT}/a%c2%85`,
    `${MOUNT}/a%e2%80%a8`,
    `${MOUNT}/%`,
    `${MOUNT}/%zz`,
    `${MOUNT}/%2`,
    `${MOUNT}/%ff`,
    `${MOUNT}/%c3`,
    `${MOUNT}/portfolios#`,
    `${MOUNT}/portfolios#/../..`,
    `${MOUNT}/portfolios#?a=b`,
    `${MOUNT}/portfolios?a=b#c`,
    `${MOUNT}#/portfolios`,
    `http://x${MOUNT}/portfolios`,
    `http://evil.example${MOUNT}/portfolios`,
    `HTTP://evil.example:80${MOUNT}/../x`,
    `https://evil.example${MOUNT}/portfolios?x`,
    `/api/%6frdersource/..%2fx`,
    `/%61pi/ordersource//x`,
    `/api/ordersource/../ordersource/portfolios`,
  ]) {
    const before = upstream.requests.length
    const { status, response } = await send(target)
    t.equal(status, 400, target)
    t.match(response, /application\/problem\+json/)
    t.equal(upstream.requests.length, before, target)
  }
  for (const target of [
    '/api/ordersources',
    '/api/ordersource@evil.example/',
    '/api/ordersource.evil.example/',
    '/api/ordersource%2fportfolios',
    '/api/ordersource%5cportfolios',
    '/api/ordersource;/portfolios',
    '/api//ordersource/portfolios',
    '//api/ordersource/portfolios',
    '/x/../api/ordersource/portfolios',
    '/API/ordersource/portfolios',
    '*',
  ]) {
    const { status } = await send(target)
    t.ok(status === 400 || status === 404, `${status} ${target}`)
  }
  for (const target of [`${MOUNT}/x y`, 'x', '@evil.example', `${MOUNT}/é`, `${MOUNT}/\x01`]) {
    t.match(await send(target).then(({ status }) => status), 400, JSON.stringify(target))
  }
  t.equal((await send('evil.example:443', 'CONNECT')).response, '', 'no tunnels')
  t.same(upstream.requests, [])
})

t.test('forwards unambiguous paths, however the mount is encoded', async (t) => {
  const { upstream, send } = await startProxy(t)
  for (const [target, arrives] of [
    [`${MOUNT}/a.b/c...d/.e/-_~`, '/a.b/c...d/.e/-_~'],
    [`${MOUNT}/%E6%97%A5%E6%9C%AC`, '/%E6%97%A5%E6%9C%AC'],
    [`${MOUNT}/a%20%2B%26%3D%40`, '/a%20%2B%26%3D%40'],
    ['/%61%70%69/%6frdersource/a', '/a'],
    [
      `${MOUNT}/a?next=/../../etc/passwd%00&u=http://evil.example/`,
      '/a?next=/../../etc/passwd%00&u=http://evil.example/',
    ],
  ] as const) {
    t.equal((await send(target)).status, 200, target)
    t.equal(upstream.requests.at(-1)?.url, BASE + arrives)
  }
})

t.test('confines or rejects any path', async (t) => {
  const { upstream, send } = await startProxy(t)
  const piece = fc.constantFrom(
    ...DOTS,
    ...SLASHES,
    'a',
    'portfolios',
    '?',
    '#',
    '@',
    ':',
    '%',
    '%25',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 7 }), async (pieces) => {
      const target = `${MOUNT}/${pieces.join('')}`
      const before = upstream.requests.length
      const { status } = await send(target)
      const arrived = upstream.requests.slice(before).map(({ url }) => url.split('?', 1)[0] ?? '')
      return status === 200
        ? arrived.length === 1 && arrived.every(staysInside)
        : [400, 404].includes(status) && arrived.length === 0
    }),
    { numRuns: 400 },
  )
  t.ok(upstream.requests.length > 0, 'some were forwarded')
})

t.test('decodes upstream paths', (t) => {
  for (const [address, path] of [
    [MOUNT, '/'],
    [`${MOUNT}?x`, '/'],
    [`${MOUNT}/`, '/'],
    [`${MOUNT}/a/b/`, '/a/b/'],
    [`${MOUNT}/%61%20%C3%A9`, '/a é'],
    ['/api/other/a', null],
    ['', null],
    ['portfolios', null],
    [`${MOUNT}/a//`, null],
  ] as const) {
    t.equal(decodeUpstreamPath(address), path, address)
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const path = decodeUpstreamPath(`${MOUNT}/${encodeURIComponent(text)}`)
      return path === null || (path === `/${text}` && staysInside(BASE + encodeURI(path)))
    }),
    { numRuns: 2_000 },
  )
  t.end()
})

t.test('prevents request smuggling', async (t) => {
  const { url, upstream, authorization } = await startProxy(t)
  const hidden = `GET ${MOUNT}/smuggled HTTP/1.1\r\nhost: x\r\n\r\n`
  const head = `POST ${MOUNT}/offset-orders HTTP/1.1\r\nhost: x\r\n${authorization}content-type: text/plain\r\n`
  for (const [what, request] of [
    [
      'both lengths',
      `${head}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    ],
    [
      'two lengths',
      `${head}content-length: 0\r\ncontent-length: ${hidden.length}\r\n\r\n${hidden}`,
    ],
    ['a list of lengths', `${head}content-length: 0, ${hidden.length}\r\n\r\n${hidden}`],
    ['a signed length', `${head}content-length: +${hidden.length}\r\n\r\n${hidden}`],
    ['a length in hex', `${head}content-length: 0x10\r\n\r\n${hidden}`],
    ['an unknown coding', `${head}transfer-encoding: identity\r\n\r\n${hidden}`],
    ['a coding after chunked', `${head}transfer-encoding: chunked, gzip\r\n\r\n0\r\n\r\n${hidden}`],
    ['a misspelt coding', `${head}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`],
    [
      'a coding with a tab',
      `${head}transfer-encoding:\tchunked\r\ncontent-length: 3\r\n\r\n0\r\n\r\n${hidden}`,
    ],
    ['a header with a space', `${head}content-length : 5\r\n\r\n${hidden}`],
    ['a folded header', `${head}x: y\r\n transfer-encoding: chunked\r\n\r\n${hidden}`],
    ['a bare line feed', `${head}x: y\ncontent-length: 5\r\n\r\n${hidden}`],
    ['a bare carriage return', `${head}x: y\rcontent-length: 5\r\n\r\n${hidden}`],
    ['a bad chunk size', `${head}transfer-encoding: chunked\r\n\r\n-1\r\n\r\n${hidden}`],
    [
      'an enormous chunk size',
      `${head}transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n${hidden}`,
    ],
    [
      'a chunk with too much data',
      `${head}transfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n${hidden}`,
    ],
    ['a NUL', `${head}x: \0\r\n\r\n${hidden}`],
    ['no host', `POST ${MOUNT}/offset-orders HTTP/1.1\r\n${authorization}\r\n${hidden}`],
  ] as const) {
    const before = upstream.requests.length
    const response = await rawRequest(url, request)
    // The hidden request has no token, so it must be rejected in any case.
    const arrived = upstream.requests.slice(before)
    t.notOk(
      arrived.some(({ url, body }) => url.includes('smuggled') || body.includes('smuggled')),
      what,
    )
    t.match(response, /^HTTP\/1\.1 4\d\d /, what)
  }

  const whole = `${head}content-length: ${hidden.length}\r\nconnection: close\r\n\r\n${hidden}`
  t.match(await rawRequest(url, whole), /^HTTP\/1\.1 200 /)
  t.match(
    upstream.requests.at(-1),
    { url: `${BASE}/offset-orders`, body: hidden },
    'as a body it is part of one request',
  )

  const trailer = `${head}transfer-encoding: chunked\r\nconnection: close\r\ntrailer: authorization\r\n\r\n2\r\n{}\r\n0\r\nauthorization: Bearer mine\r\n\r\n`
  t.match(await rawRequest(url, trailer), /^HTTP\/1\.1 200 /)
  t.notMatch(upstream.requests.at(-1)?.rawHeaders.join(), /mine/)
  t.equal(upstream.requests.at(-1)?.body, '{}')
})
