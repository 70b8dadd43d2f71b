import type { ChangeContext, ChangeResult, CreateResult } from '../order-store.js'
import type { OrderCommand } from '../../orders/order-command.js'
import type { NewOrder } from '../../orders/order.js'
import type { NocoDbSettings } from './nocodb-settings.js'
import type { SyncState, WorkerLog } from './sync-state.js'
import type { WriteRejection } from './write-rejection.js'

/** What the thread of a copy is started with. */
export interface ReplicaTask {
  path: string
  settings: NocoDbSettings
}

/** What it may be asked to write. */
export type WriteTask =
  | { kind: 'create'; given: NewOrder; by: string; idempotencyKey: string | undefined }
  | { kind: 'apply'; id: string; command: OrderCommand; context: ChangeContext }

export interface WriteRequest {
  number: number
  task: WriteTask
}

export type WriteResult = CreateResult | ChangeResult

/** What the thread is told. */
export type ToWorker = WriteRequest | 'stop'

/** What it tells. */
export type FromWorker =
  | { number: number; outcome: WriteResult }
  | { number: number; refusal: WriteRejection }
  | { number: number; error: unknown }
  | { state: SyncState }
  /** The file of the copy is no whole database any more */
  | { isDamaged: true }
  | { level: keyof WorkerLog; details: object; message: string }
