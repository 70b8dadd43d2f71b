import { createHash, randomBytes } from 'node:crypto'

const CODES = 10
/** 80 bits: enough to store a fast hash. */
const CODE_BYTES = 10
/** Crockford's Base32: without I, L, O and U, which are easily misread. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

const encode = (bytes: Buffer): string =>
  [
    ...BigInt(`0x${bytes.toString('hex')}`)
      .toString(32)
      .padStart(16, '0'),
  ]
    .map((digit) => ALPHABET.charAt(parseInt(digit, 32)))
    .join('')

/** Creates the recovery codes of an account, such as `7h2k-9qfa-x0d3-mz81`. */
export const createRecoveryCodes = (): string[] =>
  Array.from({ length: CODES }, () => encode(randomBytes(CODE_BYTES)).replace(/.{4}(?=.)/g, '$&-'))

/** Whether a text looks like a recovery code, and not like that of an authenticator app. */
export const isRecoveryCode = (text: string): boolean => /^[\da-z]{16}$/.test(normalize(text))

/** The stored form of a code. Case, spaces and hyphens do not matter. */
export const hashRecoveryCode = (code: string): string =>
  createHash('sha256').update(normalize(code)).digest('base64url')

const normalize = (code: string): string =>
  code.toLowerCase().replace(/[\s-]/g, '').replace(/[il]/g, '1').replace(/o/g, '0')
