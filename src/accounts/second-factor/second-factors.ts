import { createHash, randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { Secret, TOTP } from 'otpauth'
import { appendAuditEntry, type AuditActor } from '../../audit/audit-entry.js'
import { createSecretCipher } from '../../core/config/secrets.js'
import { createLimitProblem, Problem } from '../../core/http/problem.js'
import { DAY_MS, MINUTE_MS } from '../../core/time.js'
import type { Queryable } from '../../database/database.js'
import { consumeAll, type Budget } from '../../database/state-store/state-store.js'
import { endSessions } from '../session-store.js'
import { createPasskeys } from './passkeys.js'
import { createSecondFactorStore, hasStoredFactor, type Passkey } from './second-factor-store.js'

const PERIOD_SECONDS = 30
/**
 * Also accepts codes from the previous and next time step, because clocks differ (RFC 6238, 5.2).
 */
const WINDOW_STEPS = 1
const SECRET_BYTES = 20

const createTotp = (secret: string, options: { issuer?: string; label?: string } = {}): TOTP =>
  new TOTP({
    ...options,
    secret: Secret.fromBase32(secret),
    algorithm: 'SHA1',
    digits: 6,
    period: PERIOD_SECONDS,
  })

/** Creates a secret for an authenticator app, in Base32. */
const createTotpSecret = (): string => new Secret({ size: SECRET_BYTES }).base32

/** The URI that an authenticator app reads from a QR code. */
const buildTotpUri = (secret: string, issuer: string, email: string): string =>
  createTotp(secret, { issuer, label: email }).toString()

/**
 * Returns the time step of a valid code, or `null`. A code is valid only once: store its step, and
 * pass the stored step as `lastStep` next time.
 *
 * @param now ms since 1970
 */
function verifyTotp(
  secret: string,
  code: string,
  { lastStep, now }: { lastStep: number; now: number },
): number | null {
  const delta = createTotp(secret).validate({ token: code, window: WINDOW_STEPS, timestamp: now })
  if (delta === null) return null
  const step = Math.floor(now / 1000 / PERIOD_SECONDS) + delta
  return step > lastStep ? step : null
}

const CODES = 10
/** 120 bits: a fast hash is sufficient for secrets of at least 112 bits (ASVS 5.0, 6.5.2). */
const CODE_LENGTH = 24
/** Crockford's Base32: excludes I, L, O and U, which are easily misread. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

const createCode = (): string =>
  Array.from(randomBytes(CODE_LENGTH), (byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('')

/** Creates the recovery codes of an account, such as `7h2k-9qfa-x0d3-mz81-4tpv-c6we`. */
const createRecoveryCodes = (): string[] =>
  Array.from({ length: CODES }, () => createCode().replace(/.{4}(?=.)/g, '$&-'))

/** Whether a string looks like a recovery code rather than a code from an authenticator app. */
const isRecoveryCode = (text: string): boolean => /^[\da-z]{24}$/.test(normalize(text))

/** The stored form of a code. Case, spaces and hyphens do not matter. */
const hashRecoveryCode = (code: string): string =>
  createHash('sha256').update(normalize(code)).digest('base64url')

const normalize = (code: string): string =>
  code.toLowerCase().replace(/[\s-]/g, '').replace(/[il]/g, '1').replace(/o/g, '0')

/** Wrong codes on one known device, or for one account on all other devices */
const CODE_BUDGET: Budget = { limit: 10, windowMs: 15 * MINUTE_MS }
const STRANGER_DAY_BUDGET: Budget = { limit: 20, windowMs: DAY_MS }
const MAX_PASSKEYS = 20

const createWrongCodeProblem = (): Problem =>
  new Problem(401, 'The code is wrong, or was used before.', {
    headers: { 'www-authenticate': 'Bearer' },
  })

/** The user who adds a factor to their own account. */
export interface FactorOwner {
  by: AuditActor
  /** The current session, which then counts as multi-factor */
  sessionId: string
}

/** A new authenticator app that has not been confirmed with a code yet. */
export interface NewApp {
  /** Base32 */
  secret: string
  /** For a QR code */
  uri: string
  /** The secret and the email of the account, encrypted for a hidden form field */
  sealed: string
}

/** Second factors of accounts: authenticator apps, passkeys and recovery codes. */
export function createSecondFactors(
  app: Pick<
    FastifyInstance,
    'config' | 'database' | 'stateStore' | 'publicBaseUrl' | 'brand' | 'hashIdentifier'
  >,
) {
  const { config, database, stateStore } = app
  const store = createSecondFactorStore(database)
  const cipher = createSecretCipher(config.sessionSecrets, 'authenticator apps v1')
  const passkeys = createPasskeys(app, store)

  async function isValidTotp(email: string, code: string): Promise<boolean> {
    const saved = await store.findApp(email)
    const secret = saved && cipher.decrypt(saved.secret)
    if (saved === null || secret === null) return false
    const step = verifyTotp(secret, code, { lastStep: saved.lastStep, now: Date.now() })
    // Encrypted again with the current key, because secrets outlive rotations of SESSION_SECRET.
    return step !== null && (await store.useStep(email, step, cipher.encrypt(secret)))
  }

  /** Adds a factor. If the account had no factor, creates and returns recovery codes. */
  const add = (
    { by, sessionId }: FactorOwner,
    type: 'app' | 'passkey',
    insert: (tx: Queryable) => Promise<void>,
  ): Promise<string[] | null> =>
    database.write(async (tx) => {
      const email = by.actor
      // Appending the entry first makes concurrent additions wait, so only one of them adds the
      // first factor.
      await appendAuditEntry(tx, { action: 'second_factor.added', ...by, details: { type } })
      const isFirst = !(await hasStoredFactor(tx, email))
      await insert(tx)
      await tx.query('UPDATE sessions SET multi_factor = 1 WHERE id = ?', [sessionId])
      if (!isFirst) return null
      const codes = createRecoveryCodes()
      await store.replaceRecoveryCodes(tx, email, codes.map(hashRecoveryCode))
      // The other sessions were started with only a password.
      await endSessions(tx, email, sessionId)
      return codes
    })

  return {
    passkeys,
    find: (email: string) => store.find(email),

    has: (email: string) => hasStoredFactor(database, email),

    /**
     * Checks a code from the authenticator app, or a recovery code, and uses it up. Throws a
     * Problem: 401 if it is wrong, 429 after too many wrong codes. Wrong codes on other devices
     * count neither against a known device nor against recovery codes, which cannot be guessed. So
     * strangers who know the password cannot lock the user out.
     *
     * @param device ID of a device that the account has signed in on before, or `null`
     */
    async useCode(
      email: string,
      code: string,
      device: string | null,
    ): Promise<'app' | 'recovery_code'> {
      if (isRecoveryCode(code)) {
        const isUsed = await store.useRecoveryCode(email, hashRecoveryCode(code))
        if (!isUsed) throw createWrongCodeProblem()
        return 'recovery_code'
      }
      const account = app.hashIdentifier('codes', email)
      const { waitMs, refund } = await consumeAll(
        stateStore,
        device === null
          ? [
              [`codes:${account}`, CODE_BUDGET],
              [`codes:day:${account}`, STRANGER_DAY_BUDGET],
            ]
          : [[`codes:device:${device}`, CODE_BUDGET]],
      )
      if (waitMs > 0) {
        throw createLimitProblem(
          'Too many wrong codes. Try again later, use a recovery code, or sign in on a device that you have used before.',
          waitMs,
        )
      }
      if (!(await isValidTotp(email, code.replace(/\s/g, '')))) throw createWrongCodeProblem()
      await refund()
      return 'app'
    },

    createApp(email: string, secret = createTotpSecret()): NewApp {
      return {
        secret,
        uri: buildTotpUri(secret, app.brand.name, email),
        sealed: cipher.encrypt(JSON.stringify([email, secret])),
      }
    },

    /** Decrypts the app from a submitted form; `null` if it is not valid for the account. */
    openApp(email: string, sealed: string): NewApp | null {
      const [owner, secret] = JSON.parse(cipher.decrypt(sealed) ?? '[]') as string[]
      return owner === email && secret !== undefined ? this.createApp(email, secret) : null
    },

    /**
     * Saves an authenticator app if the code is correct. Returns recovery codes if this is the
     * account's first second factor. Throws a Problem: 401 if the code is wrong, 409 if the account
     * already has an app.
     */
    async addApp(owner: FactorOwner, { secret }: NewApp, code: string): Promise<string[] | null> {
      const email = owner.by.actor
      const step = verifyTotp(secret, code.replace(/\s/g, ''), { lastStep: 0, now: Date.now() })
      if (step === null) throw createWrongCodeProblem()
      const encrypted = cipher.encrypt(secret)
      return add(owner, 'app', async (tx) => {
        if (!(await store.addApp(tx, { email, secret: encrypted, step }))) {
          throw new Problem(409, 'Your account has an authenticator app. Remove it first.')
        }
      })
    },

    /** Saves a passkey; returns recovery codes as `addApp` does. Throws a Problem (422). */
    async addPasskey(owner: FactorOwner, passkey: Passkey): Promise<string[] | null> {
      const { passkeys: existing } = await store.find(owner.by.actor)
      if (existing.length >= MAX_PASSKEYS) {
        throw new Problem(422, `An account can have ${MAX_PASSKEYS} passkeys. Remove one first.`)
      }
      return add(owner, 'passkey', async (tx) => {
        if (!(await store.addPasskey(tx, passkey))) {
          throw new Problem(422, 'This passkey is already registered.')
        }
      })
    },

    /** Removes the authenticator app, or a passkey. Returns whether it existed. */
    async remove(by: AuditActor, factor: { passkeyId: string } | 'app'): Promise<boolean> {
      const email = by.actor
      return database.write(async (tx) => {
        const isRemoved =
          factor === 'app'
            ? await store.deleteApp(tx, email)
            : await store.deletePasskey(tx, email, factor.passkeyId)
        // Recovery codes replace a lost factor, so an account without factors does not need them.
        await tx.query(
          `DELETE FROM recovery_codes WHERE email = ?
             AND NOT EXISTS (SELECT 1 FROM authenticator_apps WHERE email = ?)
             AND NOT EXISTS (SELECT 1 FROM passkeys WHERE email = ?)`,
          [email, email, email],
        )
        if (!(await hasStoredFactor(tx, email))) {
          await tx.query('UPDATE sessions SET multi_factor = 0 WHERE email = ?', [email])
        }
        if (isRemoved) {
          const details = { type: factor === 'app' ? 'app' : 'passkey' }
          await appendAuditEntry(tx, { action: 'second_factor.removed', ...by, details })
        }
        return isRemoved
      })
    },

    /** Replaces the recovery codes of an account, and returns the new ones. */
    async renewRecoveryCodes(by: AuditActor): Promise<string[]> {
      const codes = createRecoveryCodes()
      await database.write(async (tx) => {
        await store.replaceRecoveryCodes(tx, by.actor, codes.map(hashRecoveryCode))
        await appendAuditEntry(tx, { action: 'recovery_codes.created', ...by })
      })
      return codes
    },
  }
}

export type SecondFactors = ReturnType<typeof createSecondFactors>
