import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import swagger from '@fastify/swagger'
import { KindGuard } from '@sinclair/typebox'
import type { FastifySchema } from 'fastify'
import fp from 'fastify-plugin'
import { API_KEY_SCOPES } from '../accounts/permissions.js'
import { getSessionCookieName } from '../accounts/session.js'
import { projectRoot } from '../core/config/project-root.js'
import { addExamples } from './examples.js'
import { readOpenApi } from './read-openapi.js'
import { asSchema } from './schema.js'

/** The groups of operations, in their order on the page. The tag of a route names its group. */
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
