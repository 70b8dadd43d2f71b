import { createHash, randomInt, randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { Type, type Static } from '@sinclair/typebox'
import { appendAuditEntry, type AuditActor } from '../../audit/audit-entry.js'
import { MINUTE_MS } from '../../core/time.js'
import { checker, type ValidationResult } from '../../core/validation/field-errors.js'
import { stringEnum } from '../../core/validation/formats.js'
import { textLine } from '../../core/validation/text-rules.js'
import { insertRow, type Database } from '../../database/database.js'
import { API_KEY_SCOPE_NAMES, type ApiKeyScope } from '../permissions.js'
import { createUseRecorder } from '../session-store.js'

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
const hashKey = (key: string): string => createHash('sha256').update(key).digest('base64url')

/** The end of a key, by which people recognise it. */
const getKeyHint = (key: string): string => key.slice(-4)

const Scope = stringEnum<ApiKeyScope>(API_KEY_SCOPE_NAMES)

const dateTime = (description: string) => Type.String({ format: 'date-time', description })
const nullableDateTime = (description: string) =>
  Type.Union([dateTime(description), Type.Null()], { description })

/** What the responses about new and existing keys have in common. */
export const apiKeyFields = {
  id: Type.String({ description: 'ID of the key' }),
  name: Type.String(),
  scopes: Type.Array(Scope),
  createdAt: dateTime('When the key was created'),
  expiresAt: nullableDateTime('When the key expires; null if never'),
}

/** An API key, without the key itself. */
export const ApiKey = Type.Object({
  ...apiKeyFields,
  hint: Type.String({ description: 'The last characters of the key' }),
  createdBy: Type.String(),
  lastUsedAt: nullableDateTime('When the key was last used, to within a few minutes'),
  revokedAt: nullableDateTime('When the key was revoked'),
})
export type ApiKey = Static<typeof ApiKey>

export const NewApiKeyRequest = Type.Object(
  {
    name: textLine({
      maxLength: 80,
      description: 'What the key is for; shown in the history of the orders that it changes',
    }),
    scopes: Type.Array(Scope, {
      minItems: 1,
      uniqueItems: true,
      description: 'What the key can do',
    }),
    expiresAt: Type.Optional(
      Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
        description: 'When the key expires; if omitted or null, it does not expire',
      }),
    ),
  },
  {
    title: 'New API key',
    additionalProperties: false,
    examples: [{ name: 'Web shop', scopes: ['orders:read', 'orders:write'] }],
  },
)
export type NewApiKeyRequest = Static<typeof NewApiKeyRequest>

const validate = checker(NewApiKeyRequest)

/** Validates a key to create, and lists every error. */
export function validateNewApiKey(value: unknown): ValidationResult<NewApiKeyRequest> {
  const result = validate(value)
  if (!result.ok || result.value.expiresAt == null) return result
  return Date.parse(result.value.expiresAt) > Date.now()
    ? result
    : { ok: false, errors: [{ path: 'expiresAt', message: 'must be in the future' }] }
}

interface Row {
  id: string
  key_hash: string
  hint: string
  name: string
  scopes: string
  created_by: string
  created_at: number
  expires_at: number | null
  last_used_at: number | null
  revoked_at: number | null
}

const LAST_USED_PRECISION_MS = 5 * MINUTE_MS

const formatTime = (time: number | null): string | null =>
  time === null ? null : new Date(time).toISOString()

const toApiKey = (row: Row): ApiKey => ({
  id: row.id,
  name: row.name,
  hint: row.hint,
  scopes: JSON.parse(row.scopes) as ApiKeyScope[],
  createdBy: row.created_by,
  createdAt: new Date(row.created_at).toISOString(),
  expiresAt: formatTime(row.expires_at),
  lastUsedAt: formatTime(row.last_used_at),
  revokedAt: formatTime(row.revoked_at),
})

/** Whether a key can be used. */
export const isActive = ({ expiresAt, revokedAt }: ApiKey): boolean =>
  revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.now())

/**
 * Stores API keys as hashes. Methods throw DatabaseUnavailableError; `create` and `revoke` also
 * throw CommitUnknownError.
 */
export function createApiKeyStore(database: Database) {
  const recordUse = createUseRecorder(database, {
    sql: 'UPDATE api_keys SET last_used_at = ? WHERE id = ?',
    precisionMs: LAST_USED_PRECISION_MS,
  })

  return {
    /** Creates a key; the key itself is returned only here. */
    async create(
      { name, scopes, expiresAt = null }: NewApiKeyRequest,
      by: AuditActor,
    ): Promise<ApiKey & { key: string }> {
      const key = createKey()
      const now = Date.now()
      const row: Row = {
        id: randomUUID(),
        key_hash: hashKey(key),
        hint: getKeyHint(key),
        name,
        scopes: JSON.stringify(scopes),
        created_by: by.actor,
        created_at: now,
        expires_at: expiresAt === null ? null : Date.parse(expiresAt),
        last_used_at: null,
        revoked_at: null,
      }
      await database.write(async (tx) => {
        await insertRow(tx, 'api_keys', row)
        const details = { id: row.id, name, scopes, expiresAt }
        await appendAuditEntry(tx, { action: 'api_key.created', ...by, details })
      })
      return { ...toApiKey(row), key }
    },

    /** Lists all keys, newest first. */
    async list(): Promise<ApiKey[]> {
      const rows = await database.query<Row>('SELECT * FROM api_keys ORDER BY created_at DESC, id')
      return rows.map(toApiKey)
    },

    /** Revokes a key immediately in every process; returns whether it exists. */
    revoke: (id: string, by: AuditActor): Promise<boolean> =>
      database.write(async (tx) => {
        const [revoked] = await tx.query<Pick<Row, 'name'>>(
          'UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL RETURNING name',
          [Date.now(), id],
        )
        if (revoked === undefined) {
          return (await tx.query('SELECT id FROM api_keys WHERE id = ?', [id])).length > 0
        }
        const details = { id, name: revoked.name }
        await appendAuditEntry(tx, { action: 'api_key.revoked', ...by, details })
        return true
      }),

    /**
     * Returns the active key for a token; `null` if there is none. The key is looked up for every
     * request, so that a revoked key is rejected immediately.
     */
    async authenticate(token: string): Promise<ApiKey | null> {
      if (!isWellFormedKey(token)) return null
      const [row] = await database.query<Row>('SELECT * FROM api_keys WHERE key_hash = ?', [
        hashKey(token),
      ])
      const key = row === undefined ? null : toApiKey(row)
      return key && isActive(key) ? key : null
    },

    /** Records that a key was used, at most once in 5 minutes. */
    touch: ({ id, lastUsedAt }: ApiKey): Promise<void> =>
      recordUse(id, lastUsedAt === null ? 0 : Date.parse(lastUsedAt)),
  }
}

export type ApiKeyStore = ReturnType<typeof createApiKeyStore>
