import { createHash, randomBytes } from 'node:crypto'

const CODES = 10
/** 120 bits: a fast hash is sufficient for secrets of at least 112 bits (ASVS 5.0, 6.5.2). */
const CODE_LENGTH = 24
/** Crockford's Base32: excludes I, L, O and U, which are easily misread. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

const createCode = (): string =>
  Array.from(randomBytes(CODE_LENGTH), (byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('')

/** Creates the recovery codes of an account, such as `7h2k-9qfa-x0d3-mz81-4tpv-c6we`. */
export const createRecoveryCodes = (): string[] =>
  Array.from({ length: CODES }, () => createCode().replace(/.{4}(?=.)/g, '$&-'))

/** Whether a string looks like a recovery code rather than a code from an authenticator app. */
export const isRecoveryCode = (text: string): boolean => /^[\da-z]{24}$/.test(normalize(text))

/** The stored form of a code. Case, spaces and hyphens do not matter. */
export const hashRecoveryCode = (code: string): string =>
  createHash('sha256').update(normalize(code)).digest('base64url')

const normalize = (code: string): string =>
  code.toLowerCase().replace(/[\s-]/g, '').replace(/[il]/g, '1').replace(/o/g, '0')
