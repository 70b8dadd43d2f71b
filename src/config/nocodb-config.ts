import { DEFAULT_TITLES, parseColumnTitles } from '../order-store/nocodb/columns.js'
import type { NocoDbSettings } from '../order-store/nocodb/nocodb-settings.js'
import type { Environment } from './config-schema.js'

const NEEDED = [
  'DATABASE_BASE_URL',
  'DATABASE_BASE_ID',
  'DATABASE_API_KEY',
  'DATABASE_ORDERS_TABLE_ID',
] as const

/** Ids of NocoDB, which become parts of addresses. */
const ID = /^[\w-]{1,100}$/

/** What a header can hold, without blanks. */
const TOKEN = /^[\x21-\x7e]{1,1000}$/

function isBaseUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    [url.username, url.password, url.search, url.hash].every((part) => part === '')
  )
}

const RULES: [name: keyof Environment, holds: (text: string) => boolean, rule: string][] = [
  ['DATABASE_BASE_URL', isBaseUrl, 'must be an http or https address'],
  ['DATABASE_BASE_ID', (text) => ID.test(text), 'must be the id of a base, as its address shows'],
  ['DATABASE_API_KEY', (text) => TOKEN.test(text), 'must be an API token of NocoDB'],
  [
    'DATABASE_ORDERS_TABLE_ID',
    (text) => ID.test(text),
    'must be the id of a table; npm run nocodb:setup prints it',
  ],
  [
    'NOCODB_COLUMNS',
    (text) => parseColumnTitles(text) !== null,
    'must be field=Column pairs, comma-separated, each field and each column once',
  ],
]

/**
 * What is wrong with where the orders are kept.
 *
 * @param isSetUp the table may still have to be made
 */
export function findDatabaseConfigErrors(given: NodeJS.ProcessEnv, isSetUp: boolean): string[] {
  const problems = RULES.flatMap(([name, holds, rule]) => {
    const text = given[name]
    return text === undefined || holds(text) ? [] : [`${name} ${rule}`]
  })
  const needed = NEEDED.filter((name) => !isSetUp || name !== 'DATABASE_ORDERS_TABLE_ID')
  const missing = needed.filter((name) => given[name] === undefined)
  const isWanted = isSetUp || NEEDED.some((name) => given[name] !== undefined)
  if (!isWanted || missing.length === 0) return problems
  const why = isSetUp ? 'for NocoDB to be set up' : 'since others of NocoDB are'
  return [...problems, ...missing.map((name) => `${name} must be set, ${why}`)]
}

/** NocoDB as it is to be used; `null` where it is not. The table id is empty where it is not set. */
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
