import { randomBytes } from 'node:crypto'
import { hash, hashSync, verify } from '@node-rs/argon2'

export const MIN_PASSWORD_LENGTH = 12
export const MAX_PASSWORD_LENGTH = 1024

// Keyboards differ in how they compose an é (RFC 8265, 4.2.2).
const composed = (password: string): string => password.normalize('NFC')

/**
 * Argon2id as a PHC string. The package's defaults are what OWASP asks for: 19 MiB, two passes,
 * one lane.
 */
export const hashPassword = (password: string): Promise<string> => hash(composed(password))
export const hashPasswordSync = (password: string): string => hashSync(composed(password))

export const verifyPassword = (passwordHash: string, password: string): Promise<boolean> =>
  verify(passwordHash, composed(password))

/** 32 signs that nobody takes for one another: no 0 and o, no 1 and l. */
const SIGNS = '23456789abcdefghijkmnpqrstuvwxyz'
const GROUPS = 4
const GROUP_LENGTH = 5

/** A password to read and type, of 100 random bits. */
export function randomPassword(): string {
  const group = () =>
    Array.from(randomBytes(GROUP_LENGTH), (byte) => SIGNS[byte % SIGNS.length]).join('')
  return Array.from({ length: GROUPS }, group).join('-')
}

/**
 * A hash that no password has, and that takes as long to find out as the one given: of the same
 * parameters, salt and end being random.
 */
export function unmatchableHash(passwordHash: string): string {
  const [salt = '', digest = ''] = passwordHash.split('$').slice(-2)
  const random = (text: string) =>
    randomBytes(Buffer.from(text, 'base64').length).toString('base64').replace(/=+$/, '')
  return [...passwordHash.split('$').slice(0, -2), random(salt), random(digest)].join('$')
}
