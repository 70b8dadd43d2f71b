import type { Database, Queryable } from '../../database/database.js'

/** A passkey (WebAuthn credential). Timestamps are in ms since 1970. */
export interface Passkey {
  /** Credential ID, Base64url */
  id: string
  email: string
  name: string
  /** COSE, Base64url */
  publicKey: string
  signCount: number
  transports: string[]
  createdAt: number
  lastUsedAt: number | null
}

/** The second factors of an account. */
interface SecondFactors {
  /** When the authenticator app was added; `null` if there is none */
  appAddedAt: number | null
  passkeys: Passkey[]
  /** Number of unused codes */
  recoveryCodes: number
}

/** A passkey; its transports are JSON. */
type PasskeyRow = Omit<Passkey, 'transports'> & { transports: string }

const SELECT_PASSKEYS = `SELECT id, email, name, public_key AS "publicKey",
  sign_count AS "signCount", transports, created_at AS "createdAt", last_used_at AS "lastUsedAt"
  FROM passkeys`

const toPasskey = ({ transports, ...row }: PasskeyRow): Passkey => ({
  ...row,
  transports: JSON.parse(transports) as string[],
})

/** Whether an account has a factor besides its password. */
export const hasSecondFactor = ({ appAddedAt, passkeys }: SecondFactors): boolean =>
  appAddedAt !== null || passkeys.length > 0

async function replaceRecoveryCodes(
  tx: Queryable,
  email: string,
  hashes: readonly string[],
): Promise<void> {
  await tx.query('DELETE FROM recovery_codes WHERE email = ?', [email])
  for (const hash of hashes) {
    await tx.query('INSERT INTO recovery_codes (code_hash, email) VALUES (?, ?)', [hash, email])
  }
}

/** Whether an account has a factor besides its password. */
export async function hasStoredFactor(tx: Queryable, email: string): Promise<boolean> {
  const rows = await tx.query(
    `SELECT email FROM authenticator_apps WHERE email = ?
     UNION ALL SELECT email FROM passkeys WHERE email = ?`,
    [email, email],
  )
  return rows.length > 0
}

/** The emails of all accounts that have a factor besides their password. */
export async function listSecuredEmails(tx: Queryable): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ email: string }>(
    'SELECT email FROM authenticator_apps UNION SELECT email FROM passkeys',
  )
  return new Set(rows.map(({ email }) => email))
}

/** Removes every second factor of an account; returns whether there was one. */
export async function deleteSecondFactors(tx: Queryable, email: string): Promise<boolean> {
  let isRemoved = false
  for (const table of ['authenticator_apps', 'passkeys', 'recovery_codes']) {
    const rows = await tx.query(`DELETE FROM ${table} WHERE email = ? RETURNING email`, [email])
    isRemoved ||= rows.length > 0
  }
  return isRemoved
}

/** Second factors of accounts, by email. Methods throw DatabaseUnavailableError. */
export function createSecondFactorStore(database: Database) {
  return {
    async find(email: string): Promise<SecondFactors> {
      const [app] = await database.query<{ created_at: number }>(
        'SELECT created_at FROM authenticator_apps WHERE email = ?',
        [email],
      )
      const passkeys = await database.query<PasskeyRow>(
        `${SELECT_PASSKEYS} WHERE email = ? ORDER BY created_at, id`,
        [email],
      )
      const [codes] = await database.query<{ count: number }>(
        'SELECT count(*) AS count FROM recovery_codes WHERE email = ?',
        [email],
      )
      return {
        appAddedAt: app?.created_at ?? null,
        passkeys: passkeys.map(toPasskey),
        recoveryCodes: codes?.count ?? 0,
      }
    },

    /** Returns the encrypted secret of the authenticator app and the step of its last code. */
    async findApp(email: string): Promise<{ secret: string; lastStep: number } | null> {
      const [row] = await database.query<{ secret: string; last_step: number }>(
        'SELECT secret, last_step FROM authenticator_apps WHERE email = ?',
        [email],
      )
      return row === undefined ? null : { secret: row.secret, lastStep: row.last_step }
    },

    /**
     * Records that a code was used, and stores the secret. Returns false if this code or a later
     * code was used before.
     *
     * @param secret encrypted with the current key
     */
    async useStep(email: string, step: number, secret: string): Promise<boolean> {
      const rows = await database.query(
        `UPDATE authenticator_apps SET last_step = ?, secret = ?
         WHERE email = ? AND last_step < ? RETURNING email`,
        [step, secret, email, step],
      )
      return rows.length > 0
    },

    async findPasskey(id: string): Promise<Passkey | null> {
      const [row] = await database.query<PasskeyRow>(`${SELECT_PASSKEYS} WHERE id = ?`, [id])
      return row === undefined ? null : toPasskey(row)
    },

    async recordUse(id: string, signCount: number): Promise<void> {
      await database.query('UPDATE passkeys SET sign_count = ?, last_used_at = ? WHERE id = ?', [
        signCount,
        Date.now(),
        id,
      ])
    },

    /** Deletes a recovery code; returns false if it does not belong to the account or was used. */
    async useRecoveryCode(email: string, hash: string): Promise<boolean> {
      const rows = await database.query(
        'DELETE FROM recovery_codes WHERE code_hash = ? AND email = ? RETURNING email',
        [hash, email],
      )
      return rows.length > 0
    },

    replaceRecoveryCodes,

    /** Returns false if the account already has an app. */
    async addApp(
      tx: Queryable,
      { email, secret, step }: { email: string; secret: string; step: number },
    ): Promise<boolean> {
      const rows = await tx.query(
        `INSERT INTO authenticator_apps (email, secret, last_step, created_at)
         VALUES (?, ?, ?, ?) ON CONFLICT (email) DO NOTHING RETURNING email`,
        [email, secret, step, Date.now()],
      )
      return rows.length > 0
    },

    async deleteApp(tx: Queryable, email: string): Promise<boolean> {
      const rows = await tx.query(
        'DELETE FROM authenticator_apps WHERE email = ? RETURNING email',
        [email],
      )
      return rows.length > 0
    },

    /** Returns false if a passkey with this ID already exists. */
    async addPasskey(tx: Queryable, passkey: Passkey): Promise<boolean> {
      const rows = await tx.query(
        `INSERT INTO passkeys (id, email, name, public_key, sign_count, transports, created_at, last_used_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO NOTHING RETURNING id`,
        [
          passkey.id,
          passkey.email,
          passkey.name,
          passkey.publicKey,
          passkey.signCount,
          JSON.stringify(passkey.transports),
          passkey.createdAt,
          passkey.lastUsedAt,
        ],
      )
      return rows.length > 0
    },

    async deletePasskey(tx: Queryable, email: string, id: string): Promise<boolean> {
      const rows = await tx.query('DELETE FROM passkeys WHERE id = ? AND email = ? RETURNING id', [
        id,
        email,
      ])
      return rows.length > 0
    },
  }
}

export type SecondFactorStore = ReturnType<typeof createSecondFactorStore>
