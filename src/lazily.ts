/**
 * What is made when it is first asked for, and kept from then on: compiled schemas, formatters and
 * their like take a good part of a start together, and most of them no start needs.
 */
export function lazily<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}
