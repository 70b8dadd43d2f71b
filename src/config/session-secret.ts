import { randomBytes } from 'node:crypto'
import { readOrCreateFile } from './read-or-create-file.js'

/**
 * The secret kept in the data folder, made at the first start. Printed codes live as long as
 * it does, so it must survive restarts. Throws what the file system throws.
 */
export const readOrCreateSessionSecret = (dataDir: string): string =>
  readOrCreateFile(dataDir, 'session-secret', () => randomBytes(32).toString('base64url')).text
