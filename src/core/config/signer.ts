import { createHmac } from 'node:crypto'
import { timingSafeEqualText } from '../http/timing-safe-equal.js'
import { deriveKey } from './derive-key.js'

/** HMAC-SHA256 truncated to 128 bits, the minimum of RFC 2104 (section 5). */
const SIGNATURE_BYTES = 16

/** Whether a string has the length and alphabet of a signature. */
export const isSignature = (text: string): boolean => /^[\w-]{22}$/.test(text)

export interface Signer {
  /** Signs text with the current secret. */
  sign(text: string): string
  /** Whether a signature is valid under the current secret or a previous one. */
  verify(text: string, signature: string): boolean
}

/**
 * Signs text for one purpose, with a key derived from the secret.
 *
 * @param secrets the current secret, then previous secrets that are still accepted
 * @param purpose see `deriveKey`
 */
export function createSigner(secrets: readonly [string, ...string[]], purpose: string): Signer {
  const [current, ...previous] = secrets
  const currentKey = deriveKey(current, purpose)
  const keys = [currentKey, ...previous.map((secret) => deriveKey(secret, purpose))]
  return {
    sign: (text) => sign(currentKey, text),
    verify: (text, signature) =>
      keys.some((key) => timingSafeEqualText(signature, sign(key, text))),
  }
}

const sign = (key: Buffer, text: string): string =>
  createHmac('sha256', key).update(text).digest().subarray(0, SIGNATURE_BYTES).toString('base64url')
