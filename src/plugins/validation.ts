import fp from 'fastify-plugin'
import { createAjv, type Vocabulary } from '../validation/validator.js'

/**
 * Validates requests with our formats and words. A JSON body must have the right types; what
 * comes as text (query, path, headers) is converted first; one value is a list of one there.
 */
export default fp<{ vocabulary: Vocabulary }>(
  async (app, { vocabulary }) => {
    const strict = createAjv(vocabulary)
    const converting = createAjv(vocabulary, { coerceTypes: 'array' })
    app.setValidatorCompiler(({ schema, httpPart }) =>
      (httpPart === 'body' ? strict : converting).compile(schema as object),
    )
  },
  { name: 'validation' },
)
