import fc from 'fast-check'
import { headerText, hostileText, jsonFragment, MARKUP, MEMBER_NAMES } from './hostile-values.js'
import type { Call } from './valid-calls.js'

/** A request to send. */
export interface HostileRequest {
  method: string
  /** Path and query, escaped */
  address: string
  headers: Record<string, string | string[]>
  /** In latin1, so that a counterexample can be read; `null` for none */
  body: string | null
}

/** A mutation of a request; `at` selects where, modulo the number of places. */
type Mutation =
  | { kind: 'nothing' }
  | { kind: 'json value'; at: number; fragment: string }
  | { kind: 'json member'; at: number; name: string; fragment: string }
  | { kind: 'json without'; at: number }
  | { kind: 'field'; at: number; text: string; isAdded: boolean }
  | { kind: 'field without'; at: number }
  | { kind: 'body'; body: Buffer; type: string | undefined }
  | { kind: 'bytes'; at: number; bytes: Buffer }
  | { kind: 'type'; type: string | undefined }
  | { kind: 'encoding'; encoding: 'utf16le' | 'utf16be' | 'latin1' | 'bom' | 'gzip' }
  | { kind: 'query'; at: number; text: string; isAdded: boolean }
  | { kind: 'query text'; text: string }
  | { kind: 'segment'; at: number; text: string }
  | { kind: 'path'; text: string }
  | { kind: 'header'; name: string; values: string[] }
  | { kind: 'method'; method: string }

const TYPES = [
  undefined,
  '',
  'text/plain',
  'application/json; charset=utf-16',
  'application/json; charset="',
  'application/json;;;',
  'application/jsonx',
  'application/problem+json',
  'application/json, text/plain',
  'application/x-www-form-urlencoded',
  'application/x-www-form-urlencoded; charset=utf-16',
  'multipart/form-data; boundary=x',
  'multipart/form-data',
  'application/xml',
  '*/*',
  'x'.repeat(3_000),
] as const

/** Escapes that say something else to each reader, or nothing. */
const ESCAPES = [
  '%',
  '%0',
  '%00',
  '%0d%0aset-cookie:%20pwned=1',
  '%ff',
  '%c0%ae',
  '%ED%A0%80',
  '%u0041',
  '%2f',
  '%252f',
  '%2e%2e',
  '..',
  '.',
  ';x=1',
  '%5c',
  '[]',
  '[a][b]',
  '__proto__',
  '%EF%BC%8F',
  '*',
  '~',
] as const

const QUERIES = [
  '?',
  '&&&===',
  '=',
  '__proto__=1&constructor=2',
  '__proto__[polluted]=1&constructor[prototype][polluted]=1',
  'status[]=paid&status[0]=paid&status.0=paid',
  'status=paid&'.repeat(2_000),
  'a=1&'.repeat(5_000),
  `q=${'x'.repeat(20_000)}`,
  `q=${'%20'.repeat(5_000)}`,
  'q=%E0%A4%A',
  'page=1&page=2&page=3',
] as const

const HEADER_NAMES = [
  'accept',
  'accept-encoding',
  'accept-language',
  'authorization',
  'cache-control',
  'content-encoding',
  'cookie',
  'forwarded',
  'host',
  'hx-current-url',
  'hx-request',
  'hx-request-type',
  'hx-target',
  'idempotency-key',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'origin',
  'range',
  'referer',
  'sec-fetch-site',
  'upgrade',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-http-method-override',
  'x-original-url',
  'x-request-id',
  'x-rewrite-url',
] as const

const HEADER_VALUES = [
  'true',
  'partial',
  'full',
  '*',
  '"1"',
  'W/"1"',
  '"1", "2", *',
  'gzip;q=x, br;q=1e9, *;q=0',
  'identity;q=0, *;q=0',
  'de-DE;q=NaN, x-y-z, en-GB-oed, *',
  'en-u-ca-buddhist-nu-thai',
  'image/png;q=, image/svg+xml;q=0.1, */*;q=2',
  'Bearer',
  'Bearer ..',
  'Bearer eyJhbGciOiJub25lIn0.e30.',
  'Basic OjpAOg==',
  'clearwake=x; clearwake=y; =; ;;; a',
  'clearwake-flash=saved.9999999999999999; clearwake=%E0%A4%A',
  'clearwake-flash=__proto__.1',
  'bytes=-1',
  'bytes=0-0,1-1,2-2',
  'bytes=99999999999999999999-',
  'http://evil.example/admin?x=/\\evil',
  'javascript:alert(1)',
  'null',
  '1.2.3.4, ::1, not-an-address, [::]:80',
  'for="[::1]:x";host=evil.example',
  'cross-site',
  'websocket',
  'DELETE',
  '/admin/orders',
  MARKUP,
] as const

const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'SEARCH',
  'PURGE',
  'M-SEARCH',
] as const

const placeOrder = fc.nat(1_000)

const hasBody = ({ method }: Call): boolean => method !== 'GET' && method !== 'HEAD'

/** What may be wrong with a call: above all its body, where it has one, else its address. */
function listMutations(call: Call): fc.Arbitrary<Mutation> {
  const one = (weight: number, arbitrary: fc.Arbitrary<Mutation>) => ({ weight, arbitrary })
  const kind = <K extends Mutation['kind']>(name: K) => fc.constant(name)
  const { body } = call
  const isJson = body !== null && 'json' in body
  const isForm = body !== null && 'form' in body
  const hasQuery = Object.keys(call.query).length > 0
  return fc.oneof(
    one(1, fc.record({ kind: kind('nothing') })),
    one(
      isJson ? 12 : 0,
      fc.record({ kind: kind('json value'), at: placeOrder, fragment: jsonFragment }),
    ),
    one(
      isJson ? 4 : 0,
      fc.record({
        kind: kind('json member'),
        at: placeOrder,
        name: fc.constantFrom(...MEMBER_NAMES, 'status', 'customerName', 'calculatorType'),
        fragment: jsonFragment,
      }),
    ),
    one(isJson ? 2 : 0, fc.record({ kind: kind('json without'), at: placeOrder })),
    one(
      isForm ? 12 : 0,
      fc.record({ kind: kind('field'), at: placeOrder, text: hostileText, isAdded: fc.boolean() }),
    ),
    one(isForm ? 2 : 0, fc.record({ kind: kind('field without'), at: placeOrder })),
    one(
      hasBody(call) ? 2 : 0,
      fc.record({
        kind: kind('body'),
        body: fc
          .oneof(jsonFragment, hostileText, fc.constant(`{"a":"${'x'.repeat(200_000)}"}`))
          .map((text) => Buffer.from(text)),
        type: fc.constantFrom('application/json', 'application/x-www-form-urlencoded', ...TYPES),
      }),
    ),
    one(
      body === null ? 0 : 2,
      fc.record({
        kind: kind('bytes'),
        at: placeOrder,
        bytes: fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
      }),
    ),
    one(hasBody(call) ? 2 : 0, fc.record({ kind: kind('type'), type: fc.constantFrom(...TYPES) })),
    one(
      body === null ? 0 : 1,
      fc.record({
        kind: kind('encoding'),
        encoding: fc.constantFrom('utf16le', 'utf16be', 'latin1', 'bom', 'gzip'),
      }),
    ),
    one(
      hasQuery ? 10 : 1,
      fc.record({ kind: kind('query'), at: placeOrder, text: hostileText, isAdded: fc.boolean() }),
    ),
    one(1, fc.record({ kind: kind('query text'), text: fc.constantFrom(...QUERIES, ...ESCAPES) })),
    one(
      3,
      fc.record({
        kind: kind('segment'),
        at: placeOrder,
        text: fc.oneof(fc.constantFrom(...ESCAPES), hostileText.map(escaped)),
      }),
    ),
    one(
      1,
      fc.record({
        kind: kind('path'),
        text: fc.constantFrom('/', '//', '/.', '/..', '?', '/x', `/${'a'.repeat(3_000)}`, '%20'),
      }),
    ),
    one(
      5,
      fc.record({
        kind: kind('header'),
        name: fc.constantFrom(...HEADER_NAMES),
        values: fc.array(fc.oneof(fc.constantFrom(...HEADER_VALUES), headerText), {
          minLength: 1,
          maxLength: 3,
        }),
      }),
    ),
    one(1, fc.record({ kind: kind('method'), method: fc.constantFrom(...METHODS) })),
  )
}

/** Escapes any text for a URL; a lone surrogate becomes invalid UTF-8. */
function escaped(text: string): string {
  return Array.from(text, (character) =>
    /[\ud800-\udfff]/.test(character) && character.length === 1
      ? '%ED%A0%80'
      : encodeURIComponent(character),
  )
    .join('')
    .slice(0, 20_000)
}

const listPairs = (fields: Record<string, string | string[]>): [string, string][] =>
  Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  )

const encoded = (pairs: readonly [string, string][]): string =>
  pairs.map(([name, value]) => `${escaped(name)}=${escaped(value)}`).join('&')

/** The pairs with one changed, or given once more. */
function withText(
  pairs: [string, string][],
  { at, text, isAdded }: { at: number; text: string; isAdded: boolean },
): [string, string][] {
  const index = pairs.length === 0 ? 0 : at % pairs.length
  const name = pairs[index]?.[0] ?? 'x'
  if (isAdded || pairs.length === 0) return [...pairs, [name, text]]
  return pairs.map((pair, other) => (other === index ? [name, text] : pair))
}

const HOLE = 'a hole for the test'

type Parent = Record<string, unknown>

/** Every value in a tree, with what holds it. */
function places(value: unknown, holder: Parent, key: string): { holder: Parent; key: string }[] {
  const inside =
    typeof value === 'object' && value !== null
      ? Object.keys(value).flatMap((name) => places((value as Parent)[name], value as Parent, name))
      : []
  return [{ holder, key }, ...inside]
}

/** The JSON of a value with one place of it changed: to any text, or to nothing. */
function jsonWith(json: unknown, mutation: Mutation & { at: number }): string {
  const root: Parent = structuredClone({ json })
  const all = places(root.json, root, 'json')
  if (mutation.kind === 'json member') {
    const objects = all
      .map(({ holder, key }) => holder[key])
      .filter((value) => typeof value === 'object' && value !== null && !Array.isArray(value))
    const chosen = objects[mutation.at % Math.max(1, objects.length)] as Parent | undefined
    if (chosen !== undefined) chosen[HOLE] = 0
    const member = `${JSON.stringify(mutation.name)}:${mutation.fragment}`
    return JSON.stringify(root.json).replace(`"${HOLE}":0`, () => member)
  }
  const chosen = all[mutation.at % all.length]
  if (chosen !== undefined) {
    if (mutation.kind === 'json value') chosen.holder[chosen.key] = HOLE
    else Reflect.deleteProperty(chosen.holder, chosen.key)
  }
  const fragment = mutation.kind === 'json value' ? mutation.fragment : ''
  const text = root.json === undefined ? '' : JSON.stringify(root.json)
  return text.replace(`"${HOLE}"`, () => fragment)
}

function recoded(body: Buffer, encoding: (Mutation & { kind: 'encoding' })['encoding']): Buffer {
  switch (encoding) {
    case 'utf16le':
      return Buffer.from(`\ufeff${body.toString()}`, 'utf16le')
    case 'utf16be':
      return Buffer.from(`\ufeff${body.toString()}`, 'utf16le').swap16()
    case 'latin1':
      return Buffer.from(`${body.toString()}\u00e9`, 'latin1')
    case 'bom':
      return Buffer.concat([Buffer.from('\ufeff'), body])
    case 'gzip':
      return Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0]), body])
  }
}

function getBody({ body }: Call, mutation: Mutation): { text: Buffer; type?: string } | null {
  if (mutation.kind === 'body') {
    return { text: mutation.body, ...(mutation.type === undefined ? {} : { type: mutation.type }) }
  }
  if (body === null) return null
  const type = 'json' in body ? 'application/json' : 'application/x-www-form-urlencoded'
  let text: string
  if ('json' in body) {
    const isInJson = mutation.kind.startsWith('json')
    text = isInJson
      ? jsonWith(body.json, mutation as Mutation & { at: number })
      : JSON.stringify(body.json)
  } else {
    const pairs = listPairs(body.form)
    if (mutation.kind === 'field') text = encoded(withText(pairs, mutation))
    else if (mutation.kind === 'field without') {
      text = encoded(pairs.filter((_, index) => index !== mutation.at % pairs.length))
    } else text = encoded(pairs)
  }
  const bytes = Buffer.from(text)
  switch (mutation.kind) {
    case 'type':
      return { text: bytes, ...(mutation.type === undefined ? {} : { type: mutation.type }) }
    case 'encoding':
      return { text: recoded(bytes, mutation.encoding), type }
    case 'bytes': {
      const index = bytes.length === 0 ? 0 : mutation.at % bytes.length
      const parts = [bytes.subarray(0, index), mutation.bytes, bytes.subarray(index + 1)]
      return { text: Buffer.concat(parts), type }
    }
    default:
      return { text: bytes, type }
  }
}

function getAddress({ path, query }: Call, mutation: Mutation): string {
  const segments = path.split('/')
  if (mutation.kind === 'segment') {
    const index = 1 + (mutation.at % Math.max(1, segments.length - 1))
    segments[index] = mutation.text
  }
  const end = mutation.kind === 'path' ? mutation.text : ''
  const pairs = listPairs(query)
  const text =
    mutation.kind === 'query text'
      ? mutation.text
      : encoded(mutation.kind === 'query' ? withText(pairs, mutation) : pairs)
  return `${segments.join('/')}${end}${text === '' ? '' : `?${text}`}`
}

function getRequest(call: Call, mutation: Mutation): HostileRequest {
  const body = getBody(call, mutation)
  const headers: HostileRequest['headers'] = { ...call.headers }
  if (body?.type !== undefined) headers['content-type'] = body.type
  if (mutation.kind === 'header') {
    const [only = ''] = mutation.values
    const isList = mutation.values.length > 1 && !['host', 'authorization'].includes(mutation.name)
    headers[mutation.name] = isList ? mutation.values : only
  }
  return {
    method: mutation.kind === 'method' ? mutation.method : call.method,
    address: getAddress(call, mutation),
    headers,
    body: body === null ? null : body.text.toString('latin1'),
  }
}

/** A call about one order, where it is about any. */
const about = (call: Call, order: number): Call =>
  JSON.parse(JSON.stringify(call).replaceAll('{order}', String(order))) as Call

/**
 * Requests that are one step away from valid ones.
 *
 * @param orders how many orders there are, with ids from 1
 */
export const hostileRequest = (
  calls: readonly Call[],
  orders: number,
): fc.Arbitrary<HostileRequest> =>
  fc
    .tuple(fc.constantFrom(...calls), fc.integer({ min: 1, max: orders }))
    .map(([call, order]) => about(call, order))
    .chain((call) => listMutations(call).map((mutation) => getRequest(call, mutation)))
