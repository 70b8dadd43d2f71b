import { createHash } from 'node:crypto'
import type { ColumnTitles } from './columns.js'

/** Which table of which NocoDB holds the orders, and how it is asked. */
export interface NocoDbSettings {
  /** Without a slash at the end */
  baseUrl: string
  baseId: string
  tableId: string
  token: string
  titles: ColumnTitles
  requestsPerSecond: number
  syncIntervalMs: number
}

/** One more whenever rows are read in another way than before: copies are then made anew. */
const READING = 1

/** Tells copies of different tables apart. Two of the same source are copies of the same. */
export const getSourceId = ({ baseUrl, baseId, tableId, titles }: NocoDbSettings): string =>
  createHash('sha256')
    .update(JSON.stringify([READING, baseUrl, baseId, tableId, titles]))
    .digest('base64url')
