export interface Parameters {
  [name: string]: string | Parameters | undefined
}

/** Parses a form with nested names, such as `line_items[0][quantity]=1`. */
export function parseParameters(body: string): Parameters {
  const root: Parameters = Object.create(null) as Parameters
  for (const [name, value] of new URLSearchParams(body)) {
    const path = name.split('[').map((part) => part.replace(/\]$/, ''))
    const last = path.pop() ?? ''
    let parent = root
    for (const part of path) {
      const child = parent[part]
      const next = typeof child === 'object' ? child : (Object.create(null) as Parameters)
      parent[part] = next
      parent = next
    }
    parent[last] = value
  }
  return root
}

export const getText = (parameters: Parameters | undefined, name: string): string | null => {
  const value = parameters?.[name]
  return typeof value === 'string' ? value : null
}

export const getGroup = (parameters: Parameters | undefined, name: string): Parameters => {
  const value = parameters?.[name]
  return typeof value === 'object' ? value : {}
}

/** The values of a flat group, such as metadata. */
export const toTexts = (group: Parameters): Record<string, string> =>
  Object.fromEntries(
    Object.entries(group).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  )
