import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../core/config/project-root.js'
import { getSuccess } from './operation.js'
import { asArray, asSchema, asText, getExample, getMedia, type Schema } from './schema.js'

/**
 * Examples by operation ID: parameters, chosen by hand, and the response, recorded from a running
 * service by `RECORD_EXAMPLES=1 node .test/test/api-docs/examples.long.test.js`.
 */
export type OperationExamples = Record<
  string,
  { parameters?: Record<string, string | number>; response?: unknown }
>

export const examplesFile = join(projectRoot, 'templates', 'docs', 'examples.json')

const readExamples = (): OperationExamples =>
  JSON.parse(readFileSync(examplesFile, 'utf8')) as OperationExamples

function addToOperation(operation: Schema, examples: OperationExamples): void {
  const { parameters = {}, response } = examples[asText(operation.operationId)] ?? {}
  for (const parameter of asArray(operation.parameters).map(asSchema)) {
    const example = parameters[asText(parameter.name)]
    if (example !== undefined) parameter.example = example
  }
  const media = getMedia(getSuccess(operation)[1].content)
  if (response !== undefined && media !== null) media.media.example = response
}

/** An example of a webhook body: the order, or the QR code with the trip that it contains. */
function createEvent(type: string, order: Schema, code: Schema, codeRequest: Schema) {
  const [, status = ''] = /^order\.(paid|fulfilled|cancelled|refunded)$/.exec(type) ?? []
  if (type.startsWith('order.')) {
    const data = { ...order, ...(status === '' ? {} : { status }) }
    return { type, timestamp: order.updatedAt, data }
  }
  const { calculatorType, calculatorData, vessel } = codeRequest
  const { url, generatedAt, expiresAt } = code
  const data = { calculatorType, calculatorData, vessel, url, generatedAt, expiresAt }
  return { type, timestamp: generatedAt, data }
}

/** Adds examples of parameters, responses and webhooks to an OpenAPI document. */
export function addExamples(document: Schema): Schema {
  const examples = readExamples()
  const operations = new Map<string, Schema>()
  for (const methods of Object.values(asSchema(document.paths))) {
    for (const operation of Object.values(asSchema(methods)).map(asSchema)) {
      operations.set(asText(operation.operationId), operation)
      addToOperation(operation, examples)
    }
  }
  const getBody = (id: string): Schema =>
    asSchema(getExample(getMedia(asSchema(operations.get(id)?.requestBody).content)?.media ?? {}))
  const order = asSchema(examples.getOrder?.response)
  const code = asSchema(examples.generateQrCode?.response)
  for (const [type, item] of Object.entries(asSchema(document.webhooks))) {
    const media = getMedia(asSchema(asSchema(asSchema(item).post).requestBody).content)
    if (media !== null)
      media.media.example = createEvent(type, order, code, getBody('generateQrCode'))
  }
  return document
}
