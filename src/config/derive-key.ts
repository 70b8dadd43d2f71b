import { hkdfSync } from 'node:crypto'

const KEY_BYTES = 32

/**
 * A key of its own for each purpose, made of one secret (HKDF-SHA256, RFC 5869): who learns one of
 * them learns neither the secret nor the others.
 *
 * @param purpose with its version, such as `session v1`; it stays, as what was signed stays
 */
export const deriveKey = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `clearwake ${purpose}`, KEY_BYTES))
