import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import {
  optional,
  type ConfigPart,
  type ConfigRule,
  type Values,
} from '../core/config/config-part.js'

declare module '../core/config/config.js' {
  interface Config extends Values<typeof variables> {}
}

const variables = {
  DATABASE_URL: optional(
    'PostgreSQL, such as postgres://user:password@host/name; SQLite without it',
  ),
  DATABASE_POOL_SIZE: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: 10,
    description: 'PostgreSQL connections per process',
  }),
}

function isPostgresUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^postgres(?:ql)?:$/.test(url.protocol)
}

const rules: readonly ConfigRule[] = [
  ['DATABASE_URL', isPostgresUrl, 'must be a postgres or postgresql URL'],
]

/** The database of the service. */
export const databaseConfig = { variables, rules } satisfies ConfigPart

/** The path of the SQLite database in the data directory. */
export const getDatabasePath = (dataDir: string): string => join(dataDir, 'orders.db')
