import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import swagger from '@fastify/swagger'
import { KindGuard } from '@sinclair/typebox'
import type { FastifySchema } from 'fastify'
import fp from 'fastify-plugin'
import { API_KEY_SCOPES } from '../accounts/permissions.js'
import { getSessionCookieName } from '../accounts/session.js'
import { projectRoot } from '../core/config/config-part.js'
import { getSuccess, toOperation, type Operation } from './operation.js'
import {
  asArray,
  asSchema,
  asText,
  findSharedObjects,
  getExample,
  getMedia,
  toFieldSet,
  type FieldSet,
  type Schema,
  type SharedObjects,
} from './schema.js'

/** The content of the reference page. */
interface ApiReference {
  groups: { id: string; name: string; description: string; operations: Operation[] }[]
  objects: ({ id: string; title: string; description: string } & FieldSet)[]
  events: { type: string; summary: string; example: string | null }[]
}

interface Entry {
  path: string
  method: string
  operation: Schema
}

function listEntries(document: Schema): Entry[] {
  return Object.entries(asSchema(document.paths)).flatMap(([path, methods]) =>
    Object.entries(asSchema(methods)).map(([method, operation]) => ({
      path,
      method,
      operation: asSchema(operation),
    })),
  )
}

const getSchemas = ({ operation }: Entry): Schema[] =>
  [asSchema(operation.requestBody), getSuccess(operation)[1]].map(({ content }) =>
    asSchema(getMedia(content)?.media.schema),
  )

const toId = (name: string): string => name.toLowerCase().replace(/\W+/g, '-')

function toGroups(document: Schema, entries: Entry[], shared: SharedObjects, baseUrl: string) {
  const descriptions = new Map(
    asArray(document.tags)
      .map(asSchema)
      .map(({ name, description }) => [asText(name), asText(description)]),
  )
  const getTag = ({ operation }: Entry): string => asText(asArray(operation.tags)[0])
  return [...new Set([...descriptions.keys(), ...entries.map(getTag)])].map((name) => ({
    id: toId(name),
    name,
    description: descriptions.get(name) ?? '',
    operations: entries
      .filter((entry) => getTag(entry) === name)
      .map((entry) => toOperation(entry, shared, baseUrl)),
  }))
}

const toEvents = (document: Schema) =>
  Object.entries(asSchema(document.webhooks)).map(([type, item]) => {
    const post = asSchema(asSchema(item).post)
    const example = getExample(getMedia(asSchema(post.requestBody).content)?.media ?? {})
    return {
      type,
      summary: asText(post.summary),
      example: example === undefined ? null : JSON.stringify(example, null, 2),
    }
  })

/** Converts an OpenAPI document for the reference page. */
function readOpenApi(document: unknown, baseUrl: string): ApiReference {
  const root = asSchema(document)
  const entries = listEntries(root)
  const shared = findSharedObjects(entries.flatMap(getSchemas))
  return {
    groups: toGroups(root, entries, shared, baseUrl),
    objects: [...shared.values()]
      .toSorted((a, b) => a.title.localeCompare(b.title, 'en'))
      .map(({ id, title, schema }) => ({
        id,
        title,
        description: asText(schema.description),
        ...toFieldSet(schema, shared),
      })),
    events: toEvents(root),
  }
}

/**
 * Examples by operation ID: parameters, chosen by hand, and the response, recorded from a running
 * service by `RECORD_EXAMPLES=1 node .test/test/api-docs/examples.long.test.js`.
 */
export type OperationExamples = Record<
  string,
  { parameters?: Record<string, string | number>; response?: unknown }
>

export const readExamples = (file: string): OperationExamples =>
  JSON.parse(readFileSync(file, 'utf8')) as OperationExamples

/** The files of examples: a feature has one in its folder of templates. */
export const listExampleFiles = (): string[] =>
  readdirSync(join(projectRoot, 'templates'))
    .map((feature) => join(projectRoot, 'templates', feature, 'api-examples.json'))
    .filter((file) => existsSync(file))

function addToOperation(operation: Schema, examples: OperationExamples): void {
  const { parameters = {}, response } = examples[asText(operation.operationId)] ?? {}
  for (const parameter of asArray(operation.parameters).map(asSchema)) {
    const example = parameters[asText(parameter.name)]
    if (example !== undefined) parameter.example = example
  }
  const media = getMedia(getSuccess(operation)[1].content)
  if (response !== undefined && media !== null) media.media.example = response
}

/** An example of a webhook body: the order, or the QR code with the trip that it contains. */
function createEvent(type: string, order: Schema, code: Schema, codeRequest: Schema) {
  const [, status = ''] = /^order\.(paid|fulfilled|cancelled|refunded)$/.exec(type) ?? []
  if (type.startsWith('order.')) {
    const data = { ...order, ...(status === '' ? {} : { status }) }
    return { type, timestamp: order.updatedAt, data }
  }
  const { calculatorType, calculatorData, vessel } = codeRequest
  const { url, generatedAt, expiresAt } = code
  const data = { calculatorType, calculatorData, vessel, url, generatedAt, expiresAt }
  return { type, timestamp: generatedAt, data }
}

/** Adds examples of parameters, responses and webhooks to an OpenAPI document. */
function addExamples(document: Schema): Schema {
  const examples: OperationExamples = Object.fromEntries(
    listExampleFiles().flatMap((file) => Object.entries(readExamples(file))),
  )
  const operations = new Map<string, Schema>()
  for (const methods of Object.values(asSchema(document.paths))) {
    for (const operation of Object.values(asSchema(methods)).map(asSchema)) {
      operations.set(asText(operation.operationId), operation)
      addToOperation(operation, examples)
    }
  }
  const getBody = (id: string): Schema =>
    asSchema(getExample(getMedia(asSchema(operations.get(id)?.requestBody).content)?.media ?? {}))
  const order = asSchema(examples.getOrder?.response)
  const code = asSchema(examples.generateQrCode?.response)
  for (const [type, item] of Object.entries(asSchema(document.webhooks))) {
    const media = getMedia(asSchema(asSchema(asSchema(item).post).requestBody).content)
    if (media !== null)
      media.media.example = createEvent(type, order, code, getBody('generateQrCode'))
  }
  return document
}

/**
 * The groups of operations, in their order on the page; others follow. The tag of a route names its
 * group.
 */
const TAGS = {
  Calculators: 'Estimate the emissions of a trip, with every factor and its source.',
  'QR codes': 'Codes that open a calculator with a trip filled in.',
  Ordering: 'Prices for guests.',
  Orders: 'Orders of carbon credits for a trip: create, search, change, export.',
  'Order source': 'The offset provider: portfolios, prices and offset orders.',
  Webhooks: 'Endpoints that receive events, and the log of deliveries.',
  'API keys': 'Keys for integrations.',
  Accounts: 'People who can sign in, and their roles. For owners.',
  'Audit log': 'Security events, in an append-only log.',
  Administrators: 'Sessions of administrators. Integrations use API keys instead.',
}

/** Reads an example that the tests run. */
const readSample = (name: string): string =>
  readFileSync(join(projectRoot, 'examples', name), 'utf8').trimEnd()

/** A route's schema from the caller's side: query parameters with a default are optional. */
function toCallerSchema(schema: FastifySchema | undefined): FastifySchema {
  const query = schema?.querystring
  if (!KindGuard.IsObject(query)) return schema ?? {}
  const isRequired = (name: string) => query.properties[name]?.default === undefined
  return {
    ...schema,
    querystring: { ...query, required: query.required?.filter(isRequired) ?? [] },
  }
}

interface Options {
  /** The requests that the service sends */
  webhooks?: Record<string, object>
}

/** The OpenAPI document, generated from the validation schemas, and the reference page. */
export default fp<Options>(
  async (app, { webhooks = {} }) => {
    await app.register(swagger, {
      // Only API routes have tags.
      hideUntagged: true,
      convertConstToEnum: false,
      transform: ({ schema, url }) => ({ schema: toCallerSchema(schema), url }),
      transformObject: (documents) =>
        addExamples(asSchema('openapiObject' in documents ? documents.openapiObject : {})),
      openapi: {
        openapi: '3.1.0',
        info: {
          title: 'Clearwake',
          version: '1',
          description:
            'Carbon calculators for vessels, QR codes with pre-filled trips, offset orders and webhooks. Operations for administrators require an API key with a scope, or a bearer token from sign-in.',
        },
        servers: [{ url: '/' }],
        tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
        webhooks,
        components: {
          securitySchemes: {
            apiKey: {
              type: 'http',
              scheme: 'bearer',
              bearerFormat: 'cwk_…',
              description: 'An API key with the scope that the operation lists',
            },
            bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
            cookie: {
              type: 'apiKey',
              in: 'cookie',
              name: getSessionCookieName(app.publicBaseUrl()),
            },
          },
        },
      },
    })
    app.get('/openapi.json', async () => app.swagger())
    let reference: Promise<string> | undefined
    const renderReference = async () => {
      const baseUrl = app.publicBaseUrl()
      return app.view('docs/_reference', {
        api: readOpenApi(app.swagger(), baseUrl),
        scopes: API_KEY_SCOPES,
        baseUrl,
        limits: {
          client: app.config.RATE_LIMIT_PER_MINUTE,
          key: app.config.API_KEY_LIMIT_PER_MINUTE,
        },
        verify: {
          javascript: readSample('receive-webhooks.js'),
          python: readSample('receive_webhooks.py'),
        },
      })
    }
    app.get('/docs', async (_request, reply) =>
      reply.renderView(
        { page: 'docs/docs' },
        {
          reference: await (reference ??= renderReference()),
          styles: ['docs.css'],
          scripts: ['docs.js'],
        },
      ),
    )
  },
  { name: 'api-docs', dependencies: ['config', 'views'] },
)
