import fastJsonStringify from 'fast-json-stringify'
import fp from 'fastify-plugin'
import { lazily } from '../lazily.js'
import {
  convertingCompiler,
  createAjv,
  lazyValidator,
  type Vocabulary,
} from '../validation/validator.js'

/**
 * Validates requests with our formats and words. A JSON body must have the right types; what
 * comes as text (query, path, headers) is converted first; one value is a list of one there.
 * Answers are written by their schemas.
 */
export default fp<{ vocabulary: Vocabulary }>(
  async (app, { vocabulary }) => {
    const strict = lazily(() => createAjv(vocabulary))
    const converting = convertingCompiler(vocabulary)
    app.setValidatorCompiler(({ schema, httpPart }) =>
      httpPart === 'body' ? lazyValidator(strict, schema as object) : converting(schema as object),
    )
    // Compiled when the first answer of a kind is: all of them together take a start's time, too.
    app.setSerializerCompiler(({ schema }) => {
      const serialize = lazily(() => fastJsonStringify(schema as object))
      return (answer: unknown) => serialize()(answer)
    })
  },
  { name: 'validation' },
)
