/**
 * Makes something when it is first asked for, and keeps it. Compiled schemas, formatters and the
 * like take a good part of a start, which needs few of them.
 */
export function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}
