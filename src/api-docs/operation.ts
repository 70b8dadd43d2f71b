import { STATUS_CODES } from 'node:http'
import {
  asArray,
  asSchema,
  asText,
  getAlternatives,
  getExample,
  getMedia,
  getSharedObject,
  toField,
  toFieldSet,
  type Field,
  type FieldSet,
  type Schema,
  type SharedObject,
  type SharedObjects,
} from './schema.js'

/** A request to show as code. */
interface SampleRequest {
  method: string
  url: string
  /** Environment variable with the API key or the token; `null` if none is needed */
  secret: string | null
  headers: Record<string, string>
  /** JSON; `undefined` if there is none */
  body: unknown
  response: 'json' | 'nothing' | { fileName: string }
}

interface CodeSample {
  language: 'curl' | 'javascript' | 'python'
  label: string
  code: string
}

const lines = (...all: (string | false)[]): string =>
  all.filter((line) => line !== false).join('\n')
const indent = (text: string, spaces: number): string =>
  text.replaceAll('\n', `\n${' '.repeat(spaces)}`)
const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
const single = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`

function renderCurl({ method, url, secret, headers, body, response }: SampleRequest): string {
  const implied = body === undefined ? 'GET' : 'POST'
  const options = [
    `curl ${method === implied ? '' : `-X ${method} `}${/[?&]/.test(url) ? quote(url) : url}`,
    ...(secret === null ? [] : [`-H "Authorization: Bearer $${secret}"`]),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quote(JSON.stringify(body, null, 2))}`]),
    ...(typeof response === 'object' ? [`-o ${response.fileName}`] : []),
  ]
  return options.join(' \\\n  ')
}

function renderJavaScript({ method, url, secret, headers, body, response }: SampleRequest): string {
  const fields = [
    ...(secret === null ? [] : [`Authorization: \`Bearer \${process.env.${secret}}\`,`]),
    ...Object.entries(headers).map(([name, value]) => `${single(name)}: ${single(value)},`),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`method: ${single(method)},`]),
    ...(fields.length === 0 ? [] : [`headers: {\n  ${fields.join('\n  ')}\n},`]),
    ...(body === undefined ? [] : [`body: JSON.stringify(${JSON.stringify(body, null, 2)}),`]),
  ]
  const init = options.length === 0 ? '' : `, {\n  ${indent(options.join('\n'), 2)}\n}`
  return lines(
    typeof response === 'object' && `import { writeFile } from 'node:fs/promises'\n`,
    `const response = await fetch(${single(url)}${init})`,
    'if (!response.ok) throw new Error(await response.text())',
    response === 'json' && 'console.log(await response.json())',
    response === 'nothing' && 'console.log(response.status)',
    typeof response === 'object' &&
      `await writeFile(${single(response.fileName)}, Buffer.from(await response.arrayBuffer()))`,
  )
}

/** A JSON value as a Python literal. */
function toPython(value: unknown): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const [open, close, items] = Array.isArray(value)
    ? ['[', ']', value.map(toPython)]
    : [
        '{',
        '}',
        Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${toPython(one)}`),
      ]
  if (items.length === 0) return open + close
  return `${open}\n${items.map((item) => `    ${indent(item, 4)},\n`).join('')}${close}`
}

function renderPython({ method, url, secret, headers, body, response }: SampleRequest): string {
  const fields = [
    ...(secret === null ? [] : [`"Authorization": "Bearer " + os.environ["${secret}"],`]),
    ...Object.entries(headers).map(
      ([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)},`,
    ),
  ]
  const usesJson = body !== undefined || response === 'json'
  return lines(
    usesJson && 'import json',
    secret !== null && 'import os',
    'from urllib.error import HTTPError',
    'from urllib.request import Request, urlopen\n',
    'request = Request(',
    `    ${JSON.stringify(url)},`,
    method !== 'GET' && `    method="${method}",`,
    fields.length > 0 && `    headers={\n        ${fields.join('\n        ')}\n    },`,
    body !== undefined && `    data=json.dumps(${indent(toPython(body), 4)}).encode(),`,
    ')',
    'try:',
    '    with urlopen(request) as response:',
    response === 'json' && '        print(json.load(response))',
    response === 'nothing' && '        print(response.status)',
    typeof response === 'object' &&
      `        with open("${response.fileName}", "wb") as file:\n            file.write(response.read())`,
    'except HTTPError as error:',
    '    raise SystemExit(error.read().decode())',
  )
}

/** Renders a request as code that runs when pasted. */
const renderSamples = (request: SampleRequest): CodeSample[] => [
  { language: 'curl', label: 'curl', code: renderCurl(request) },
  { language: 'javascript', label: 'JavaScript', code: renderJavaScript(request) },
  { language: 'python', label: 'Python', code: renderPython(request) },
]

/** The variables of the code samples. */
const KEY_VARIABLE = 'CLEARWAKE_API_KEY'
const TOKEN_VARIABLE = 'CLEARWAKE_TOKEN'

/** A body or a response. */
interface Content extends FieldSet {
  /** The object, if the page documents it elsewhere; the fields are then empty */
  object: SharedObject | null
  example: string | null
}

export interface Operation {
  /** Anchor on the page */
  id: string
  operationId: string
  method: string
  path: string
  summary: string
  description: string
  access: 'public' | 'administrator' | { scope: string }
  parameters: { title: string; fields: Field[] }[]
  body: Content | null
  response: Content & { status: string; description: string; types: string[]; headers: Field[] }
  errors: { status: string; description: string }[]
  problem: string | null
  samples: CodeSample[]
}

const PLACES = { path: 'Path', query: 'Query', header: 'Header' }
const FILE_EXTENSIONS: Record<string, string> = { 'application/zip': 'zip', 'text/csv': 'csv' }

const formatJson = (value: unknown): string => JSON.stringify(value, null, 2)

function toContent(content: Schema, example: unknown, shared: SharedObjects, link = true): Content {
  const [schema = content] = getAlternatives(content)
  const object = link ? getSharedObject(schema, shared) : null
  return {
    object,
    example: example === undefined ? null : formatJson(example),
    ...(object ? { fields: [], branches: [] } : toFieldSet(schema, shared)),
  }
}

function getAccess(operation: Schema): Operation['access'] {
  const security = asArray(operation.security).map(asSchema)
  if (security.length === 0) return 'public'
  const [scope] = security.flatMap(({ apiKey }) => asArray(apiKey)).map(asText)
  return scope === undefined ? 'administrator' : { scope }
}

/** The documented success response, and its status. */
export const getSuccess = ({ responses }: Schema): [status: string, response: Schema] => {
  const found = Object.entries(asSchema(responses)).find(([status]) => status.startsWith('2'))
  return [found?.[0] ?? '', asSchema(found?.[1])]
}

/** Errors that the operation documents, and errors that follow from its requirements. */
function listErrors(operation: Schema, access: Operation['access'], hasInput: boolean) {
  const { responses, parameters } = operation
  const hasPath = asArray(parameters).some((one) => asSchema(one).in === 'path')
  const secured = access !== 'public'
  const usual: Record<string, string | false> = {
    401: secured && 'No valid key or token',
    403:
      secured &&
      (access === 'administrator'
        ? 'Not available to API keys, or not permitted by the role'
        : `The key lacks the scope ${access.scope}, or the role does not permit this`),
    404: hasPath && 'Not found',
    422: hasInput && 'Invalid input; errors lists every invalid field',
    429: 'Too many requests; Retry-After says when to retry',
  }
  const documented = Object.entries(asSchema(responses)).filter(([status]) =>
    /^[45]\d\d$/.test(status),
  )
  return [
    ...documented.map(([status, one]) => ({
      status,
      description: asText(asSchema(one).description),
    })),
    ...Object.entries(usual).flatMap(([status, description]) =>
      description === false ? [] : [{ status, description }],
    ),
  ].toSorted((a, b) => Number(a.status) - Number(b.status))
}

/** The response to a body whose first required field is missing. */
function createProblem(body: Schema): string | null {
  const [path] = asArray(body.required).map(asText)
  if (path === undefined) return null
  const message = 'is required'
  return formatJson({
    type: 'about:blank',
    title: STATUS_CODES[422],
    status: 422,
    detail: `${path} ${message}.`,
    requestId: '0c5fd4f1-6d54-4d0f-9a3c-1f6f0a1f2f55',
    errors: [{ path, message }],
  })
}

/** The examples of the parameters in a location, such as `query`, by name. */
const getExamples = (parameters: Schema[], place: string): [string, string][] =>
  parameters
    .filter((one) => one.in === place && one.example !== undefined)
    .map(({ name, example }) => [asText(name), String(example)])

/** Converts an operation of an OpenAPI document for the page. */
export function toOperation(
  { path, method, operation }: { path: string; method: string; operation: Schema },
  shared: SharedObjects,
  baseUrl: string,
): Operation {
  const parameters = asArray(operation.parameters).map(asSchema)
  const requestBody = getMedia(asSchema(operation.requestBody).content)
  const bodySchema = asSchema(requestBody?.media.schema)
  const bodyExample = requestBody ? getExample(requestBody.media) : undefined
  const [status, success] = getSuccess(operation)
  const media = getMedia(success.content)
  const access = getAccess(operation)
  const places = Object.entries(PLACES).map(([place, title]) => ({
    title,
    fields: parameters
      .filter((one) => one.in === place)
      .map(({ name, required, description, schema }) =>
        toField(asText(name), { description, ...asSchema(schema) }, required === true, shared),
      ),
  }))

  const query = new URLSearchParams(getExamples(parameters, 'query')).toString()
  const filled = getExamples(parameters, 'path').reduce(
    (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)),
    path,
  )
  const isJson = media?.type === 'application/json'
  const extension = FILE_EXTENSIONS[media?.type ?? '']
  const fileName = `${path.split('/').at(-1) ?? 'file'}.${extension ?? 'bin'}`

  return {
    id: `${method}${path}`.replace(/[^a-z0-9]+/gi, '-'),
    operationId: asText(operation.operationId),
    method: method.toUpperCase(),
    path,
    summary: asText(operation.summary),
    description: asText(operation.description),
    access,
    parameters: places.filter(({ fields }) => fields.length > 0),
    body: requestBody && toContent(bodySchema, bodyExample, shared, false),
    response: {
      status,
      description: asText(success.description),
      types: Object.keys(asSchema(success.content)),
      headers: Object.entries(asSchema(success.headers)).map(([name, header]) => {
        const { description, schema } = asSchema(header)
        return toField(name, { description, ...asSchema(schema) }, false, shared)
      }),
      ...toContent(
        asSchema(media?.media.schema),
        media ? getExample(media.media) : undefined,
        shared,
      ),
    },
    errors: listErrors(
      operation,
      access,
      requestBody !== null || parameters.some((one) => one.in === 'query'),
    ),
    problem: createProblem(bodySchema),
    samples: renderSamples({
      method: method.toUpperCase(),
      url: baseUrl + filled + (query && `?${query}`),
      secret:
        access === 'public' ? null : access === 'administrator' ? TOKEN_VARIABLE : KEY_VARIABLE,
      headers: {
        ...(bodyExample === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...Object.fromEntries(getExamples(parameters, 'header')),
      },
      body: bodyExample,
      response: media === null ? 'nothing' : isJson ? 'json' : { fileName },
    }),
  }
}
