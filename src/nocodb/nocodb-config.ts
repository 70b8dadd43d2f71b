import { DEFAULT_TITLES, parseColumnTitles, type ColumnTitles } from './columns.js'
import { checkRules, type ConfigRule } from '../core/config/config-rules.js'
import type { Environment } from '../core/config/config-schema.js'
import { createHash } from 'node:crypto'

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

const REQUIRED = [
  'DATABASE_BASE_URL',
  'DATABASE_BASE_ID',
  'DATABASE_API_KEY',
  'DATABASE_ORDERS_TABLE_ID',
] as const

/** NocoDB ids, which become parts of URLs. */
const ID = /^[\w-]{1,100}$/

/** Printable ASCII characters except space, for use in a header. */
const TOKEN = /^[\x21-\x7e]{1,1000}$/

function isBaseUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    [url.username, url.password, url.search, url.hash].every((part) => part === '')
  )
}

const RULES: readonly ConfigRule[] = [
  ['DATABASE_BASE_URL', isBaseUrl, 'must be an http or https URL'],
  ['DATABASE_BASE_ID', (text) => ID.test(text), 'must be the ID of a base'],
  ['DATABASE_API_KEY', (text) => TOKEN.test(text), 'must be a NocoDB API token'],
  [
    'DATABASE_ORDERS_TABLE_ID',
    (text) => ID.test(text),
    'must be the ID of a table; npm run nocodb:setup prints it',
  ],
  [
    'NOCODB_COLUMNS',
    (text) => parseColumnTitles(text) !== null,
    'must be field=Column pairs, comma-separated, each field and each column once',
  ],
]

/**
 * Finds errors in the NocoDB environment variables.
 *
 * @param isSetUp true during set-up, when the table may not exist yet
 */
export function findDatabaseConfigErrors(
  environment: NodeJS.ProcessEnv,
  isSetUp: boolean,
): string[] {
  const errors = checkRules(environment, RULES)
  const required = REQUIRED.filter((name) => !isSetUp || name !== 'DATABASE_ORDERS_TABLE_ID')
  const missing = required.filter((name) => environment[name] === undefined)
  const isConfigured = isSetUp || REQUIRED.some((name) => environment[name] !== undefined)
  if (!isConfigured || missing.length === 0) return errors
  const why = isSetUp ? 'to set up NocoDB' : 'because other NocoDB variables are set'
  return [...errors, ...missing.map((name) => `${name} is required ${why}`)]
}

/**
 * The NocoDB settings; `null` if NocoDB is not configured. `tableId` is empty if no table is set.
 */
export function toNocoDbConfig(environment: Environment): NocoDbSettings | null {
  const { DATABASE_BASE_URL, DATABASE_BASE_ID, DATABASE_API_KEY } = environment
  if (
    DATABASE_BASE_URL === undefined ||
    DATABASE_BASE_ID === undefined ||
    DATABASE_API_KEY === undefined
  ) {
    return null
  }
  const { NOCODB_COLUMNS, NOCODB_REQUESTS_PER_SECOND, NOCODB_SYNC_INTERVAL } = environment
  return {
    baseUrl: new URL(DATABASE_BASE_URL).href.replace(/\/+$/, ''),
    baseId: DATABASE_BASE_ID,
    tableId: environment.DATABASE_ORDERS_TABLE_ID ?? '',
    token: DATABASE_API_KEY,
    titles:
      (NOCODB_COLUMNS === undefined ? null : parseColumnTitles(NOCODB_COLUMNS)) ?? DEFAULT_TITLES,
    requestsPerSecond: NOCODB_REQUESTS_PER_SECOND,
    syncIntervalMs: NOCODB_SYNC_INTERVAL * 1000,
  }
}
