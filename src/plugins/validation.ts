import fp from 'fastify-plugin'
import { createAjv } from '../validation/validator.js'

/**
 * Validates requests with our formats and words. A JSON body must have the right types; what
 * comes as text (query, path, headers) is converted first.
 */
export default fp(
  async (app) => {
    const strict = createAjv()
    const converting = createAjv({ coerceTypes: true })
    app.setValidatorCompiler(({ schema, httpPart }) =>
      (httpPart === 'body' ? strict : converting).compile(schema as object),
    )
  },
  { name: 'validation' },
)
