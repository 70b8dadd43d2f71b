import { existsSync, readdirSync } from 'node:fs'

/** A typical valid request to a route; tests derive invalid ones from it. */
export interface Call {
  method: string
  /** Without query; `{order}` is a placeholder for an order ID */
  path: string
  query: Record<string, string | string[]>
  headers: Record<string, string>
  /** Body, as JSON or as a form */
  body: { json: unknown } | { form: Record<string, string | string[]> } | null
}

/** Valid requests by method and route; HEAD is derived from GET. */
export type ValidCalls = Record<string, Sketch[]>

const listPairs = (fields: Record<string, string | string[]>): [string, string][] =>
  Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  )

const toForm = (fields: Record<string, string | string[]>): string =>
  new URLSearchParams(listPairs(fields)).toString()

/** A call as it is sent, for an order. */
export function toRequest(call: Call, order: string) {
  const about = JSON.parse(JSON.stringify(call).replaceAll('{order}', order)) as Call
  const { method, path, query, headers, body } = about
  const isJson = body !== null && 'json' in body
  const type = isJson ? 'application/json' : 'application/x-www-form-urlencoded'
  return {
    method,
    path: Object.keys(query).length === 0 ? path : `${path}?${toForm(query)}`,
    headers: { ...(body === null ? {} : { 'content-type': type }), ...headers },
    ...(body === null ? {} : { body: isJson ? JSON.stringify(body.json) : toForm(body.form) }),
  }
}

type Sketch = Partial<Pick<Call, 'path' | 'query' | 'headers'>> & {
  json?: unknown
  form?: Record<string, string | string[]>
}

export interface CallContext {
  /** A valid scanned link */
  link: URL
  /** Path of an asset */
  asset: string
  /** ID of an API key */
  apiKey: string
  /** Path of the page of a guest's order */
  guestOrder: string
  /** Path of the page of a certificate */
  certificate: string
  /** Path of an email about that order, in the portal */
  mail: string
  /** ID of an order at the provider */
  offsetOrder: string
  /** Credentials of an administrator */
  credentials: { email: string; password: string }
}

/** Each feature lists its own, in `valid-calls.ts` of its tests. */
async function importFeatures(): Promise<((context: CallContext) => ValidCalls)[]> {
  const tests = new URL('../', import.meta.url)
  const files = readdirSync(tests)
    .filter((folder) => folder !== 'support')
    .map((folder) => new URL(`${folder}/valid-calls.js`, tests))
  const modules = await Promise.all(
    files.filter((file) => existsSync(file)).map((file) => import(file.href)),
  )
  return modules.map(({ default: calls }) => calls)
}

const features = await importFeatures()

/** Valid requests for every route, by method and route as in the route table. */
export function validCalls(context: CallContext): Map<string, Call[]> {
  const calls = new Map<string, Call[]>()
  for (const [route, given] of features.flatMap((calls) => Object.entries(calls(context)))) {
    const [method = '', path = ''] = route.split(' ')
    const filled = given.map(({ json, form, ...sketch }) => ({
      method,
      path,
      query: {},
      headers: {},
      body: json !== undefined ? { json } : form !== undefined ? { form } : null,
      ...sketch,
    }))
    calls.set(route, filled)
    if (method !== 'GET') continue
    calls.set(
      `HEAD ${path}`,
      filled.map((call) => ({ ...call, method: 'HEAD' })),
    )
  }
  return calls
}
