import type { CalculatorType } from '../calculator/calculator-data.js'
import { createSigner } from '../core/config/signer.js'

export interface LinkSigner {
  /** Signs a link's data with the current secret. */
  sign(type: CalculatorType, data: string): string
  /** Whether a signature is valid under the current secret or a previous one. */
  verify(type: CalculatorType, data: string, signature: string): boolean
}

/**
 * Signs links with a key derived (HKDF, RFC 5869) from the session secret.
 *
 * @param secrets the current secret, then previous ones that are still accepted
 */
export function createLinkSigner(secrets: readonly [string, ...string[]]): LinkSigner {
  const signer = createSigner(secrets, 'prefill link v1')
  return {
    sign: (type, data) => signer.sign(`${type}\n${data}`),
    verify: (type, data, signature) => signer.verify(`${type}\n${data}`, signature),
  }
}
