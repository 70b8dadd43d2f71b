import type { ChangeContext, ChangeResult, CreateResult } from '../orders/store/order-store.js'
import type { OrderCommand } from '../orders/order-command.js'
import type { NewOrder } from '../orders/order.js'
import type { NocoDbSettings } from './nocodb-config.js'

/** The HTTP response to a write that failed; sent from the worker to the main thread. */
export interface WriteRejection {
  status: 502 | 503
  detail: string
  /** Seconds; `null` if a retry would fail too */
  retryAfter: number | null
}

/** State of the synchronisation with NocoDB. */
export interface SyncState {
  /** Whether the replica has all orders */
  isLoaded: boolean
  /** During the first load: the number of loaded rows, and of all rows */
  progress: { done: number; total: number } | null
  /** The replica has all changes up to this time, ISO 8601; `null` before the first sync */
  asOf: string | null
  /** Why the last sync pass failed; a sentence without a full stop */
  error: string | null
  /** Such as "Notes is missing"; empty if the schema of the table is valid */
  schemaMismatches: string[]
  /** Rows that are not valid orders: their number, and descriptions of the first ones */
  skippedRows: { count: number; first: string[] }
}

export const NOT_LOADED: SyncState = {
  isLoaded: false,
  progress: null,
  asOf: null,
  error: null,
  schemaMismatches: [],
  skippedRows: { count: 0, first: [] },
}

/**
 * Why the replica is not up to date, as a sentence without a full stop; `null` if it is up to date.
 */
export const describeSyncError = ({ error, schemaMismatches }: SyncState): string | null =>
  error === null || schemaMismatches.length === 0
    ? error
    : `the schema of the orders table in NocoDB is invalid (${schemaMismatches.join('; ')}); npm run nocodb:setup adds what is missing`

export const capitalize = (sentence: string): string =>
  sentence.charAt(0).toUpperCase() + sentence.slice(1)

type Log = (details: object, message: string) => void
export type WorkerLog = Record<'info' | 'warn' | 'error', Log>

export interface ReplicaWorkerData {
  path: string
  settings: NocoDbSettings
}

export type WriteTask =
  | { type: 'create'; order: NewOrder; by: string; idempotencyKey: string | undefined }
  | { type: 'apply'; id: string; command: OrderCommand; context: ChangeContext }
  /** Reads the current row of an order into the replica */
  | { type: 'refresh'; id: string }

export interface WriteRequest {
  requestId: number
  task: WriteTask
}

export type WriteResult = CreateResult | ChangeResult | { outcome: 'refreshed' }

export type MessageToWorker = WriteRequest | 'stop'

export type MessageFromWorker =
  | { requestId: number; result: WriteResult }
  | { requestId: number; rejection: WriteRejection }
  | { requestId: number; error: unknown }
  | { state: SyncState }
  /** The database file of the replica is corrupt */
  | { isCorrupt: true }
  | { level: keyof WorkerLog; details: object; message: string }
