import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

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
  const currentKey = deriveKey(secrets[0], purpose)
  const keys = secrets.map((secret) => deriveKey(secret, purpose))
  return {
    sign: (text) => sign(currentKey, text),
    verify: (text, signature) =>
      keys.some((key) => timingSafeEqualText(signature, sign(key, text))),
  }
}

const sign = (key: Buffer, text: string): string =>
  createHmac('sha256', key).update(text).digest().subarray(0, SIGNATURE_BYTES).toString('base64url')

/** Compares two strings; the time does not depend on where they differ. */
export function timingSafeEqualText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

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
