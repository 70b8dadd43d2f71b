import { randomBytes } from 'node:crypto'
import { keptText } from './kept-text.js'

/**
 * The secret kept in the data folder, made at the first start. Printed codes live as long as
 * it does, so it must survive restarts. Throws what the file system throws.
 */
export const keptSessionSecret = (dataDir: string): string =>
  keptText(dataDir, 'session-secret', () => randomBytes(32).toString('base64url')).text
