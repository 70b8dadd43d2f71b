/** Durations in milliseconds. */
export const SECOND_MS = 1000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
/** A day of 24 hours; calendar days can be longer or shorter */
export const DAY_MS = 24 * HOUR_MS

/** ISO 8601 in UTC, of ms since 1970. */
export const toIsoTime = (ms: number): string => new Date(ms).toISOString()
