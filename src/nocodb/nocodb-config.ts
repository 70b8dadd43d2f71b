import { Type } from '@sinclair/typebox'
import {
  optional,
  type ConfigPart,
  type ConfigRule,
  type Values,
} from '../core/config/config-part.js'
import type { Config } from '../core/config/config.js'
import { DEFAULT_TITLES, parseColumnTitles, type ColumnTitles } from './columns.js'

declare module '../core/config/config.js' {
  interface Config extends Values<typeof variables> {}
}

const variables = {
  DATABASE_BASE_URL: optional('NocoDB that stores the orders, such as https://nocodb.example.com'),
  DATABASE_BASE_ID: optional('Base ID'),
  DATABASE_API_KEY: optional('API token with read and write access'),
  DATABASE_ORDERS_TABLE_ID: optional('ID of the orders table'),
  NOCODB_SYNC_INTERVAL: Type.Number({
    minimum: 0.1,
    maximum: 3600,
    default: 5,
    description: 'Seconds between synchronisations with NocoDB',
  }),
  NOCODB_REQUESTS_PER_SECOND: Type.Number({
    minimum: 0.1,
    maximum: 10_000,
    default: 4,
    description: 'Requests per second from this process to NocoDB',
  }),
  NOCODB_COLUMNS: optional('Column titles: field=Column, comma-separated'),
}

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

const rules: readonly ConfigRule[] = [
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

function findErrors(environment: NodeJS.ProcessEnv): string[] {
  const isConfigured = REQUIRED.some((name) => environment[name] !== undefined)
  const missing = isConfigured ? REQUIRED.filter((name) => environment[name] === undefined) : []
  return missing.map((name) => `${name} is required because other NocoDB variables are set`)
}

/** While the table is set up, it may not exist yet. */
function findSetUpErrors(environment: NodeJS.ProcessEnv): string[] {
  const missing = REQUIRED.filter(
    (name) => name !== 'DATABASE_ORDERS_TABLE_ID' && environment[name] === undefined,
  )
  return missing.map((name) => `${name} is required to set up NocoDB`)
}

/**
 * The NocoDB settings; `null` if NocoDB is not configured. `tableId` is empty if no table is set.
 */
export function getNocoDbSettings(config: Config): NocoDbSettings | null {
  const { DATABASE_BASE_URL, DATABASE_BASE_ID, DATABASE_API_KEY } = config
  if (
    DATABASE_BASE_URL === undefined ||
    DATABASE_BASE_ID === undefined ||
    DATABASE_API_KEY === undefined
  ) {
    return null
  }
  const { NOCODB_COLUMNS, NOCODB_REQUESTS_PER_SECOND, NOCODB_SYNC_INTERVAL } = config
  return {
    baseUrl: new URL(DATABASE_BASE_URL).href.replace(/\/+$/, ''),
    baseId: DATABASE_BASE_ID,
    tableId: config.DATABASE_ORDERS_TABLE_ID ?? '',
    token: DATABASE_API_KEY,
    titles:
      (NOCODB_COLUMNS === undefined ? null : parseColumnTitles(NOCODB_COLUMNS)) ?? DEFAULT_TITLES,
    requestsPerSecond: NOCODB_REQUESTS_PER_SECOND,
    syncIntervalMs: NOCODB_SYNC_INTERVAL * 1000,
  }
}

/** The NocoDB base that stores the orders. */
export const nocoDbConfig = { variables, rules, findErrors } satisfies ConfigPart

/** For `nocodb:setup`: requires all variables except for the ID of the table. */
export const nocoDbSetUpConfig = {
  variables,
  rules,
  findErrors: findSetUpErrors,
} satisfies ConfigPart
