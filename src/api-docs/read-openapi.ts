import { getSuccess, toOperation, type Operation } from './operation.js'
import {
  asArray,
  asSchema,
  asText,
  findSharedObjects,
  getExample,
  getMedia,
  toFieldSet,
  type FieldSet,
  type Schema,
  type SharedObjects,
} from './schema.js'

/** The content of the reference page. */
interface ApiReference {
  groups: { id: string; name: string; description: string; operations: Operation[] }[]
  objects: ({ id: string; title: string; description: string } & FieldSet)[]
  events: { type: string; summary: string; example: string | null }[]
}

interface Entry {
  path: string
  method: string
  operation: Schema
}

function listEntries(document: Schema): Entry[] {
  return Object.entries(asSchema(document.paths)).flatMap(([path, methods]) =>
    Object.entries(asSchema(methods)).map(([method, operation]) => ({
      path,
      method,
      operation: asSchema(operation),
    })),
  )
}

const getSchemas = ({ operation }: Entry): Schema[] =>
  [asSchema(operation.requestBody), getSuccess(operation)[1]].map(({ content }) =>
    asSchema(getMedia(content)?.media.schema),
  )

const toId = (name: string): string => name.toLowerCase().replace(/\W+/g, '-')

function toGroups(document: Schema, entries: Entry[], shared: SharedObjects, baseUrl: string) {
  return asArray(document.tags)
    .map(asSchema)
    .map(({ name, description }) => ({
      id: toId(asText(name)),
      name: asText(name),
      description: asText(description),
      operations: entries
        .filter(({ operation }) => asArray(operation.tags)[0] === name)
        .map((entry) => toOperation(entry, shared, baseUrl)),
    }))
}

const toEvents = (document: Schema) =>
  Object.entries(asSchema(document.webhooks)).map(([type, item]) => {
    const post = asSchema(asSchema(item).post)
    const example = getExample(getMedia(asSchema(post.requestBody).content)?.media ?? {})
    return {
      type,
      summary: asText(post.summary),
      example: example === undefined ? null : JSON.stringify(example, null, 2),
    }
  })

/** Converts an OpenAPI document for the reference page. */
export function readOpenApi(document: unknown, baseUrl: string): ApiReference {
  const root = asSchema(document)
  const entries = listEntries(root)
  const shared = findSharedObjects(entries.flatMap(getSchemas))
  return {
    groups: toGroups(root, entries, shared, baseUrl),
    objects: [...shared.values()]
      .toSorted((a, b) => a.title.localeCompare(b.title, 'en'))
      .map(({ id, title, schema }) => ({
        id,
        title,
        description: asText(schema.description),
        ...toFieldSet(schema, shared),
      })),
    events: toEvents(root),
  }
}
