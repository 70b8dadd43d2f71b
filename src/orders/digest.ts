import { createHash } from 'node:crypto'

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Fields of the same names and values are the same, in whatever order they come. */
const sorted = (_name: string, value: unknown): unknown =>
  isRecord(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** What tells requests apart by what they ask for; the same in any process. */
export const digest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value, sorted)).digest('base64url')
