import { writeFileSync } from 'node:fs'
import { Ajv, type AnySchema } from 'ajv'
import t from 'tap'
import { hashPasswordSync } from '../../src/accounts/password.js'
import { API_KEY_SCOPE_NAMES } from '../../src/accounts/permissions.js'
import { listExampleFiles, readExamples } from '../../src/api-docs/api-docs.js'
import { startFakeProvider } from '../../src/demo/fake-provider/fake-provider.js'
import { temporaryFolder } from '../support/app.js'
import { startOrderApi } from '../support/order-api.js'
import { newOrder } from '../support/order-store.js'
import { readSamples, type Sample } from '../support/reference-page.js'
import { SAMPLE_RUNNERS } from '../support/sample-runners.js'
import { ADMIN_ACCOUNTS, signIn } from '../support/sign-in.js'

// Runs every example of the API reference. With RECORD_EXAMPLES=1 it records the responses that the
// reference shows.

const provider = await startFakeProvider({ token: 'token' })
t.teardown(() => provider.close())
/** An account whose sessions an example ends. */
const OTHER = { email: 'other@example.com', password: 'another demo only' }
const { call, url } = await startOrderApi(t, {
  ADMIN_ACCOUNTS: `${ADMIN_ACCOUNTS},${OTHER.email}:${hashPasswordSync(OTHER.password)}`,
  ORDERSOURCE_BASE_URL: provider.url,
  ORDERSOURCE_API_TOKEN: 'token',
  WEBHOOK_ALLOW_LOOPBACK: 'true',
  API_KEY_LIMIT_PER_MINUTE: '100000',
})
const { body: document } = await call('GET', '/openapi.json')

interface Documented {
  path: string
  method: string
  operation: any
  /** Documented status of success */
  status: number
}

const operations = new Map<string, Documented>(
  Object.entries<Record<string, any>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const status = Object.keys(operation.responses).find((one) => one.startsWith('2'))
      return [operation.operationId, { path, method, operation, status: Number(status) }] as const
    }),
  ),
)

const getMedia = ({ operation, status }: Documented): any =>
  operation.responses[status].content?.['application/json']

async function create(path: string, body: unknown): Promise<any> {
  const response = await call('POST', path, body)
  if (response.status >= 300) throw new Error(JSON.stringify(response.body))
  return response.body
}

const key = await create('/api/admin/api-keys', { name: 'Example', scopes: API_KEY_SCOPE_NAMES })
const offsetOrder = await create('/api/ordersource/offset-orders', { tons: 1.6, portfolioId: 1 })

let emails = 0
/** An email that has no account. */
const createEmail = (): string => `person${++emails}@example.com`

/** Creates what the path of an operation refers to; returns its parameters. */
async function createRecords(path: string): Promise<Record<string, string>> {
  if (path.includes('/admin/orders/{id}')) {
    const { requestBody } = operations.get('createOrder')?.operation ?? {}
    return create('/api/admin/orders', requestBody.content['application/json'].example)
  }
  if (path.includes('/offset-orders/{id}')) return offsetOrder
  if (path.includes('/api-keys/{id}')) {
    return create('/api/admin/api-keys', { name: 'Another', scopes: ['qr:write'] })
  }
  if (path.includes('/accounts/{id}')) {
    return create('/api/admin/accounts', { email: createEmail(), role: 'viewer' })
  }
  if (path.includes('/sessions/{id}')) {
    const headers = { authorization: `Bearer ${await signIn(url)}` }
    const { body } = await call('GET', '/api/admin/sessions', undefined, headers)
    return body.items.find(({ current }: { current: boolean }) => current)
  }
  if (path.includes('/webhooks/{id}')) {
    const endpoint = { url: 'http://127.0.0.1:9/', events: ['order.paid'] }
    const { id } = await create('/api/admin/webhooks', endpoint)
    return { id, deliveryId: (await create(`/api/admin/webhooks/${id}/test`, {})).id }
  }
  return {}
}

const fillPath = (path: string, parameters: Record<string, string>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => parameters[name] ?? name)

/** The path of an operation with the examples of its parameters, as in the code samples. */
const getExamplePath = ({ path, operation }: Documented): string =>
  fillPath(
    path,
    Object.fromEntries(
      (operation.parameters ?? []).map(({ name, example }: any) => [name, String(example)]),
    ),
  )

/** Makes a sample refer to records that exist, and to no other host. */
async function prepare({ operationId, language, code }: Sample): Promise<Sample> {
  const documented = operations.get(operationId)
  if (documented === undefined) throw new Error(`${operationId} is not documented`)
  const path = fillPath(documented.path, await createRecords(documented.path))
  const prepared = code
    .replace(getExamplePath(documented), path)
    .replace('shop.example.com', 'shop.invalid')
    .replace('ann@example.com', (email) =>
      operationId === 'createAccount' ? createEmail() : email,
    )
  // What ends sessions ends those that nothing else uses.
  const tokens: Record<string, string> = {
    signOut: 'SIGN_OUT_TOKEN',
    endOtherSessions: 'OTHER_TOKEN',
  }
  const token = tokens[operationId] ?? 'CLEARWAKE_TOKEN'
  return { operationId, language, code: prepared.replace('CLEARWAKE_TOKEN', token) }
}

const html = await (await fetch(`${url}/docs`)).text()
const samples = readSamples(html)

for (const [language, runSamples] of Object.entries(SAMPLE_RUNNERS)) {
  t.test(`the ${language} examples work when pasted`, async (t) => {
    const chosen = samples.filter((sample) => sample.language === language)
    t.same(
      chosen.map(({ operationId }) => operationId).toSorted(),
      [...operations.keys()].toSorted(),
    )
    const prepared = []
    for (const sample of chosen) prepared.push(await prepare(sample))
    const results = await runSamples(prepared, {
      cwd: temporaryFolder(t),
      env: {
        CLEARWAKE_API_KEY: key.key,
        CLEARWAKE_TOKEN: await signIn(url),
        SIGN_OUT_TOKEN: await signIn(url),
        OTHER_TOKEN: await signIn(url, OTHER),
      },
    })
    const expected = [...operations].map(([id, { status }]) => [id, status])
    t.same(results, Object.fromEntries(expected))
  })
}

t.test('examples show the details of an error', async (t) => {
  for (const language of ['javascript', 'python']) {
    const chosen = samples.filter(
      (sample) => sample.language === language && sample.operationId === 'listOrders',
    )
    const results = await SAMPLE_RUNNERS[language]?.(chosen, {
      cwd: temporaryFolder(t),
      env: { CLEARWAKE_API_KEY: 'cwk_wrong' },
    })
    t.match(results?.listOrders, 'The API key or token is not valid', language)
  }
})

const MAX_LENGTH = 100
const SECRETS: Record<string, string> = {
  key: 'cwk_…',
  secret: 'whsec_…',
  token: 'eyJhbGciOi…',
  inviteUrl: 'https://carbon.example.com/admin/invitation/…',
}

/** Shortens a response for the page, and hides what looks like a secret. */
function shorten(value: any, name = ''): any {
  if (SECRETS[name] !== undefined) return SECRETS[name]
  if (Array.isArray(value)) {
    const isList = typeof value[0] === 'object'
    return (isList ? value.slice(0, 1) : value).map((item) => shorten(item))
  }
  if (typeof value === 'number') return Math.round(value * 1000) / 1000
  if (typeof value === 'string') {
    const text = value.replaceAll(url, 'https://carbon.example.com')
    return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shorten(one, name)]))
}

/** Records the responses that a file of examples does not have. */
async function record(file: string): Promise<void> {
  const examples = readExamples(file)
  let isChanged = false
  for (const [id, example] of Object.entries(examples)) {
    const documented = operations.get(id)
    if (documented === undefined) throw new Error(`${id} is not documented`)
    const { path, method, operation } = documented
    if (getMedia(documented) === undefined || example.response !== undefined) continue
    const query = (operation.parameters ?? [])
      .filter((parameter: any) => parameter.in === 'query' && parameter.example !== undefined)
      .map(({ name, example }: any) => [name, String(example)])
    const address = `${fillPath(path, await createRecords(path))}?${new URLSearchParams(query)}`
    const media = operation.requestBody?.content['application/json']
    const [first] = Object.values<any>(media?.examples ?? {})
    const body = media?.example ?? first?.value
    const { body: response } = await call(method.toUpperCase(), address, body)
    examples[id] = { ...example, response: shorten(response) }
    isChanged = true
  }
  if (isChanged) writeFileSync(file, `${JSON.stringify(examples, null, 2)}\n`)
}

t.test('every JSON response has an example that its schema accepts', async (t) => {
  if (process.env.RECORD_EXAMPLES !== undefined) {
    for (const file of listExampleFiles()) await record(file)
    t.pass('recorded: run `npm run format`, then this test again')
    return
  }
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true })
  for (const [id, documented] of operations) {
    const media = getMedia(documented)
    if (media === undefined) continue
    const isValid = ajv.compile(media.schema as AnySchema)
    t.ok(media.example, `${id} has an example`)
    t.notSame(media.example?.items, [], `${id} has an example with an item`)
    t.ok(isValid(media.example), `${id}: ${ajv.errorsText(isValid.errors)}`)
  }
  for (const [type, { post }] of Object.entries<any>(document.webhooks)) {
    const media = post.requestBody.content['application/json']
    const isValid = ajv.compile(media.schema as AnySchema)
    t.ok(isValid(media.example), `${type}: ${ajv.errorsText(isValid.errors)}`)
    t.equal(media.example.type, type)
  }
})

t.test('the examples contain no secret', async (t) => {
  const order = await create('/api/admin/orders', newOrder())
  t.ok(order.id)
  t.notMatch(html, /cwk_[0-9A-Za-z]{20}|whsec_[0-9A-Za-z+/]{20}|eyJ[\w-]{20}/)
})
