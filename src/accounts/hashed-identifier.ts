import { createHmac } from 'node:crypto'
import { deriveKey } from '../core/config/signer.js'

export type HashIdentifier = (...parts: string[]) => string

/**
 * Hashes emails and network addresses, so that the state store contains no personal data and no
 * passwords that were typed into the wrong field. The hashes are the same in every process.
 */
export function createIdentifierHasher(secret: string): HashIdentifier {
  const key = deriveKey(secret, 'login names v1')
  return (...parts) =>
    createHmac('sha256', key).update(parts.join('\n')).digest('base64url').slice(0, 22)
}
