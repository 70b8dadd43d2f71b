import { isObject } from '../core/validation/is-object.js'

/** A part of an OpenAPI document: a JSON Schema, an operation, a response. */
export type Schema = Record<string, unknown>

export const asSchema = (value: unknown): Schema => (isObject(value) ? value : {})
export const asArray = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')

export const getTypes = (schema: Schema): string[] =>
  (Array.isArray(schema.type) ? schema.type : [schema.type]).map(asText).filter(Boolean)

export const isNull = (schema: Schema): boolean => getTypes(schema).join() === 'null'

/** The alternatives of a schema except `null`; the schema itself if it has no `anyOf`. */
export const getAlternatives = (schema: Schema): Schema[] =>
  (Array.isArray(schema.anyOf) ? schema.anyOf.map(asSchema) : [schema]).filter(
    (one) => !isNull(one),
  )

/** The object that a field contains, directly or in an array; `null` if it contains none. */
export function findObjectSchema(schema: Schema): Schema | null {
  for (const one of getAlternatives(schema)) {
    if (Object.keys(asSchema(one.properties)).length > 0) return one
    const item = getTypes(one).includes('array') ? findObjectSchema(asSchema(one.items)) : null
    if (item !== null) return item
  }
  return null
}

/** The fields of `if`/`then` branches in `allOf`, such as the data of one calculator. */
export const getBranches = (schema: Schema): { condition: string; then: Schema }[] =>
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
