import { isObject } from '../core/validation/formats.js'

/** A part of an OpenAPI document: a JSON Schema, an operation, a response. */
export type Schema = Record<string, unknown>

export const asSchema = (value: unknown): Schema => (isObject(value) ? value : {})
export const asArray = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')

const getTypes = (schema: Schema): string[] =>
  (Array.isArray(schema.type) ? schema.type : [schema.type]).map(asText).filter(Boolean)

const isNull = (schema: Schema): boolean => getTypes(schema).join() === 'null'

/** The alternatives of a schema except `null`; the schema itself if it has no `anyOf`. */
export const getAlternatives = (schema: Schema): Schema[] =>
  (Array.isArray(schema.anyOf) ? schema.anyOf.map(asSchema) : [schema]).filter(
    (one) => !isNull(one),
  )

/** The object that a field contains, directly or in an array; `null` if it contains none. */
function findObjectSchema(schema: Schema): Schema | null {
  for (const one of getAlternatives(schema)) {
    if (Object.keys(asSchema(one.properties)).length > 0) return one
    const item = getTypes(one).includes('array') ? findObjectSchema(asSchema(one.items)) : null
    if (item !== null) return item
  }
  return null
}

/** The fields of `if`/`then` branches in `allOf`, such as the data of one calculator. */
const getBranches = (schema: Schema): { condition: string; then: Schema }[] =>
  asArray(schema.allOf).flatMap((branch) => {
    const rules = Object.entries(asSchema(asSchema(asSchema(branch).if).properties))
    const condition = rules
      .map(([name, rule]) => `${name} is ${JSON.stringify(asSchema(rule).const)}`)
      .join(' and ')
    const then = asSchema(asSchema(branch).then)
    return condition !== '' && isObject(then.properties) ? [{ condition, then }] : []
  })

/** The media type and its name: JSON if available, otherwise the first; `null` if there is none. */
export function getMedia(content: unknown): { type: string; media: Schema } | null {
  const entries = Object.entries(asSchema(content))
  const [type, media] =
    entries.find(([name]) => name === 'application/json') ?? entries[0] ?? ([] as undefined[])
  return type === undefined ? null : { type, media: asSchema(media) }
}

/** The example of a media type: the first, if there are several. */
export const getExample = ({ example, examples }: Schema): unknown =>
  example ?? asSchema(Object.values(asSchema(examples))[0]).value

/** An object that several operations use. The page documents it once; the operations link to it. */
export interface SharedObject {
  id: string
  title: string
  schema: Schema
}

export type SharedObjects = ReadonlyMap<string, SharedObject>

/** Smaller objects are shown where they are used. */
const MIN_FIELDS = 4

const getKey = (schema: Schema): string =>
  `${asText(schema.title)}: ${Object.keys(asSchema(schema.properties)).toSorted().join()}`

/** Finds the shared object that a schema describes; `null` if there is none. */
export const getSharedObject = (schema: Schema, shared: SharedObjects): SharedObject | null =>
  shared.get(getKey(schema)) ?? null

/** Collects the titled objects that occur more than once in bodies and responses. */
export function findSharedObjects(schemas: readonly Schema[]): SharedObjects {
  const counts = new Map<string, { count: number; schema: Schema }>()
  function visit(schema: Schema): void {
    const object = findObjectSchema(schema)
    if (object === null) return
    const properties = Object.values(asSchema(object.properties))
    const key = getKey(object)
    const known = counts.get(key)
    if (asText(object.title) !== '' && properties.length >= MIN_FIELDS) {
      counts.set(key, { count: (known?.count ?? 0) + 1, schema: object })
      if (known) return
    }
    for (const property of properties) visit(asSchema(property))
    for (const { then } of getBranches(object)) visit(then)
  }
  schemas.forEach(visit)
  const shared = [...counts].filter(([, { count }]) => count > 1)
  return new Map(
    shared.map(([key, { schema }]) => {
      const title = asText(schema.title)
      return [key, { id: `object-${title.toLowerCase().replace(/\W+/g, '-')}`, title, schema }]
    }),
  )
}

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
