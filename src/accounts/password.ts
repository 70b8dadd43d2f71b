import { randomBytes } from 'node:crypto'
import { hash, hashSync, verify } from '@node-rs/argon2'

export const MIN_PASSWORD_LENGTH = 12
export const MAX_PASSWORD_LENGTH = 1024

// Keyboards compose accented letters differently (RFC 8265, section 4.2.2).
const normalize = (password: string): string => password.normalize('NFC')

/** Argon2id as a PHC string, with the parameters that OWASP recommends: 19 MiB, 2 passes, 1 lane. */
export const hashPassword = (password: string): Promise<string> => hash(normalize(password))
export const hashPasswordSync = (password: string): string => hashSync(normalize(password))

export const verifyPassword = (passwordHash: string, password: string): Promise<boolean> =>
  verify(passwordHash, normalize(password))

/** 32 characters that are hard to confuse: no 0 and o, no 1 and l. */
const ALPHABET = '23456789abcdefghijkmnpqrstuvwxyz'
const GROUPS = 4
const GROUP_LENGTH = 5

/** A readable password of 100 random bits. */
export function randomPassword(): string {
  const group = () =>
    Array.from(randomBytes(GROUP_LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('')
  return Array.from({ length: GROUPS }, group).join('-')
}

/** A hash that no password matches, with the cost parameters of a given one. */
export function createUnmatchableHash(passwordHash: string): string {
  const [salt = '', digest = ''] = passwordHash.split('$').slice(-2)
  const random = (text: string) =>
    randomBytes(Buffer.from(text, 'base64').length).toString('base64').replace(/=+$/, '')
  return [...passwordHash.split('$').slice(0, -2), random(salt), random(digest)].join('$')
}
