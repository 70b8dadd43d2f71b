import { createHmac } from 'node:crypto'
import type { CalculatorType } from '../calculator/calculator-data.js'
import { deriveKey } from '../config/derive-key.js'
import { timingSafeEqualText } from '../http/timing-safe-equal.js'

/** HMAC-SHA256 truncated to 128 bits, the minimum of RFC 2104 (section 5). */
const SIGNATURE_BYTES = 16

/** Whether a text has the length and alphabet of a signature. */
export const isSignature = (text: string): boolean => /^[\w-]{22}$/.test(text)

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
  const [current, ...previous] = secrets
  const currentKey = deriveLinkKey(current)
  const keys = [currentKey, ...previous.map(deriveLinkKey)]
  return {
    sign: (type, data) => signLink(currentKey, type, data),
    verify: (type, data, signature) =>
      keys.some((key) => timingSafeEqualText(signature, signLink(key, type, data))),
  }
}

const deriveLinkKey = (secret: string): Buffer => deriveKey(secret, 'prefill link v1')

const signLink = (key: Buffer, type: CalculatorType, data: string): string =>
  createHmac('sha256', key)
    .update(`${type}\n${data}`)
    .digest()
    .subarray(0, SIGNATURE_BYTES)
    .toString('base64url')
