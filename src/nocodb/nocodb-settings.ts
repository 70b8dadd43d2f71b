import { createHash } from 'node:crypto'
import type { ColumnTitles } from './columns.js'

/** The NocoDB table that holds the orders, and how to access it. */
export interface NocoDbSettings {
  /** Without a trailing slash */
  baseUrl: string
  baseId: string
  tableId: string
  token: string
  titles: ColumnTitles
  requestsPerSecond: number
  syncIntervalMs: number
}

/** Increment this number when rows are parsed differently, so that replicas are recreated. */
const PARSER_VERSION = 1

/** Identifies the table that a replica was made from, and how its rows were parsed. */
export const getSourceId = ({ baseUrl, baseId, tableId, titles }: NocoDbSettings): string =>
  createHash('sha256')
    .update(JSON.stringify([PARSER_VERSION, baseUrl, baseId, tableId, titles]))
    .digest('base64url')
