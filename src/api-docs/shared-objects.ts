import { asSchema, asText, findObjectSchema, getBranches, type Schema } from './schema.js'

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
