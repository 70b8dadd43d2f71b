/**
 * Looks a name from outside up in a record; `undefined` if the record has no such entry. Indexing
 * would also find properties that every object has, such as `constructor`.
 */
export const getOwn = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined
