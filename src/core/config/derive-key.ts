import { hkdfSync } from 'node:crypto'

const KEY_BYTES = 32

/**
 * Derives a key for one purpose from the secret (HKDF-SHA256, RFC 5869). A leaked key reveals neither
 * the secret nor other keys.
 *
 * @param purpose name and version, such as `session v1`; never change it, because existing
 *   signatures and encrypted secrets would become invalid
 */
export const deriveKey = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `clearwake ${purpose}`, KEY_BYTES))
