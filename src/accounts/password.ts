import { randomBytes } from 'node:crypto'
import { hash, hashSync, verify } from '@node-rs/argon2'

export const MIN_PASSWORD_LENGTH = 12
export const MAX_PASSWORD_LENGTH = 1024

// Keyboards compose accented letters differently (RFC 8265, section 4.2.2).
const normalize = (password: string): string => password.normalize('NFC')

/** As OWASP recommends: 19 MiB, 2 passes, 1 lane. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Argon2id as a PHC string. */
export const hashPassword = (password: string): Promise<string> =>
  hash(normalize(password), PARAMETERS)
export const hashPasswordSync = (password: string): string =>
  hashSync(normalize(password), PARAMETERS)

export const verifyPassword = (passwordHash: string, password: string): Promise<boolean> =>
  verify(passwordHash, normalize(password))

/** Excludes 0, o, 1 and l, which are easily confused. */
const ALPHABET = '23456789abcdefghijkmnpqrstuvwxyz'
const GROUPS = 4
const GROUP_LENGTH = 5

/** A readable password of 100 random bits. */
export function randomPassword(): string {
  const group = () =>
    Array.from(randomBytes(GROUP_LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('')
  return Array.from({ length: GROUPS }, group).join('-')
}

/** A hash in the format of `hashPassword`. */
const SAMPLE_HASH = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`

/** A hash that no password matches, with the same cost parameters as the given hash. */
export function createUnmatchableHash(passwordHash = SAMPLE_HASH): string {
  const [salt = '', digest = ''] = passwordHash.split('$').slice(-2)
  const random = (text: string) =>
    randomBytes(Buffer.from(text, 'base64').length).toString('base64').replace(/=+$/, '')
  return [...passwordHash.split('$').slice(0, -2), random(salt), random(digest)].join('$')
}
