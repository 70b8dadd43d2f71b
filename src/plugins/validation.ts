import fastJsonStringify from 'fast-json-stringify'
import fp from 'fastify-plugin'
import {
  convertingCompiler,
  createAjv,
  whenAsked,
  type Vocabulary,
} from '../validation/validator.js'

/**
 * Validates requests with our formats and words. A JSON body must have the right types; what
 * comes as text (query, path, headers) is converted first; one value is a list of one there.
 * Answers are written by their schemas.
 */
export default fp<{ vocabulary: Vocabulary }>(
  async (app, { vocabulary }) => {
    const strict = createAjv(vocabulary)
    const converting = convertingCompiler(vocabulary)
    app.setValidatorCompiler(({ schema, httpPart }) =>
      httpPart === 'body'
        ? whenAsked(() => strict.compile(schema as object))
        : converting(schema as object),
    )
    // Compiled when the first answer of a kind is: all of them together take a start's time, too.
    app.setSerializerCompiler(({ schema }) => {
      let serialize: ((answer: unknown) => string) | undefined
      return (answer) =>
        (serialize ??= fastJsonStringify(schema as object) as (answer: unknown) => string)(answer)
    })
  },
  { name: 'validation' },
)
