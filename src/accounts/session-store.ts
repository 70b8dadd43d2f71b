import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { Problem } from '../core/http/problem.js'
import { MINUTE_MS } from '../core/time.js'
import { insertRow, type Database, type Queryable } from '../database/database.js'
import type { Role } from './permissions.js'
import { hasStoredFactor } from './second-factor/second-factor-store.js'

interface UseRecorderOptions {
  /** Statement with the time and the ID as parameters */
  sql: string
  /** Recording every use would require a write on every request. */
  precisionMs: number
}

/**
 * Returns a function that records when something was last used, at most once per `precisionMs`. Do
 * not wait for it, because a write takes long while the database is locked. Throws
 * DatabaseUnavailableError.
 */
export function createUseRecorder(database: Database, { sql, precisionMs }: UseRecorderOptions) {
  /** IDs whose last use is being written */
  const writing = new Set<string>()

  /** @param lastUsedAt the last recorded use, ms since 1970 */
  return async (id: string, lastUsedAt: number): Promise<void> => {
    const now = Date.now()
    // The last use is in the future if the clock was set back.
    if (Math.abs(now - lastUsedAt) < precisionMs || writing.has(id)) return
    writing.add(id)
    try {
      await database.query(sql, [now, id])
    } finally {
      writing.delete(id)
    }
  }
}

/** A session of a user. Timestamps are in ms since 1970. */
export interface Session {
  /** Public: it appears in lists and URLs, and gives no access */
  id: string
  email: string
  /** The User-Agent header; may be empty */
  userAgent: string
  /** Network address */
  address: string
  createdAt: number
  /** To within a minute; requests that a page sends by itself do not count */
  lastSeenAt: number
  expiresAt: number
  /** When the user last signed in or confirmed the session */
  authenticatedAt: number
  /** Whether a second factor was used */
  isMultiFactor: boolean
}

/** The user of a session. */
interface SessionAccount {
  email: string
  role: Role
}

interface Row {
  id: string
  token_hash: string
  email: string
  user_agent: string
  address: string
  created_at: number
  last_seen_at: number
  expires_at: number
  authenticated_at: number
  multi_factor: number
}

/** How long a session lasts, however much it is used. */
const SESSION_MS = 8 * 60 * MINUTE_MS
const OWNER_IDLE_MS = 30 * MINUTE_MS

const LAST_SEEN_PRECISION_MS = MINUTE_MS

/** Sessions with more time left than this are rejected: the clock was ahead when they started. */
const MAX_REMAINING_MS = 2 * SESSION_MS

const MAX_USER_AGENT_LENGTH = 300
const MAX_LISTED = 100

const hashSecret = (secret: string): string =>
  createHash('sha256').update(secret).digest('base64url')

const toSession = (row: Row): Session => ({
  id: row.id,
  email: row.email,
  userAgent: row.user_agent,
  address: row.address,
  createdAt: row.created_at,
  lastSeenAt: row.last_seen_at,
  expiresAt: row.expires_at,
  authenticatedAt: row.authenticated_at,
  isMultiFactor: row.multi_factor === 1,
})

function isActive({ lastSeenAt, expiresAt }: Session, { role }: SessionAccount): boolean {
  const now = Date.now()
  const isIdle = role === 'owner' && now - lastSeenAt >= OWNER_IDLE_MS
  return expiresAt > now && expiresAt - now <= MAX_REMAINING_MS && !isIdle
}

/**
 * Ends all sessions of an account, except `exceptSessionId` if it is given. Every request looks up
 * its session, so this takes effect immediately in every process.
 *
 * @param email in lower case
 */
export async function endSessions(
  tx: Queryable,
  email: string,
  exceptSessionId = '',
): Promise<void> {
  await tx.query('DELETE FROM sessions WHERE email = ? AND id <> ?', [email, exceptSessionId])
}

/**
 * Stores sessions. Only the hash of a session's secret is stored. Methods throw
 * DatabaseUnavailableError; `start` also throws CommitUnknownError.
 */
export function createSessions(database: Database) {
  const recordUse = createUseRecorder(database, {
    sql: 'UPDATE sessions SET last_seen_at = ? WHERE id = ?',
    precisionMs: LAST_SEEN_PRECISION_MS,
  })

  return {
    /**
     * Starts a session; its secret is returned only here. Throws a Problem (401) if a second factor
     * was added to the account after the password was checked.
     */
    async start(
      { email }: SessionAccount,
      { userAgent, address }: Pick<Session, 'userAgent' | 'address'>,
      isMultiFactor: boolean,
    ): Promise<Session & { secret: string }> {
      const now = Date.now()
      const secret = randomBytes(32).toString('base64url')
      const row: Row = {
        id: randomUUID(),
        token_hash: hashSecret(secret),
        email,
        user_agent: userAgent.slice(0, MAX_USER_AGENT_LENGTH),
        address,
        created_at: now,
        last_seen_at: now,
        // Whole seconds, as in JWTs and cookies
        expires_at: Math.floor((now + SESSION_MS) / 1000) * 1000,
        authenticated_at: now,
        multi_factor: isMultiFactor ? 1 : 0,
      }
      await database.write(async (tx) => {
        if (!isMultiFactor && (await hasStoredFactor(tx, email))) {
          throw new Problem(401, 'Sign in to continue.', {
            headers: { 'www-authenticate': 'Bearer' },
          })
        }
        await insertRow(tx, 'sessions', row)
      })
      return { ...toSession(row), secret }
    },

    /** Returns the account's active session that has this secret; `null` if there is none. */
    async find(secret: string, account: SessionAccount): Promise<Session | null> {
      const [row] = await database.query<Row>('SELECT * FROM sessions WHERE token_hash = ?', [
        hashSecret(secret),
      ])
      if (row?.email !== account.email) return null
      const session = toSession(row)
      return isActive(session, account) ? session : null
    },

    /** Records that a session was used, at most once a minute. */
    touch: ({ id, lastSeenAt }: Session): Promise<void> => recordUse(id, lastSeenAt),

    /** Lists the active sessions of an account, most recently used first; at most 100. */
    async list(account: SessionAccount): Promise<Session[]> {
      const rows = await database.query<Row>(
        'SELECT * FROM sessions WHERE email = ? ORDER BY last_seen_at DESC, id LIMIT ?',
        [account.email, MAX_LISTED],
      )
      return rows.map(toSession).filter((session) => isActive(session, account))
    },

    /** Ends a session of an account; returns whether it existed. */
    async end(email: string, id: string): Promise<boolean> {
      const rows = await database.query(
        'DELETE FROM sessions WHERE id = ? AND email = ? RETURNING id',
        [id, email],
      )
      return rows.length > 0
    },

    /** Ends all sessions of an account except one. */
    endOthers: (email: string, id: string): Promise<void> => endSessions(database, email, id),

    async deleteExpired(): Promise<void> {
      await database.query('DELETE FROM sessions WHERE expires_at <= ?', [Date.now()])
    },
  }
}

export type Sessions = ReturnType<typeof createSessions>

type Rule = readonly [pattern: RegExp, name: string]

/** The order matters, because browsers also name other browsers that they are compatible with. */
const BROWSERS: readonly Rule[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bVersion\/[\d.]+ .*\bSafari\//, 'Safari'],
]

const SYSTEMS: readonly Rule[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

const findName = (rules: readonly Rule[], text: string): string | undefined =>
  rules.find(([pattern]) => pattern.test(text))?.[1]

/**
 * Returns a readable name for a User-Agent header, such as “Firefox on Windows” or “curl”. Clients
 * choose the header, so the name proves nothing.
 */
export function getBrowserName(userAgent: string): string {
  const browser = findName(BROWSERS, userAgent)
  const system = findName(SYSTEMS, userAgent)
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`
  const [, program] = /^(?!Mozilla\/)([\w.-]{1,40})(?:\/|$)/.exec(userAgent) ?? []
  return program ?? (system === undefined ? 'Unknown' : `Browser on ${system}`)
}
