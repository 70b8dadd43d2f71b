import { parse } from 'node:querystring'
import { appendAuditEntry, type AuditActor } from '../../audit/audit-entry.js'
import { eraseViewNames } from '../../audit/verify-chain.js'
import { getOwn } from '../../core/validation/formats.js'
import { isTextLine, removeInvisible } from '../../core/validation/text-rules.js'
import type { Database } from '../../database/database.js'
import { buildListUrl, parseListQuery } from '../order-filters.js'

/** A named list of orders, shared by all administrators. */
export interface SavedView {
  name: string
  /** URL of the list */
  href: string
}

interface Row {
  name: string
  /** Query string of the list */
  query: string
}

const MAX_VIEWS = 50
const MAX_NAME_LENGTH = 60

/** Flash messages by code. */
const MESSAGES = {
  'view-saved': 'The view was saved.',
  'view-removed': 'The view was removed.',
  'view-exists': 'A view with this name already exists. Remove it first, or choose another name.',
  'view-invalid': `Enter a name of up to ${MAX_NAME_LENGTH} characters.`,
  'view-limit': `You can save up to ${MAX_VIEWS} views. Remove one first.`,
} as const
type ViewCode = keyof typeof MESSAGES

/** The flash message with a code; `null` if there is none. */
export const getViewMessage = (code: string): string | null => getOwn(MESSAGES, code) ?? null

/** Normalises the query of a list: the first page, without invalid parameters. */
function toListUrl(query: string): string {
  const { query: parsed } = parseListQuery(parse(query))
  return buildListUrl({ ...parsed, page: 1 })
}

/** Stores saved views. Methods throw DatabaseUnavailableError. */
export function createSavedViews(database: Database) {
  return {
    /** Lists all views by name. */
    async list(): Promise<SavedView[]> {
      const rows = await database.query<Row>(
        'SELECT name, query FROM order_views ORDER BY lower(name), name',
      )
      return rows.map(({ name, query }) => ({ name, href: toListUrl(query) }))
    },

    /** Saves a list under a new name. */
    save: (givenName: string, query: string, by: AuditActor): Promise<ViewCode> =>
      database.write(async (tx) => {
        const name = removeInvisible(givenName)
        if (!isTextLine(name) || Array.from(name).length > MAX_NAME_LENGTH) return 'view-invalid'
        const [row] = await tx.query<{ count: number }>('SELECT count(*) AS count FROM order_views')
        if ((row?.count ?? 0) >= MAX_VIEWS) return 'view-limit'
        const saved = await tx.query(
          'INSERT INTO order_views VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING name',
          [name, toListUrl(query).split('?')[1] ?? '', by.actor, Date.now()],
        )
        if (saved.length === 0) return 'view-exists'
        await appendAuditEntry(tx, { action: 'view.saved', ...by, details: { name } })
        return 'view-saved'
      }),

    remove: (name: string, by: AuditActor): Promise<ViewCode> =>
      database.write(async (tx): Promise<ViewCode> => {
        const removed = await tx.query('DELETE FROM order_views WHERE name = ? RETURNING name', [
          name,
        ])
        if (removed.length > 0) {
          await appendAuditEntry(tx, { action: 'view.deleted', ...by, details: { name } })
        }
        return 'view-removed'
      }),

    /**
     * Removes the views that are about a customer, by their search or their name. Erases the names
     * of these views from the audit log.
     */
    removeSearches: (isAbout: (text: string) => boolean, by: AuditActor): Promise<void> =>
      database.write(async (tx) => {
        const views = await tx.query<Row>('SELECT name, query FROM order_views')
        const removed = views
          .filter(
            ({ name, query }) =>
              isAbout(name) || isAbout(new URLSearchParams(query).get('q') ?? ''),
          )
          .map(({ name }) => name)
        for (const name of removed) {
          await tx.query('DELETE FROM order_views WHERE name = ?', [name])
        }
        await eraseViewNames(tx, (name) => removed.includes(name) || isAbout(name), by)
      }),
  }
}

export type SavedViews = ReturnType<typeof createSavedViews>
