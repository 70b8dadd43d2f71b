import {
  asArray,
  asSchema,
  asText,
  findObjectSchema,
  getAlternatives,
  getBranches,
  getTypes,
  isNull,
  type Schema,
  getSharedObject,
  type SharedObject,
  type SharedObjects,
} from './schema.js'

/** A field, parameter or header on the page. */
export interface Field {
  name: string
  /** Such as `string`, `array of objects`, `number or null` */
  type: string
  /** The allowed values, if they are enumerated */
  values: string[]
  /** Such as `at most 120 characters` */
  limits: string[]
  required: boolean
  description: string
  /** The object that the field contains, if the page documents that object elsewhere */
  object: SharedObject | null
  fields: Field[]
}

/** The fields of an object, including those that depend on another field. */
export interface FieldSet {
  fields: Field[]
  branches: { condition: string; fields: Field[] }[]
}

const plural = (type: string): string => (type === 'any' ? 'anything' : `${type}s`)

function describeType(schema: Schema): string {
  const types = getAlternatives(schema).flatMap((one) => {
    const names = getTypes(one).filter((name) => name !== 'null')
    const format = asText(one.format)
    if (names.length === 0) return ['any']
    return names.map((name) => {
      if (name === 'array') return `array of ${plural(describeType(asSchema(one.items)))}`
      return ['date', 'date-time', 'binary'].includes(format) ? `${name} (${format})` : name
    })
  })
  const isNullable =
    getTypes(schema).includes('null') || asArray(schema.anyOf).map(asSchema).some(isNull)
  return [...new Set(types), ...(isNullable ? ['null'] : [])].join(' or ')
}

const formatNumber = (value: unknown): string => Number(value).toLocaleString('en')

function describeLimits(schema: Schema): string[] {
  const limit = (name: string, before: string, after = '') =>
    schema[name] === undefined ? [] : [`${before} ${formatNumber(schema[name])}${after}`]
  return [
    ...limit('exclusiveMinimum', 'more than'),
    ...(schema.exclusiveMinimum === undefined ? limit('minimum', 'at least') : []),
    ...limit('maximum', 'at most'),
    ...limit('maxLength', 'at most', ' characters'),
    ...limit('maxItems', 'at most', ' items'),
    ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
  ]
}

function getValues(schema: Schema): string[] {
  const [first = {}] = getAlternatives(schema)
  const { enum: values, const: value } = getTypes(first).includes('array')
    ? asSchema(first.items)
    : first
  const all = value === undefined ? asArray(values) : [value]
  return all
    .filter((one) => one !== null)
    .map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
}

export function toField(
  name: string,
  schema: Schema,
  required: boolean,
  shared: SharedObjects,
): Field {
  const alternatives = getAlternatives(schema)
  const content = findObjectSchema(schema)
  const object = content && getSharedObject(content, shared)
  return {
    name,
    type: describeType(schema),
    values: getValues(schema),
    limits: [...new Set([schema, ...alternatives].flatMap(describeLimits))],
    required,
    description: asText(schema.description) || asText(alternatives[0]?.description),
    object,
    fields: content && !object ? toFields(content, shared) : [],
  }
}

/** The fields of an object, required ones first. */
function toFields(
  schema: Schema,
  shared: SharedObjects,
  required = asArray(schema.required),
): Field[] {
  return Object.entries(asSchema(schema.properties))
    .map(([name, value]) => toField(name, asSchema(value), required.includes(name), shared))
    .toSorted((a, b) => Number(b.required) - Number(a.required))
}

/** Converts an object schema for the page. */
export const toFieldSet = (schema: Schema, shared: SharedObjects): FieldSet => ({
  fields: toFields(schema, shared),
  branches: getBranches(schema).map(({ condition, then }) => ({
    condition,
    fields: toFields(then, shared, asArray(schema.required)),
  })),
})
