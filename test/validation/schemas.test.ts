import fastJsonStringify from 'fast-json-stringify'
import t from 'tap'
import { validators } from '../../src/orders/vocabulary.js'
import { startApp } from '../support/app.js'

interface Operation {
  parameters?: { schema: object }[]
  requestBody?: { content: Content }
  responses?: Record<string, { content?: Content }>
}
type Content = Record<string, { schema?: object }>

const schemasOf = (content: Content = {}): object[] =>
  Object.values(content).flatMap(({ schema }) => schema ?? [])

t.test('every schema of the API compiles, as none is compiled before it is needed', async (t) => {
  const { app } = await startApp(t)
  const { paths = {} } = app.swagger()
  const operations = Object.values(paths).flatMap(
    (path) => Object.values(path as object) as Operation[],
  )
  t.ok(operations.length > 15, `${operations.length} operations`)
  for (const { parameters = [], requestBody, responses = {} } of operations) {
    const asked = parameters.map(({ schema }) => ({ type: 'object', properties: { it: schema } }))
    const given = [...asked, ...schemasOf(requestBody?.content)]
    for (const schema of given) {
      // Compiled for the first value.
      t.doesNotThrow(() => validators.strict(schema)(null), JSON.stringify(schema).slice(0, 100))
    }
    for (const [status, { content }] of Object.entries(responses)) {
      for (const schema of schemasOf(content)) {
        t.doesNotThrow(() => fastJsonStringify(schema), `an answer ${status}`)
      }
    }
  }
})
