import swagger from '@fastify/swagger'
import { KindGuard } from '@sinclair/typebox'
import type { FastifySchema } from 'fastify'
import fp from 'fastify-plugin'
import { readOpenApi } from '../http/openapi-document.js'
import { sessionCookie } from './session.js'

/**
 * A route's schema as a caller sees it: what has a default may be left out of the query, although
 * the code that reads it always finds it. Not every route has a schema.
 */
function asCalled(schema: FastifySchema | undefined): FastifySchema {
  const query = schema?.querystring
  if (!KindGuard.IsObject(query)) return schema ?? {}
  const isNeeded = (name: string) => query.properties[name]?.default === undefined
  return { ...schema, querystring: { ...query, required: query.required?.filter(isNeeded) ?? [] } }
}

/** The OpenAPI document, made from the schemas that validate, and a page that shows it. */
export default fp(
  async (app) => {
    await app.register(swagger, {
      // Tags are for the API alone; pages have none.
      hideUntagged: true,
      convertConstToEnum: false,
      transform: ({ schema, url }) => ({ schema: asCalled(schema), url }),
      openapi: {
        openapi: '3.1.0',
        info: {
          title: 'Clearwake',
          version: '1',
          description:
            'Carbon calculators for vessels, and QR codes that open them filled in. What is for administrators takes the token of a login.',
        },
        servers: [{ url: '/' }],
        components: {
          securitySchemes: {
            bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
            cookie: { type: 'apiKey', in: 'cookie', name: sessionCookie(app.publicBaseUrl()) },
          },
        },
      },
    })
    app.get('/openapi.json', async () => app.swagger())
    let documented: ReturnType<typeof readOpenApi> | undefined
    app.get('/docs', async (_request, reply) =>
      reply.hypermedia(
        { page: 'docs/docs' },
        { api: (documented ??= readOpenApi(app.swagger())), baseUrl: app.publicBaseUrl() },
      ),
    )
  },
  { name: 'api-docs', dependencies: ['config', 'htmx'] },
)
