import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { deriveKey } from './signer.js'

const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts secrets for one purpose, so that a copy of the database does not reveal them.
 *
 * @param sessionSecrets the current secret, which is used to encrypt, then the previous one
 * @param purpose see `deriveKey`
 */
export function createSecretCipher(
  sessionSecrets: readonly [string, ...string[]],
  purpose: string,
) {
  const key = deriveKey(sessionSecrets[0], purpose)
  const keys = sessionSecrets.map((secret) => deriveKey(secret, purpose))

  function decryptWith(key: Buffer, bytes: Buffer): string | null {
    try {
      const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      })
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
      const text = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES))
      return Buffer.concat([text, decipher.final()]).toString()
    } catch {
      return null
    }
  }

  return {
    encrypt(secret: string): string {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES })
      const text = Buffer.concat([cipher.update(secret), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64')
    },

    /** Whether a value was encrypted with the current SESSION_SECRET. */
    isCurrent: (encrypted: string): boolean =>
      decryptWith(key, Buffer.from(encrypted, 'base64')) !== null,

    /** Returns `null` if the value was encrypted with an unknown SESSION_SECRET. */
    decrypt(encrypted: string): string | null {
      const bytes = Buffer.from(encrypted, 'base64')
      for (const key of keys) {
        const secret = decryptWith(key, bytes)
        if (secret !== null) return secret
      }
      return null
    },
  }
}

export type SecretCipher = ReturnType<typeof createSecretCipher>
