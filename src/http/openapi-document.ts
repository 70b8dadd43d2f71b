import { isObject } from '../validation/is-object.js'

/** A field of a request or response on the documentation page. */
export interface DocumentedField {
  path: string
  type: string
  required: boolean
  description: string
}

/** Fields that apply under a condition, such as the data of one calculator. */
export interface DocumentedFields {
  condition: string | null
  fields: DocumentedField[]
}

export interface DocumentedOperation {
  id: string
  method: string
  path: string
  /** For shell examples: parameters are shell variables */
  shellPath: string
  summary: string
  description: string
  isAdminOnly: boolean
  parameters: DocumentedField[]
  body: DocumentedFields[]
  example: string | null
  response: DocumentedField[]
  responseHeaders: DocumentedField[]
}

export interface DocumentedApi {
  groups: { name: string; operations: DocumentedOperation[] }[]
}

type Schema = Record<string, unknown>

const asSchema = (value: unknown): Schema => (isObject(value) ? value : {})
const asArray = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const asText = (value: unknown): string => (typeof value === 'string' ? value : '')

function describeLimits(schema: Schema): string[] {
  const limit = (name: string, word: string) =>
    schema[name] === undefined ? [] : [`${word} ${Number(schema[name]).toLocaleString('en')}`]
  return [
    ...limit('exclusiveMinimum', 'more than'),
    ...(schema.exclusiveMinimum === undefined ? limit('minimum', 'from') : []),
    ...limit('maximum', 'up to'),
    ...limit('maxLength', 'characters: up to'),
  ]
}

function describeType(schema: Schema): string {
  const alternatives = asArray(schema.anyOf).map((one) => describeType(asSchema(one)))
  if (alternatives.length > 0) {
    return alternatives.join(alternatives.some((one) => one.includes(',')) ? '; or ' : ' or ')
  }
  const choices = asArray(schema.enum)
  if (choices.length > 0) return choices.map((choice) => JSON.stringify(choice)).join(' | ')
  if (schema.type === 'array') return `array of ${describeType(asSchema(schema.items))}`
  const type = asArray(schema.type).map(String).join(' or ') || asText(schema.type) || 'any'
  const format = asText(schema.format)
  return [format ? `${type} (${format})` : type, ...describeLimits(schema)].join(', ')
}

/** A field, parameter or header. */
function toField(path: string, schema: Schema, required: boolean): DocumentedField {
  const { default: fallback, description, anyOf } = schema
  return {
    path,
    type:
      describeType(schema) +
      (fallback === undefined ? '' : `, default ${JSON.stringify(fallback)}`),
    required,
    description: asText(description) || asText(asSchema(asArray(anyOf)[0]).description),
  }
}

function toFields(schema: Schema, prefix = ''): DocumentedField[] {
  const required = asArray(schema.required)
  return Object.entries(asSchema(schema.properties)).flatMap(([name, value]) => {
    const path = prefix + name
    const field = asSchema(value)
    const nested = [field, ...asArray(field.anyOf).map(asSchema)].flatMap((one) =>
      one.type === 'array'
        ? toFields(asSchema(one.items), `${path}[].`)
        : toFields(one, `${path}.`),
    )
    return [toField(path, field, required.includes(name)), ...nested]
  })
}

/** The branches of `allOf` with `if` and `then`, each with its condition. */
function toBranches(schema: Schema): DocumentedFields[] {
  return asArray(schema.allOf).flatMap((branch) => {
    const conditions = Object.entries(asSchema(asSchema(asSchema(branch).if).properties))
    const condition = conditions
      .map(([name, rule]) => `${name} is ${JSON.stringify(asSchema(rule).const)}`)
      .join(' and ')
    const then = asSchema(asSchema(branch).then)
    const fields = Object.entries(asSchema(then.properties)).flatMap(([name, value]) =>
      toFields(asSchema(value), `${name}.`),
    )
    return condition && fields.length > 0 ? [{ condition, fields }] : []
  })
}

const getJson = (body: unknown): Schema =>
  asSchema(asSchema(asSchema(body).content)['application/json'])

/** The documented success response. */
const getSuccess = ({ responses }: Schema): unknown =>
  Object.entries(asSchema(responses)).find(([status]) => status.startsWith('2'))?.[1]

function toOperation(path: string, method: string, operation: Schema): DocumentedOperation {
  const { schema, example } = getJson(operation.requestBody)
  const body = asSchema(schema)
  const success = asSchema(getSuccess(operation))
  return {
    id: `${method}${path}`.replace(/[^a-z0-9]+/gi, '-'),
    method: method.toUpperCase(),
    path,
    shellPath: path.replace(/\{(\w+)\}/g, '$$$1'),
    summary: asText(operation.summary),
    description: asText(operation.description),
    isAdminOnly: asArray(operation.security).length > 0,
    parameters: asArray(operation.parameters).map((parameter) => {
      const { name, required, description, schema } = asSchema(parameter)
      return toField(asText(name), { ...asSchema(schema), description }, required === true)
    }),
    body:
      Object.keys(body).length > 0
        ? [{ condition: null, fields: toFields(body) }, ...toBranches(body)]
        : [],
    example: example === undefined ? null : JSON.stringify(example),
    response: toFields(asSchema(getJson(success).schema)),
    responseHeaders: Object.entries(asSchema(success.headers)).map(([name, value]) => {
      const { description, schema } = asSchema(value)
      return toField(name, { ...asSchema(schema), description }, false)
    }),
  }
}

/** Converts an OpenAPI document for the documentation page: operations by tag, fields as rows. */
export function readOpenApi(document: unknown): DocumentedApi {
  const groups = new Map<string, DocumentedOperation[]>()
  for (const [path, methods] of Object.entries(asSchema(asSchema(document).paths))) {
    for (const [method, value] of Object.entries(asSchema(methods))) {
      const operation = asSchema(value)
      const group = asText(asArray(operation.tags)[0]) || 'Other'
      groups.set(group, [...(groups.get(group) ?? []), toOperation(path, method, operation)])
    }
  }
  return { groups: [...groups].map(([name, operations]) => ({ name, operations })) }
}
