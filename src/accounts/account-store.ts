import { randomUUID } from 'node:crypto'
import { appendAuditEntry, type AuditAction, type AuditActor } from '../audit/audit-entry.js'
import { listSpellings, toMailbox } from '../core/validation/email-address.js'
import type { Database, Queryable } from '../database/database.js'
import type { AdminAccount } from './account-config.js'
import {
  consumeLink,
  createLink,
  deleteLinks,
  findLinkAccount,
  type LinkPurpose,
} from './account-links.js'
import type { AccountChanges, AccountState, ManagedAccount } from './account-schemas.js'
import type { Role } from './permissions.js'
import { deleteSecondFactors, listSecuredEmails } from './second-factor/second-factor-store.js'
import { endSessions } from './session-store.js'

/** An account that can sign in. */
export interface Account {
  /** In lower case */
  email: string
  role: Role
  /** Argon2id, as a PHC string */
  passwordHash: string
  /** Whether the account is listed in ADMIN_ACCOUNTS; if so, it cannot be changed here */
  isConfigured: boolean
}

/**
 * - `configured`: accounts from ADMIN_ACCOUNTS cannot be changed here
 * - `own_account`: users cannot change or delete their own account here, so an owner always remains
 */
export type AccountChangeResult =
  | { outcome: 'changed'; account: ManagedAccount }
  | { outcome: 'not_found' | 'configured' | 'own_account' }

interface Row {
  id: string
  email: string
  role: Role
  password_hash: string | null
  created_by: string
  created_at: number
  disabled_at: number | null
}

function getState({ disabled_at, password_hash }: Row): AccountState {
  if (disabled_at !== null) return 'disabled'
  return password_hash === null ? 'invited' : 'active'
}

type SecuredEmails = ReadonlySet<string>

const toManaged = (row: Row, secured: SecuredEmails): ManagedAccount => ({
  id: row.id,
  email: row.email,
  role: row.role,
  state: getState(row),
  source: 'portal',
  createdBy: row.created_by,
  createdAt: new Date(row.created_at).toISOString(),
  hasSecondFactor: secured.has(row.email),
})

const toConfigured = ({ email }: AdminAccount, secured: SecuredEmails): ManagedAccount => ({
  id: email,
  email,
  role: 'owner',
  state: 'active',
  source: 'configuration',
  createdBy: null,
  createdAt: null,
  hasSecondFactor: secured.has(email),
})

/**
 * Accounts from ADMIN_ACCOUNTS, which are owners, and accounts in the database. If both have the
 * same email, the one from ADMIN_ACCOUNTS takes precedence. Nothing is cached, so changes apply to
 * the next request in every process. Methods throw DatabaseUnavailableError; those that write also
 * throw CommitUnknownError.
 */
export function createAccountStore(database: Database, configured: readonly AdminAccount[]) {
  const byEmail = new Map(configured.map((account) => [account.email, account]))

  async function findRow(tx: Queryable, id: string): Promise<Row | null> {
    const [row] = await tx.query<Row>('SELECT * FROM accounts WHERE id = ?', [id])
    return row === undefined || byEmail.has(row.email) ? null : row
  }

  /** Changes an account. If `apply` returns actions, records them and ends the sessions. */
  const change = (
    id: string,
    by: AuditActor,
    apply: (tx: Queryable, row: Row) => Promise<AuditAction[]>,
  ): Promise<AccountChangeResult> =>
    database.write(async (tx) => {
      if (byEmail.has(id)) return { outcome: 'configured' }
      const row = await findRow(tx, id)
      if (row === null) return { outcome: 'not_found' }
      if (row.email === by.actor) return { outcome: 'own_account' }
      const actions = await apply(tx, row)
      if (actions.length > 0) await endSessions(tx, row.email)
      const account = toManaged((await findRow(tx, id)) ?? row, await listSecuredEmails(tx))
      const { email, role } = account
      for (const action of actions) {
        await appendAuditEntry(tx, { action, ...by, details: { id, email, role } })
      }
      return { outcome: 'changed', account }
    })

  async function setPassword(
    tx: Queryable,
    { id, email }: Row,
    { hash, action, address }: { hash: string; action: AuditAction; address: string | null },
  ): Promise<void> {
    await tx.query('UPDATE accounts SET password_hash = ? WHERE id = ?', [hash, id])
    await deleteLinks(tx, id)
    await endSessions(tx, email)
    await appendAuditEntry(tx, { action, actor: email, address })
  }

  /** Whether a link is usable: an invitation if the account is invited, a reset if it is active. */
  const canUseLink = (row: Row | null, purpose: LinkPurpose): row is Row =>
    row !== null && getState(row) === (purpose === 'invitation' ? 'invited' : 'active')

  /** @param email in lower case */
  async function findExact(email: string): Promise<Account | null> {
    const admin = byEmail.get(email)
    if (admin !== undefined) return { ...admin, role: 'owner', isConfigured: true }
    const [row] = await database.query<Row>(
      `SELECT * FROM accounts
       WHERE email = ? AND password_hash IS NOT NULL AND disabled_at IS NULL`,
      [email],
    )
    if (row?.password_hash == null) return null
    const { role, password_hash: passwordHash } = row
    return { email: row.email, role, passwordHash, isConfigured: false }
  }

  return {
    /** Finds the account that can sign in with an email, in any spelling; `null` if there is none. */
    async find(email: string): Promise<Account | null> {
      for (const spelling of listSpellings(email.toLowerCase())) {
        const account = await findExact(spelling)
        if (account !== null) return account
      }
      return null
    },

    /** Lists all accounts: those from ADMIN_ACCOUNTS first, then the others by email. */
    async list(): Promise<ManagedAccount[]> {
      const rows = await database.query<Row>('SELECT * FROM accounts ORDER BY email')
      const others = rows.filter(({ email }) => !byEmail.has(email))
      const secured = await listSecuredEmails(database)
      return [
        ...configured.map((account) => toConfigured(account, secured)),
        ...others.map((row) => toManaged(row, secured)),
      ]
    },

    /** Returns an account; `null` if it does not exist. */
    async get(id: string): Promise<ManagedAccount | null> {
      const secured = await listSecuredEmails(database)
      const admin = byEmail.get(id)
      if (admin !== undefined) return toConfigured(admin, secured)
      const row = await findRow(database, id)
      return row && toManaged(row, secured)
    },

    /**
     * Creates an account with an invitation; returns the token of its link, or `null` if the email
     * already has an account.
     *
     * @param email in lower case
     * @param onCreated runs in the same transaction
     */
    async invite(
      { email, role }: { email: string; role: Role },
      by: AuditActor,
      onCreated: (tx: Queryable, account: ManagedAccount) => Promise<void>,
    ): Promise<{ account: ManagedAccount; token: string } | null> {
      const mailbox = toMailbox(email)
      const isTaken = (emails: string[]) => emails.some((taken) => toMailbox(taken) === mailbox)
      if (isTaken([...byEmail.keys()])) return null
      const id = randomUUID()
      return database.write(async (tx) => {
        const existing = await tx.query<Pick<Row, 'email'>>('SELECT email FROM accounts')
        if (isTaken(existing.map((row) => row.email))) return null
        const [row] = await tx.query<Row>(
          `INSERT INTO accounts (id, email, role, password_hash, created_by, created_at, disabled_at)
           VALUES (?, ?, ?, NULL, ?, ?, NULL) ON CONFLICT (email) DO NOTHING RETURNING *`,
          [id, email, role, by.actor, Date.now()],
        )
        if (row === undefined) return null
        const account = toManaged(row, new Set())
        // A former account in ADMIN_ACCOUNTS may have left second factors behind.
        await deleteSecondFactors(tx, email)
        await onCreated(tx, account)
        const token = await createLink(tx, id, 'invitation')
        const details = { id, email, role }
        await appendAuditEntry(tx, { action: 'account.invited', ...by, details })
        return { account, token }
      })
    },

    /** Changes the role of an account, or disables or enables it. A change ends its sessions. */
    update: (id: string, { role, disabled }: AccountChanges, by: AuditActor) =>
      change(id, by, async (tx, row) => {
        const disabledAt = row.disabled_at ?? Date.now()
        const isDisabled = disabled ?? row.disabled_at !== null
        await tx.query('UPDATE accounts SET role = ?, disabled_at = ? WHERE id = ?', [
          role ?? row.role,
          isDisabled ? disabledAt : null,
          id,
        ])
        const wasDisabled = row.disabled_at !== null
        const actions: AuditAction[] = []
        if (role !== undefined && role !== row.role) actions.push('account.role_changed')
        if (isDisabled !== wasDisabled) {
          actions.push(isDisabled ? 'account.disabled' : 'account.enabled')
        }
        return actions
      }),

    /**
     * Removes the second factors of an account, for example when a phone is lost. Ends its
     * sessions.
     */
    removeSecondFactor: (id: string, by: AuditActor) =>
      change(id, by, async (tx, { email }) =>
        (await deleteSecondFactors(tx, email)) ? ['second_factor.removed'] : [],
      ),

    /** Deletes an account and its links, and ends its sessions. */
    remove: (id: string, by: AuditActor) =>
      change(id, by, async (tx, { email }) => {
        await deleteLinks(tx, id)
        await deleteSecondFactors(tx, email)
        await tx.query('DELETE FROM accounts WHERE id = ?', [id])
        return ['account.deleted']
      }),

    /**
     * Creates a link for an account. Returns `null` if the account is not in the state that the
     * purpose requires: `invited` for an invitation, `active` for a password reset.
     */
    createLink: (id: string, purpose: LinkPurpose): Promise<string | null> =>
      database.write(async (tx) =>
        canUseLink(await findRow(tx, id), purpose) ? createLink(tx, id, purpose) : null,
      ),

    /** Returns the account that a valid link is for; `null` if there is none. */
    async findByLink(purpose: LinkPurpose, token: string): Promise<ManagedAccount | null> {
      const id = await findLinkAccount(database, purpose, token)
      const row = id === null ? null : await findRow(database, id)
      return canUseLink(row, purpose) ? toManaged(row, await listSecuredEmails(database)) : null
    },

    /**
     * Sets the password of the account that a link is for. Deletes all links of the account, and
     * ends all its sessions. Returns `false` if the link is not valid.
     */
    setPasswordByLink: (
      purpose: LinkPurpose,
      token: string,
      { hash, address }: { hash: string; address: string | null },
    ): Promise<boolean> =>
      database.write(async (tx) => {
        const id = await consumeLink(tx, purpose, token)
        const row = id === null ? null : await findRow(tx, id)
        if (!canUseLink(row, purpose)) return false
        const action =
          purpose === 'invitation' ? 'account.invitation_accepted' : 'account.password_reset'
        await setPassword(tx, row, { hash, action, address })
        return true
      }),

    /**
     * Changes the password of an account in the database. Deletes its links, and ends its sessions.
     */
    changePassword: (
      email: string,
      { hash, address }: { hash: string; address: string | null },
    ): Promise<Account | null> =>
      database.write(async (tx) => {
        const [row] = await tx.query<Row>('SELECT * FROM accounts WHERE email = ?', [email])
        if (row === undefined || byEmail.has(email)) return null
        await setPassword(tx, row, { hash, action: 'account.password_changed', address })
        return { email, role: row.role, passwordHash: hash, isConfigured: false }
      }),
  }
}

export type AccountStore = ReturnType<typeof createAccountStore>
