import swagger from '@fastify/swagger'
import { KindGuard } from '@sinclair/typebox'
import type { FastifySchema } from 'fastify'
import fp from 'fastify-plugin'
import { readOpenApi } from '../http/openapi-document.js'
import { getSessionCookieName } from './session.js'

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

/** The OpenAPI document, generated from the validation schemas, and the page that shows it. */
export default fp<Options>(
  async (app, { webhooks = {} }) => {
    await app.register(swagger, {
      // Only API routes have tags.
      hideUntagged: true,
      convertConstToEnum: false,
      transform: ({ schema, url }) => ({ schema: toCallerSchema(schema), url }),
      openapi: {
        openapi: '3.1.0',
        info: {
          title: 'Clearwake',
          version: '1',
          description:
            'Carbon calculators for vessels, QR codes with pre-filled trips, and offset orders. Operations for administrators require a bearer token from sign-in.',
        },
        servers: [{ url: '/' }],
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
    let documented: ReturnType<typeof readOpenApi> | undefined
    app.get('/docs', async (_request, reply) =>
      reply.renderView(
        { page: 'docs/docs' },
        { api: (documented ??= readOpenApi(app.swagger())), baseUrl: app.publicBaseUrl() },
      ),
    )
  },
  { name: 'api-docs', dependencies: ['config', 'htmx'] },
)
