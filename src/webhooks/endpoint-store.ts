import type { Queryable, SqlValue } from '../database/database.js'
import { type WebhookEventType, getQueue } from './message.js'
import { cancelMessages } from '../events/outbox.js'

/**
 * - `administrator`: disabled by an administrator
 * - `gone`: it responded with status 410
 * - `failing`: all its deliveries failed for days
 *
 * The reasons are stored, so never rename a reason.
 */
export const DISABLED_REASONS = ['administrator', 'gone', 'failing'] as const
export type DisabledReason = (typeof DISABLED_REASONS)[number]

/** An endpoint, without its secrets. Timestamps are in ms since 1970. */
export interface WebhookEndpoint {
  id: string
  url: string
  description: string
  events: WebhookEventType[]
  /** `null` while it is enabled */
  disabledReason: DisabledReason | null
  disabledAt: number | null
  /** The first failure since the last success */
  failingSince: number | null
  /** Until then, deliveries are also signed with the previous secret */
  previousSecretExpiresAt: number | null
  createdAt: number
  updatedAt: number
}

/** The signing secrets of an endpoint, encrypted. */
interface EndpointSecrets {
  secret: string
  previousSecret: string | null
}

interface EndpointRow {
  id: string
  url: string
  description: string
  events: string
  secret: string
  previous_secret: string | null
  previous_secret_expires_at: number | null
  disabled_reason: DisabledReason | null
  disabled_at: number | null
  failing_since: number | null
  created_at: number
  updated_at: number
}

const toEndpoint = (row: EndpointRow): WebhookEndpoint => ({
  id: row.id,
  url: row.url,
  description: row.description,
  events: JSON.parse(row.events) as WebhookEventType[],
  disabledReason: row.disabled_reason,
  disabledAt: row.disabled_at,
  failingSince: row.failing_since,
  previousSecretExpiresAt: row.previous_secret_expires_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

/** Lists all endpoints, oldest first. */
export async function listEndpoints(tx: Queryable): Promise<WebhookEndpoint[]> {
  const rows = await tx.query<EndpointRow>(
    'SELECT * FROM webhook_endpoints ORDER BY created_at, id',
  )
  return rows.map(toEndpoint)
}

/** Returns an endpoint with its secrets; `null` if it does not exist. */
export async function getEndpoint(
  tx: Queryable,
  id: string,
): Promise<(EndpointSecrets & { endpoint: WebhookEndpoint }) | null> {
  const [row] = await tx.query<EndpointRow>('SELECT * FROM webhook_endpoints WHERE id = ?', [id])
  if (row === undefined) return null
  const { secret, previous_secret: previousSecret } = row
  return { endpoint: toEndpoint(row), secret, previousSecret }
}

/** Returns the IDs of the enabled endpoints that subscribe to an event. */
export async function listSubscribers(tx: Queryable, event: WebhookEventType): Promise<string[]> {
  const rows = await tx.query<Pick<EndpointRow, 'id' | 'events'>>(
    'SELECT id, events FROM webhook_endpoints WHERE disabled_reason IS NULL',
  )
  return rows
    .filter(({ events }) => (JSON.parse(events) as string[]).includes(event))
    .map(({ id }) => id)
}

export async function insertEndpoint(
  tx: Queryable,
  endpoint: Pick<WebhookEndpoint, 'id' | 'url' | 'description' | 'events' | 'createdAt'>,
  secret: string,
): Promise<void> {
  const { id, url, description, events, createdAt } = endpoint
  await tx.query(
    `INSERT INTO webhook_endpoints (id, url, description, events, secret, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [id, url, description, JSON.stringify(events), secret, createdAt, createdAt],
  )
}

const COLUMNS = {
  url: 'url',
  description: 'description',
  events: 'events',
  secret: 'secret',
  previousSecret: 'previous_secret',
  previousSecretExpiresAt: 'previous_secret_expires_at',
  disabledReason: 'disabled_reason',
  disabledAt: 'disabled_at',
  failingSince: 'failing_since',
  updatedAt: 'updated_at',
} as const satisfies Record<string, keyof EndpointRow>

export type EndpointChanges = Partial<Pick<WebhookEndpoint & EndpointSecrets, keyof typeof COLUMNS>>

/** Sets the given fields of an endpoint. */
export async function updateEndpoint(
  tx: Queryable,
  id: string,
  changes: EndpointChanges,
): Promise<void> {
  const names = Object.keys(changes) as (keyof typeof COLUMNS)[]
  if (names.length === 0) return
  const values = names.map((name): SqlValue => {
    const value = changes[name] ?? null
    return Array.isArray(value) ? JSON.stringify(value) : value
  })
  await tx.query(
    `UPDATE webhook_endpoints SET ${names.map((name) => `${COLUMNS[name]} = ?`).join(', ')} WHERE id = ?`,
    [...values, id],
  )
}

export async function deleteEndpoint(tx: Queryable, id: string): Promise<void> {
  await tx.query('DELETE FROM webhook_endpoints WHERE id = ?', [id])
}

/** Disables an endpoint and cancels its pending deliveries, in the caller's transaction. */
export async function disableEndpoint(
  tx: Queryable,
  id: string,
  reason: DisabledReason,
  now: number,
): Promise<void> {
  await updateEndpoint(tx, id, { disabledReason: reason, disabledAt: now, updatedAt: now })
  await cancelMessages(tx, getQueue(id))
}
