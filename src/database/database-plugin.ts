import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import {
  optional,
  type ConfigPart,
  type ConfigRule,
  type Values,
} from '../core/config/config-part.js'
import type { Config } from '../core/config/config.js'
import type { Database } from './database.js'
import { migratePostgres } from './migrations.js'
import { openPostgres } from './postgres.js'
import { openSqliteDatabase } from './sqlite-database.js'

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

declare module 'fastify' {
  interface FastifyInstance {
    /** The database of the service */
    database: Database
  }
}

type Settings = Pick<Config, 'DATA_DIR' | 'DATABASE_URL' | 'DATABASE_POOL_SIZE'>

/**
 * Opens the configured database and migrates its schema. Throws DatabaseError,
 * DatabaseUnavailableError or CommitUnknownError.
 *
 * @param onError called when an idle connection fails
 */
export async function openServiceDatabase(
  { DATA_DIR, DATABASE_URL: url, DATABASE_POOL_SIZE: poolSize }: Settings,
  onError?: (error: Error) => void,
): Promise<Database> {
  if (url === undefined) return openSqliteDatabase(getDatabasePath(DATA_DIR))
  const postgres = openPostgres(url, { poolSize, onError })
  try {
    await migratePostgres(postgres)
  } catch (error) {
    await postgres.close()
    throw error
  }
  return postgres
}

/** Opens the database of the service, SQLite or PostgreSQL, and migrates its schema. */
export default fp(
  async (app) => {
    const database = await openServiceDatabase(app.config, (err) =>
      app.log.warn({ err }, 'a connection to PostgreSQL was lost'),
    )
    app.decorate('database', database)
    app.addHook('onClose', () => database.close())
    if (database.engine === 'postgres') {
      app.readiness.set('database', () => database.getReadiness())
    }
  },
  { name: 'database', dependencies: ['config', 'telemetry'] },
)
