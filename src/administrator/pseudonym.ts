import { createHmac } from 'node:crypto'
import { derivedKey } from '../derived-key.js'

export type Pseudonym = (...names: string[]) => string

/**
 * Makes stand-ins for e-mail and network addresses, the same in every process: what logins leave
 * behind in a shared memory names nobody, nor what somebody typed in the wrong field.
 */
export function pseudonyms(secret: string): Pseudonym {
  const key = derivedKey(secret, 'login names v1')
  return (...names) =>
    createHmac('sha256', key).update(names.join('\n')).digest('base64url').slice(0, 22)
}
