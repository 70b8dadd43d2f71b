import { isUtf8 } from 'node:buffer'
import fastJsonStringify, { type Schema } from 'fast-json-stringify'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { Problem } from '../http/problem.js'
import type { Validators } from '../validation/field-errors.js'

const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]+)/i

/**
 * Parses JSON request bodies, and accepts no other type. JSON is UTF-8 (RFC 8259, section 8.1).
 * Other encodings are rejected, because decoding them as UTF-8 would silently corrupt names.
 */
function parseJsonBodies(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    (request, body, done) => {
      const { headers, routeOptions } = request
      const hasBodySchema = routeOptions.schema?.body !== undefined
      const charset = CHARSET.exec(headers['content-type'] ?? '')?.[1]
      if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
        done(new Problem(415, 'Request bodies must not have a content encoding.'))
      } else if (charset !== undefined && !/^(utf-?8|us-ascii)$/i.test(charset)) {
        done(new Problem(415, 'JSON must be encoded in UTF-8.'))
      } else if (!isUtf8(body)) {
        done(new Problem(400, 'The body is not valid UTF-8.'))
      } else if (body.length === 0 && !hasBodySchema) {
        // Some clients set the content type on every request, even without a body.
        done(null)
      } else {
        void parseJson(request, body.toString(), (error: Error | null, value?: unknown) => {
          done(error, value === null && !hasBodySchema ? undefined : value)
        })
      }
    },
  )
}

/**
 * Parses and validates requests with our formats and messages. A JSON body must have the right
 * types. Query, path and header parameters arrive as text and are converted first. Each response
 * schema is compiled when it is first needed, so that the service starts sooner.
 */
export default fp<{ validators: Validators }>(
  async (app, { validators }) => {
    parseJsonBodies(app)
    app.setValidatorCompiler(({ schema, httpPart }) =>
      httpPart === 'body'
        ? validators.strict(schema as object)
        : validators.converter(schema as object),
    )
    app.setSerializerCompiler(({ schema }) => {
      let serialize: ((data: unknown) => string) | undefined
      return (data: object) => (serialize ??= fastJsonStringify(schema as Schema))(data)
    })
  },
  { name: 'validation' },
)
