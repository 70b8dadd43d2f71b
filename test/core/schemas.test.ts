import fastJsonStringify from 'fast-json-stringify'
import t from 'tap'
import { validators } from '../../src/orders/validators.js'
import { startApp } from '../support/app.js'

/** The responses of an OpenAPI operation. */
interface Operation {
  responses?: Record<string, { content?: Record<string, { schema?: object }> }>
}

t.test('every schema compiles, although each is only compiled when needed', async (t) => {
  const request = { strict: new Set<object>(), converter: new Set<object>() }
  const { strict, converter } = validators
  validators.strict = (schema) => {
    request.strict.add(schema)
    return strict(schema)
  }
  validators.converter = (schema) => {
    request.converter.add(schema)
    return converter(schema)
  }
  const { app } = await startApp(t, {
    ORDERSOURCE_BASE_URL: 'http://127.0.0.1:9/api',
    ORDERSOURCE_API_TOKEN: 'a-token-for-tests',
  })
  await app.ready()

  // Each is compiled for its first value; what is converted is checked strictly then.
  const given = {
    strict: [...request.strict, ...request.converter],
    converter: [...request.converter],
  }
  for (const [name, compile] of Object.entries({ strict, converter })) {
    const schemas = given[name as keyof typeof given]
    t.ok(schemas.length > 3, `${schemas.length} schemas, ${name}`)
    for (const schema of schemas) {
      t.doesNotThrow(() => compile(schema)(null), JSON.stringify(schema).slice(0, 80))
    }
  }

  const operations = Object.values(app.swagger().paths ?? {}).flatMap(
    (path) => Object.values(path as object) as Operation[],
  )
  t.ok(operations.length > 15, `${operations.length} operations`)
  for (const { responses = {} } of operations) {
    for (const [status, { content = {} }] of Object.entries(responses)) {
      for (const { schema } of Object.values(content)) {
        if (schema) t.doesNotThrow(() => fastJsonStringify(schema), `an answer ${status}`)
      }
    }
  }
})
