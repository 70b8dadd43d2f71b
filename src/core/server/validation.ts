import fastJsonStringify, { type Schema } from 'fast-json-stringify'
import fp from 'fastify-plugin'
import type { Validators } from '../validation/validator.js'

/**
 * Validates requests with our formats and messages. A JSON body must have the right types. Query,
 * path and header parameters arrive as text and are converted first. Each response schema is
 * compiled when it is first needed, so that the service starts sooner.
 */
export default fp<{ validators: Validators }>(
  async (app, { validators }) => {
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
