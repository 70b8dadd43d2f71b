import fc from 'fast-check'
import {
  CONTENT_TYPES,
  ESCAPES,
  HEADER_NAMES,
  HEADER_VALUES,
  METHODS,
  QUERIES,
} from './hostile-http-values.js'
import { headerText, hostileText, jsonFragment, MEMBER_NAMES } from './hostile-values.js'
import type { Call } from './valid-calls.js'

export interface HostileRequest {
  method: string
  /** Request target with its query, escaped */
  address: string
  headers: Record<string, string | string[]>
  /** In latin1, so that counterexamples are readable; `null` for none */
  body: string | null
}

/** A change to a valid request. `at` selects a place, modulo the number of places. */
type Mutation =
  | { type: 'none' }
  | { type: 'json_value'; at: number; fragment: string }
  | { type: 'json_member'; at: number; name: string; fragment: string }
  | { type: 'json_removal'; at: number }
  | { type: 'field'; at: number; text: string; isAdded: boolean }
  | { type: 'field_removal'; at: number }
  | { type: 'body'; body: Buffer; contentType: string | undefined }
  | { type: 'bytes'; at: number; bytes: Buffer }
  | { type: 'content_type'; contentType: string | undefined }
  | { type: 'encoding'; encoding: 'utf16le' | 'utf16be' | 'latin1' | 'bom' | 'gzip' }
  | { type: 'parameter'; at: number; text: string; isAdded: boolean }
  | { type: 'query'; text: string }
  | { type: 'segment'; at: number; text: string }
  | { type: 'path_suffix'; text: string }
  | { type: 'header'; name: string; values: string[] }
  | { type: 'method'; method: string }

type JsonMutation = Extract<Mutation, { type: 'json_value' | 'json_member' | 'json_removal' }>

const index = fc.nat(1_000)

/** Mutations of a call, mostly of its body if it has one, otherwise of its target and headers. */
function createMutations(call: Call): fc.Arbitrary<Mutation> {
  const weighted = (weight: number, arbitrary: fc.Arbitrary<Mutation>) => ({ weight, arbitrary })
  const type = <T extends Mutation['type']>(name: T) => fc.constant(name)
  const { body, method } = call
  const isJson = body !== null && 'json' in body
  const isForm = body !== null && 'form' in body
  const allowsBody = method !== 'GET' && method !== 'HEAD'
  const hasQuery = Object.keys(call.query).length > 0
  return fc.oneof(
    weighted(1, fc.record({ type: type('none') })),
    weighted(
      isJson ? 12 : 0,
      fc.record({ type: type('json_value'), at: index, fragment: jsonFragment }),
    ),
    weighted(
      isJson ? 4 : 0,
      fc.record({
        type: type('json_member'),
        at: index,
        name: fc.constantFrom(...MEMBER_NAMES, 'status', 'customerName', 'calculatorType'),
        fragment: jsonFragment,
      }),
    ),
    weighted(isJson ? 2 : 0, fc.record({ type: type('json_removal'), at: index })),
    weighted(
      isForm ? 12 : 0,
      fc.record({ type: type('field'), at: index, text: hostileText, isAdded: fc.boolean() }),
    ),
    weighted(isForm ? 2 : 0, fc.record({ type: type('field_removal'), at: index })),
    weighted(
      allowsBody ? 2 : 0,
      fc.record({
        type: type('body'),
        body: fc
          .oneof(jsonFragment, hostileText, fc.constant(`{"a":"${'x'.repeat(200_000)}"}`))
          .map((text) => Buffer.from(text)),
        contentType: fc.constantFrom(
          'application/json',
          'application/x-www-form-urlencoded',
          ...CONTENT_TYPES,
        ),
      }),
    ),
    weighted(
      body === null ? 0 : 2,
      fc.record({
        type: type('bytes'),
        at: index,
        bytes: fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
      }),
    ),
    weighted(
      allowsBody ? 2 : 0,
      fc.record({ type: type('content_type'), contentType: fc.constantFrom(...CONTENT_TYPES) }),
    ),
    weighted(
      body === null ? 0 : 1,
      fc.record({
        type: type('encoding'),
        encoding: fc.constantFrom('utf16le', 'utf16be', 'latin1', 'bom', 'gzip'),
      }),
    ),
    weighted(
      hasQuery ? 10 : 1,
      fc.record({ type: type('parameter'), at: index, text: hostileText, isAdded: fc.boolean() }),
    ),
    weighted(1, fc.record({ type: type('query'), text: fc.constantFrom(...QUERIES, ...ESCAPES) })),
    weighted(
      3,
      fc.record({
        type: type('segment'),
        at: index,
        text: fc.oneof(fc.constantFrom(...ESCAPES), hostileText.map(escapeText)),
      }),
    ),
    weighted(
      1,
      fc.record({
        type: type('path_suffix'),
        text: fc.constantFrom('/', '//', '/.', '/..', '?', '/x', `/${'a'.repeat(3_000)}`, '%20'),
      }),
    ),
    weighted(
      5,
      fc.record({
        type: type('header'),
        name: fc.constantFrom(...HEADER_NAMES),
        values: fc.array(fc.oneof(fc.constantFrom(...HEADER_VALUES), headerText), {
          minLength: 1,
          maxLength: 3,
        }),
      }),
    ),
    weighted(1, fc.record({ type: type('method'), method: fc.constantFrom(...METHODS) })),
  )
}

/** Percent-encodes text, with lone surrogates as invalid UTF-8. */
function escapeText(text: string): string {
  return Array.from(text, (character) =>
    /[\ud800-\udfff]/.test(character) && character.length === 1
      ? '%ED%A0%80'
      : encodeURIComponent(character),
  )
    .join('')
    .slice(0, 20_000)
}

type Pair = [name: string, value: string]

const toPairs = (fields: Record<string, string | string[]>): Pair[] =>
  Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().map((value): Pair => [name, value]),
  )

const encodePairs = (pairs: readonly Pair[]): string =>
  pairs.map(([name, value]) => `${escapeText(name)}=${escapeText(value)}`).join('&')

/** Replaces the value of a pair, or adds another pair of the same name. */
function mutatePairs(
  pairs: Pair[],
  { at, text, isAdded }: { at: number; text: string; isAdded: boolean },
): Pair[] {
  const chosen = pairs.length === 0 ? 0 : at % pairs.length
  const name = pairs[chosen]?.[0] ?? 'x'
  if (isAdded || pairs.length === 0) return [...pairs, [name, text]]
  return pairs.map((pair, other) => (other === chosen ? [name, text] : pair))
}

const PLACEHOLDER = 'a placeholder for the test'

type Parent = Record<string, unknown>
interface Place {
  parent: Parent
  key: string
}

/** Lists all values in a tree. */
function listPlaces(value: unknown, parent: Parent, key: string): Place[] {
  const children =
    typeof value === 'object' && value !== null
      ? Object.keys(value).flatMap((name) =>
          listPlaces((value as Parent)[name], value as Parent, name),
        )
      : []
  return [{ parent, key }, ...children]
}

/** Serialises JSON with one value replaced by text, removed or added. */
function mutateJson(json: unknown, mutation: JsonMutation): string {
  const root: Parent = structuredClone({ json })
  const places = listPlaces(root.json, root, 'json')
  if (mutation.type === 'json_member') {
    const objects = places
      .map(({ parent, key }) => parent[key])
      .filter((value) => typeof value === 'object' && value !== null && !Array.isArray(value))
    const chosen = objects[mutation.at % Math.max(1, objects.length)] as Parent | undefined
    if (chosen !== undefined) chosen[PLACEHOLDER] = 0
    const member = `${JSON.stringify(mutation.name)}:${mutation.fragment}`
    return JSON.stringify(root.json).replace(`"${PLACEHOLDER}":0`, () => member)
  }
  const chosen = places[mutation.at % places.length]
  if (chosen !== undefined) {
    if (mutation.type === 'json_value') chosen.parent[chosen.key] = PLACEHOLDER
    else Reflect.deleteProperty(chosen.parent, chosen.key)
  }
  const fragment = mutation.type === 'json_value' ? mutation.fragment : ''
  const text = root.json === undefined ? '' : JSON.stringify(root.json)
  return text.replace(`"${PLACEHOLDER}"`, () => fragment)
}

type Encoding = Extract<Mutation, { type: 'encoding' }>['encoding']

function changeEncoding(body: Buffer, encoding: Encoding): Buffer {
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

function createJsonBody(json: unknown, mutation: Mutation): string {
  switch (mutation.type) {
    case 'json_value':
    case 'json_member':
    case 'json_removal':
      return mutateJson(json, mutation)
    default:
      return JSON.stringify(json)
  }
}

function createFormBody(form: Record<string, string | string[]>, mutation: Mutation): string {
  const pairs = toPairs(form)
  switch (mutation.type) {
    case 'field':
      return encodePairs(mutatePairs(pairs, mutation))
    case 'field_removal':
      return encodePairs(pairs.filter((_, other) => other !== mutation.at % pairs.length))
    default:
      return encodePairs(pairs)
  }
}

interface Body {
  bytes: Buffer
  contentType?: string | undefined
}

function createBody({ body }: Call, mutation: Mutation): Body | null {
  if (mutation.type === 'body') return { bytes: mutation.body, contentType: mutation.contentType }
  if (body === null) return null
  const isJson = 'json' in body
  const contentType = isJson ? 'application/json' : 'application/x-www-form-urlencoded'
  const bytes = Buffer.from(
    isJson ? createJsonBody(body.json, mutation) : createFormBody(body.form, mutation),
  )
  switch (mutation.type) {
    case 'content_type':
      return { bytes, contentType: mutation.contentType }
    case 'encoding':
      return { bytes: changeEncoding(bytes, mutation.encoding), contentType }
    case 'bytes': {
      const at = bytes.length === 0 ? 0 : mutation.at % bytes.length
      const parts = [bytes.subarray(0, at), mutation.bytes, bytes.subarray(at + 1)]
      return { bytes: Buffer.concat(parts), contentType }
    }
    default:
      return { bytes, contentType }
  }
}

function createAddress({ path, query }: Call, mutation: Mutation): string {
  const segments = path.split('/')
  if (mutation.type === 'segment') {
    segments[1 + (mutation.at % Math.max(1, segments.length - 1))] = mutation.text
  }
  const suffix = mutation.type === 'path_suffix' ? mutation.text : ''
  const pairs = toPairs(query)
  const queryText =
    mutation.type === 'query'
      ? mutation.text
      : encodePairs(mutation.type === 'parameter' ? mutatePairs(pairs, mutation) : pairs)
  return `${segments.join('/')}${suffix}${queryText === '' ? '' : `?${queryText}`}`
}

function createRequest(call: Call, mutation: Mutation): HostileRequest {
  const body = createBody(call, mutation)
  const headers: HostileRequest['headers'] = { ...call.headers }
  if (body?.contentType !== undefined) headers['content-type'] = body.contentType
  if (mutation.type === 'header') {
    const [first = ''] = mutation.values
    const isList = mutation.values.length > 1 && !['host', 'authorization'].includes(mutation.name)
    headers[mutation.name] = isList ? mutation.values : first
  }
  return {
    method: mutation.type === 'method' ? mutation.method : call.method,
    address: createAddress(call, mutation),
    headers,
    body: body === null ? null : body.bytes.toString('latin1'),
  }
}

const setOrderId = (call: Call, id: number): Call =>
  JSON.parse(JSON.stringify(call).replaceAll('{order}', String(id))) as Call

/**
 * Requests that differ from a valid one in one respect.
 *
 * @param orders number of orders, with IDs from 1
 */
export const hostileRequest = (
  calls: readonly Call[],
  orders: number,
): fc.Arbitrary<HostileRequest> =>
  fc
    .tuple(fc.constantFrom(...calls), fc.integer({ min: 1, max: orders }))
    .map(([call, id]) => setOrderId(call, id))
    .chain((call) => createMutations(call).map((mutation) => createRequest(call, mutation)))

/** This order does not exist, so nothing changes. */
const UNKNOWN_ORDER = 999_999

const UNMODIFIED: Mutation = { type: 'none' }

/** A call with other parameters and form fields. */
const createFormRequest = (call: Call, query: Pair[], form: Pair[] | null): HostileRequest => {
  const request = createRequest(setOrderId({ ...call, query: {} }, UNKNOWN_ORDER), UNMODIFIED)
  const search = encodePairs(query)
  return {
    ...request,
    address: search === '' ? request.address : `${request.address}?${search}`,
    body: form === null ? request.body : encodePairs(form),
  }
}

/** Variants of a call in which one parameter or form field has other values. */
function varyFields(call: Call, vary: (pair: Pair) => Pair[][]): HostileRequest[] {
  const query = toPairs(call.query)
  const form = call.body !== null && 'form' in call.body ? toPairs(call.body.form) : null
  const varyOne = (pairs: Pair[]): Pair[][] =>
    pairs.flatMap((pair, at) => vary(pair).map((others) => pairs.toSpliced(at, 1, ...others)))
  return [
    ...varyOne(query).map((pairs) => createFormRequest(call, pairs, form)),
    ...varyOne(form ?? []).map((pairs) => createFormRequest(call, query, pairs)),
  ]
}

const PROPERTY_NAMES = ['__proto__', 'constructor'] as const

/**
 * Variants of a call that name a built-in property of objects: as a value, as a parameter, in the
 * query of a URL within a value, and in a cookie.
 */
export const listNameRequests = (call: Call): HostileRequest[] =>
  PROPERTY_NAMES.flatMap((property) => {
    const { headers, ...request } = createFormRequest(
      call,
      [...toPairs(call.query), [property, '1']],
      call.body !== null && 'form' in call.body
        ? [...toPairs(call.body.form), [property, '1']]
        : null,
    )
    const cookie = `clearwake-flash=${property}.; ${property}=1`
    return [
      { ...request, headers: { ...headers, cookie } },
      ...varyFields(call, ([name, value]) => [
        [[name, property]],
        [[name, `${value}${value.includes('?') ? '&' : '?'}${property}=1`]],
      ]),
    ]
  })

const WRONG_TYPES = ['null', '1', '[]', '["a"]', '[["a"]]', '{"toString":1,"length":1}'] as const

/** Variants of JSON within text, with every value of it replaced. */
function varyJsonText(text: string): string[] {
  if (!text.startsWith('{')) return []
  const json: unknown = JSON.parse(text)
  const count = listPlaces(json, { json }, 'json').length
  return Array.from({ length: count }, (_, at) =>
    WRONG_TYPES.map((fragment) => mutateJson(json, { type: 'json_value', at, fragment })),
  ).flat()
}

/**
 * Variants of a call with values of other types: repeated parameters and fields, other values in
 * JSON and in fields that contain JSON, and forms as JSON.
 */
export function listTypeRequests(example: Call): HostileRequest[] {
  const call = setOrderId(example, UNKNOWN_ORDER)
  const repeated = varyFields(call, ([name, value]) => [
    [
      [name, value],
      [name, value],
    ],
    [[`${name}[]`, value]],
    ...varyJsonText(value).map((text): Pair[] => [[name, text]]),
  ])
  if (call.body === null) return repeated
  const { body } = call
  const request = createRequest(call, UNMODIFIED)
  const headers = { ...request.headers, 'content-type': 'application/json' }
  const bodies = varyJsonText(JSON.stringify('json' in body ? body.json : body.form))
  return [...repeated, ...bodies.map((text) => ({ ...request, headers, body: text }))]
}
