import type { Queryable, SqlValue } from '../database/database.js'
import { cancelMessages } from '../outbox/messages.js'
import { getQueue, type WebhookEventType } from './webhook-message.js'

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

type EndpointRow = Omit<WebhookEndpoint, 'events'> & { events: string }

const COLUMNS = {
  id: 'id',
  url: 'url',
  description: 'description',
  events: 'events',
  disabledReason: 'disabled_reason',
  disabledAt: 'disabled_at',
  failingSince: 'failing_since',
  previousSecretExpiresAt: 'previous_secret_expires_at',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
} as const satisfies Record<keyof WebhookEndpoint, string>

const ALL_COLUMNS = {
  ...COLUMNS,
  secret: 'secret',
  previousSecret: 'previous_secret',
} as const satisfies Record<keyof (WebhookEndpoint & EndpointSecrets), string>

const select = (columns: Record<string, string>): string =>
  Object.entries(columns)
    .map(([field, column]) => `${column} AS "${field}"`)
    .join(', ')

const toEndpoint = (row: EndpointRow): WebhookEndpoint => ({
  ...row,
  events: JSON.parse(row.events) as WebhookEventType[],
})

/** Lists all endpoints, oldest first. */
export async function listEndpoints(tx: Queryable): Promise<WebhookEndpoint[]> {
  const rows = await tx.query<EndpointRow>(
    `SELECT ${select(COLUMNS)} FROM webhook_endpoints ORDER BY created_at, id`,
  )
  return rows.map(toEndpoint)
}

/** Returns an endpoint; `null` if it does not exist. */
export async function getEndpoint(tx: Queryable, id: string): Promise<WebhookEndpoint | null> {
  const [row] = await tx.query<EndpointRow>(
    `SELECT ${select(COLUMNS)} FROM webhook_endpoints WHERE id = ?`,
    [id],
  )
  return row === undefined ? null : toEndpoint(row)
}

/** Returns an endpoint with its secrets; `null` if it does not exist. */
export async function getEndpointWithSecrets(
  tx: Queryable,
  id: string,
): Promise<(WebhookEndpoint & EndpointSecrets) | null> {
  const [row] = await tx.query<EndpointRow & EndpointSecrets>(
    `SELECT ${select(ALL_COLUMNS)} FROM webhook_endpoints WHERE id = ?`,
    [id],
  )
  return row === undefined ? null : { ...row, ...toEndpoint(row) }
}

/** Returns the IDs of the enabled endpoints that subscribe to an event. */
export async function listSubscribers(tx: Queryable, event: WebhookEventType): Promise<string[]> {
  const endpoints = await listEndpoints(tx)
  return endpoints
    .filter(({ disabledReason, events }) => disabledReason === null && events.includes(event))
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

export type EndpointChanges = Partial<WebhookEndpoint & EndpointSecrets>

/** Sets the given fields of an endpoint. */
export async function updateEndpoint(
  tx: Queryable,
  id: string,
  changes: EndpointChanges,
): Promise<void> {
  const names = Object.keys(changes) as (keyof typeof ALL_COLUMNS)[]
  if (names.length === 0) return
  const values = names.map((name): SqlValue => {
    const value = changes[name] ?? null
    return Array.isArray(value) ? JSON.stringify(value) : value
  })
  await tx.query(
    `UPDATE webhook_endpoints SET ${names.map((name) => `${ALL_COLUMNS[name]} = ?`).join(', ')} WHERE id = ?`,
    [...values, id],
  )
}

/** Disables an endpoint and cancels its pending deliveries. */
export async function disableEndpoint(
  tx: Queryable,
  id: string,
  reason: DisabledReason,
  now: number,
): Promise<void> {
  await updateEndpoint(tx, id, { disabledReason: reason, disabledAt: now, updatedAt: now })
  await cancelMessages(tx, getQueue(id))
}

export async function deleteEndpoint(tx: Queryable, id: string): Promise<void> {
  await tx.query('DELETE FROM webhook_endpoints WHERE id = ?', [id])
}
