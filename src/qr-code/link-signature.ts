import { createHmac, type BinaryLike } from 'node:crypto'
import type { CalculatorType } from '../calculator/calculator-data.js'
import { deriveKey } from '../config/derive-key.js'
import { timingSafeEqualText } from '../http/timing-safe-equal.js'

/** Bytes of HMAC-SHA256 that go into a link: 128 bits, the least RFC 2104 (section 5) advises. */
const SIGNATURE_BYTES = 16

/** Whether a text could be a signature: one of another length or alphabet was cut or mangled. */
export const isSignature = (text: string): boolean => /^[\w-]{22}$/.test(text)

export interface LinkSigner {
  /** The signature of a link's data under the current secret */
  sign(type: CalculatorType, data: string): string
  /** Whether a signature is ours, under the current secret or the one before */
  verify(type: CalculatorType, data: string, signature: string): boolean
}

/**
 * Signs links under a key of their own, derived (HKDF, RFC 5869) from the session secret.
 *
 * @param secrets the current secret first, then those still accepted
 */
export function createLinkSigner(secrets: readonly [string, ...string[]]): LinkSigner {
  const keyOf = (secret: string): Buffer => deriveKey(secret, 'prefill link v1')
  const [current, ...previous] = secrets
  const currentKey = keyOf(current)
  const keys = [currentKey, ...previous.map(keyOf)]

  const signature = (key: BinaryLike, type: CalculatorType, data: string): string =>
    createHmac('sha256', key)
      .update(`${type}\n${data}`)
      .digest()
      .subarray(0, SIGNATURE_BYTES)
      .toString('base64url')

  return {
    sign: (type, data) => signature(currentKey, type, data),
    verify: (type, data, given) =>
      keys.some((key) => timingSafeEqualText(given, signature(key, type, data))),
  }
}
