import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import {
  createApiKeyStore,
  NewApiKeyRequest,
  validateNewApiKey,
} from '../accounts/api-keys/api-key-store.js'
import { API_KEY_SCOPE_NAMES } from '../accounts/permissions.js'
import { getDatabasePath, openServiceDatabase } from '../database/database-plugin.js'
import { describeError, fail, loadConfig } from './command.js'

const USAGE = `Usage: npm run -s api-key:create -- --name NAME --scopes SCOPE,SCOPE [--expires DATE_TIME]

Creates an API key and prints only the key. Scopes: ${API_KEY_SCOPE_NAMES.join(', ')}.`

/** Reads and validates the command line. */
function readArguments(): NewApiKeyRequest {
  const text = { type: 'string' } as const
  try {
    const { name, scopes, expires } = parseArgs({
      options: { name: text, scopes: text, expires: text },
    }).values
    const result = validateNewApiKey({
      name,
      scopes: scopes?.split(','),
      ...(expires === undefined ? {} : { expiresAt: expires }),
    })
    if (result.ok) return result.value
    return fail(result.errors.map(({ path, message }) => `${path} ${message}`).join('\n'))
  } catch (error) {
    return fail(`${(error as Error).message}\n\n${USAGE}`)
  }
}

if (process.argv.length === 2) fail(USAGE)
const request = readArguments()
try {
  const config = await loadConfig()
  const database = await openServiceDatabase(config)
  const by = { actor: 'command line', address: null }
  const { key } = await createApiKeyStore(database).create(request, by)
  await database.close()
  process.stdout.write(`${key}\n`)
  // The key is not valid for a service with other data, such as the demo.
  const place =
    database.engine === 'sqlite' ? resolve(getDatabasePath(config.DATA_DIR)) : 'PostgreSQL'
  process.stderr.write(`Valid for the service that stores its data in ${place}.\n`)
} catch (error) {
  fail(describeError(error))
}
