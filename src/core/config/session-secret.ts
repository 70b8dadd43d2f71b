import { randomBytes } from 'node:crypto'
import { readOrCreateFile } from './read-or-create-file.js'

/**
 * The secret in the data directory, created at the first start. If it is lost, printed codes become
 * invalid. Throws a file system error.
 */
export const readOrCreateSessionSecret = (dataDir: string): string =>
  readOrCreateFile(dataDir, 'session-secret', () => randomBytes(32).toString('base64url')).text
