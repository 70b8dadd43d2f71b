import { createHash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const PREFIX = 'cwk_'
const RANDOM_LENGTH = 30
const CHECKSUM_LENGTH = 6
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const PATTERN = new RegExp(
  `^${PREFIX}([0-9A-Za-z]{${RANDOM_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
)

/** The CRC-32 of a string in base 62, so that secret scanners recognise a key without a look-up. */
function calculateChecksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits
    rest = Math.floor(rest / ALPHABET.length)
  }
  return digits
}

/** Creates a key: `cwk_`, 30 random characters (178 bits) and their checksum. */
export function createKey(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () =>
    ALPHABET.charAt(randomInt(ALPHABET.length)),
  ).join('')
  return PREFIX + random + calculateChecksum(random)
}

/** Whether a bearer token has the prefix of a key. */
export const isKey = (token: string): boolean => token.startsWith(PREFIX)

/** Whether a key has the right format and checksum, so that typing errors need no look-up. */
export function isWellFormedKey(token: string): boolean {
  const [, random = '', checksum] = PATTERN.exec(token) ?? []
  return checksum === calculateChecksum(random)
}

/** The stored hash of a key. Keys have enough random bits for a hash without salt. */
export const hashKey = (key: string): string => createHash('sha256').update(key).digest('base64url')

/** The end of a key, by which people recognise it. */
export const getKeyHint = (key: string): string => key.slice(-4)
