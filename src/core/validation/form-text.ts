/** A field of a form; empty if it is missing or not text. */
export const toText = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Same as `toText`, without the spaces around it. */
export const toTrimmedText = (value: unknown): string => toText(value).trim()
