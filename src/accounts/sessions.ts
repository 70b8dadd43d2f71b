import { createHash, randomBytes, randomUUID, createHmac } from 'node:crypto'
import type { Database } from '../database/database.js'
import { createUseRecorder } from '../database/use-recorder.js'
import { Problem } from '../core/http/problem.js'
import type { Role } from './permissions.js'
import { endSessions } from './end-sessions.js'
import { hasStoredFactor } from './second-factor/second-factor-store.js'
import type { FastifyInstance } from 'fastify'
import type { Account } from './account-store.js'
import { deriveKey, timingSafeEqualText } from '../core/config/signer.js'
import { MINUTE_MS } from '../core/time.js'

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

/** The client that a session is started for. */
type SessionClient = Pick<Session, 'userAgent' | 'address'>

/** The user of a session. */
interface SessionAccount {
  email: string
  role: Role
}

interface Row {
  id: string
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

const COLUMNS =
  'id, email, user_agent, address, created_at, last_seen_at, expires_at, authenticated_at, multi_factor'

/** How long a session may be idle, by role, in ms; `null` if there is no limit. */
const getIdleLimitMs = (role: Role): number | null => (role === 'owner' ? OWNER_IDLE_MS : null)

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
  const idleLimitMs = getIdleLimitMs(role)
  const isIdle = idleLimitMs !== null && now - lastSeenAt >= idleLimitMs
  return expiresAt > now && expiresAt - now <= MAX_REMAINING_MS && !isIdle
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
      { userAgent, address }: SessionClient,
      isMultiFactor: boolean,
    ): Promise<Session & { secret: string }> {
      const now = Date.now()
      const session: Session = {
        id: randomUUID(),
        email,
        userAgent: userAgent.slice(0, MAX_USER_AGENT_LENGTH),
        address,
        createdAt: now,
        lastSeenAt: now,
        // Whole seconds, as in JWTs and cookies
        expiresAt: Math.floor((now + SESSION_MS) / 1000) * 1000,
        authenticatedAt: now,
        isMultiFactor,
      }
      const secret = randomBytes(32).toString('base64url')
      await database.write(async (tx) => {
        if (!isMultiFactor && (await hasStoredFactor(tx, email))) {
          throw new Problem(401, 'Sign in to continue.', {
            headers: { 'www-authenticate': 'Bearer' },
          })
        }
        await tx.query(
          `INSERT INTO sessions (token_hash, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          [
            hashSecret(secret),
            session.id,
            session.email,
            session.userAgent,
            session.address,
            session.createdAt,
            session.lastSeenAt,
            session.expiresAt,
            session.authenticatedAt,
            isMultiFactor ? 1 : 0,
          ],
        )
      })
      return { ...session, secret }
    },

    /** Returns the account's active session that has this secret; `null` if there is none. */
    async find(secret: string, account: SessionAccount): Promise<Session | null> {
      const [row] = await database.query<Row>(
        `SELECT ${COLUMNS} FROM sessions WHERE token_hash = ?`,
        [hashSecret(secret)],
      )
      if (row?.email !== account.email) return null
      const session = toSession(row)
      return isActive(session, account) ? session : null
    },

    /** Records that a session was used, at most once a minute. */
    touch: ({ id, lastSeenAt }: Session): Promise<void> => recordUse(id, lastSeenAt),

    /** Lists the active sessions of an account, most recently used first; at most 100. */
    async list(account: SessionAccount): Promise<Session[]> {
      const rows = await database.query<Row>(
        `SELECT ${COLUMNS} FROM sessions WHERE email = ? ORDER BY last_seen_at DESC, id LIMIT ?`,
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

interface Claims {
  /** Email of the account */
  sub: string
  /** Secret of the session */
  jti: string
  /** Changes with the password */
  mark: string
  /** Unix time, seconds */
  exp: number
}

declare module '@fastify/jwt' {
  interface FastifyJWT {
    payload: Claims
  }
}

interface SessionTokens {
  issue(account: Account, session: { secret: string; expiresAt: number }): string
  /**
   * Returns the account and the session secret in a token; `null` if the token is invalid or
   * expired, or if the password has changed.
   */
  verify(token: string): Promise<{ account: Account; secret: string } | null>
}

/** Session tokens: JWTs that carry a session's secret, signed with the settings of @fastify/jwt. */
export function createSessionTokens(
  { jwt, accounts }: Pick<FastifyInstance, 'jwt' | 'accounts'>,
  secret: string,
): SessionTokens {
  const key = deriveKey(secret, 'password mark v1')
  // The mark changes with the password, so a new password ends all earlier sessions.
  const getPasswordMark = ({ passwordHash }: Account): string =>
    createHmac('sha256', key).update(passwordHash).digest('base64url').slice(0, 22)

  function verifyClaims(token: string): Claims | null {
    try {
      return jwt.verify<Claims>(token)
    } catch {
      return null
    }
  }

  return {
    issue: (account, session) =>
      jwt.sign({
        sub: account.email,
        jti: session.secret,
        mark: getPasswordMark(account),
        exp: session.expiresAt / 1000,
      }),
    async verify(token) {
      const claims = verifyClaims(token)
      const account = claims && (await accounts.find(claims.sub))
      if (!account || !timingSafeEqualText(claims.mark, getPasswordMark(account))) return null
      return { account, secret: claims.jti }
    },
  }
}
