import { randomBytes } from 'node:crypto'
import { hash, hashSync, verify } from '@node-rs/argon2'
import type { FastifyInstance } from 'fastify'
import { Problem } from '../core/http/problem.js'
import type { Account } from './account-store.js'

// Keyboards compose accented letters differently (RFC 8265, section 4.2.2).
const normalize = (password: string): string => password.normalize('NFC')

/** As OWASP recommends: 19 MiB, 2 passes, 1 lane. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Argon2id as a PHC string. */
export const hashPassword = (password: string): Promise<string> =>
  hash(normalize(password), PARAMETERS)
export const hashPasswordSync = (password: string): string =>
  hashSync(normalize(password), PARAMETERS)

const verifyPassword = (passwordHash: string, password: string): Promise<boolean> =>
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
function createUnmatchableHash(passwordHash = SAMPLE_HASH): string {
  const [salt = '', digest = ''] = passwordHash.split('$').slice(-2)
  const random = (text: string) =>
    randomBytes(Buffer.from(text, 'base64').length).toString('base64').replace(/=+$/, '')
  return [...passwordHash.split('$').slice(0, -2), random(salt), random(digest)].join('$')
}

/** Computing an argon2id hash takes one core and at least 19 MiB of memory. */
const MAX_CONCURRENT = 2
const MAX_QUEUED = 32

/** Returns a function that runs a job when it is its turn; throws when the queue is full. */
function createQueue() {
  let running = 0
  const queue: (() => void)[] = []

  return async <T>(job: () => Promise<T>): Promise<T> => {
    if (running < MAX_CONCURRENT) {
      running++
    } else if (queue.length < MAX_QUEUED) {
      // A finished job passes its slot to the next job, so `running` does not change.
      await new Promise<void>((resolve) => queue.push(resolve))
    } else {
      throw new Problem(503, 'Too many people are signing in. Try again in a few seconds.', {
        headers: { 'retry-after': '5' },
      })
    }
    try {
      return await job()
    } finally {
      const next = queue.shift()
      if (next) next()
      else running--
    }
  }
}

/**
 * Hashes and checks passwords, only a few at a time. Methods throw a Problem (503) when too many
 * are waiting.
 */
export function createPasswords({
  accounts,
  configuredAccounts,
  hashIdentifier,
}: Pick<FastifyInstance, 'accounts' | 'configuredAccounts' | 'hashIdentifier'>) {
  const run = createQueue()
  const unmatchable = [
    createUnmatchableHash(),
    ...configuredAccounts.map(({ passwordHash }) => createUnmatchableHash(passwordHash)),
  ]

  // An email always gets the same hash, so that the time of its check does not vary either.
  function pickUnmatchableHash(email: string): string {
    const index = Buffer.from(hashIdentifier('nothing', email), 'base64url').readUInt32BE()
    return unmatchable[index % unmatchable.length] ?? ''
  }

  return {
    hash: (password: string): Promise<string> => run(() => hashPassword(password)),

    verify: (passwordHash: string, password: string): Promise<boolean> =>
      run(() => verifyPassword(passwordHash, password)),

    /**
     * Returns the account that an email and a password belong to, or `null`. For an unknown email,
     * the check takes as long as for a known email, because the password is verified against a hash
     * that no password matches. The hash has the cost parameters of a real account.
     */
    async findAccount(email: string, password: string): Promise<Account | null> {
      const account = await accounts.find(email)
      const passwordHash = account?.passwordHash ?? pickUnmatchableHash(email)
      return (await this.verify(passwordHash, password)) ? account : null
    },
  }
}

export type Passwords = ReturnType<typeof createPasswords>
