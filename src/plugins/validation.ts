import fastJsonStringify from 'fast-json-stringify'
import fp from 'fastify-plugin'
import { lazy } from '../lazy.js'
import type { Validators } from '../validation/validator.js'

/**
 * Validates requests by our validators, with their formats and words: a JSON body must have the
 * right types; what comes as text (query, path, headers) is converted first. Answers are written by
 * their schemas.
 */
export default fp<{ validators: Validators }>(
  async (app, { validators }) => {
    app.setValidatorCompiler(({ schema, httpPart }) =>
      httpPart === 'body'
        ? validators.strict(schema as object)
        : validators.converter(schema as object),
    )
    // Compiled for the first answer that needs it: by itself, Fastify does so at its start with
    // the schemas of all answers, many of which are seldom given.
    app.setSerializerCompiler(({ schema }) => {
      const serialize = lazy(
        () => fastJsonStringify(schema as object) as (answer: unknown) => string,
      )
      return (answer: unknown) => serialize()(answer)
    })
  },
  { name: 'validation' },
)
