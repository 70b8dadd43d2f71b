import { createHmac } from 'node:crypto'
import { deriveKey } from '../config/derive-key.js'

export type HashIdentifier = (...names: string[]) => string

/**
 * Makes stand-ins for e-mail and network addresses, the same in every process: what logins leave
 * behind in a shared memory names nobody, nor what somebody typed in the wrong field.
 */
export function createIdentifierHash(secret: string): HashIdentifier {
  const key = deriveKey(secret, 'login names v1')
  return (...names) =>
    createHmac('sha256', key).update(names.join('\n')).digest('base64url').slice(0, 22)
}
