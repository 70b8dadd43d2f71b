import type { ChangeContext, ChangeOutcome, CreateOutcome } from '../book/order-book.js'
import type { NewOrder, OrderChanges } from '../order.js'
import type { Placement } from '../placement/placement.js'
import type { NocoDbSettings } from './settings.js'
import type { SyncState, ThreadLog } from './sync-state.js'
import type { WriteRefusal } from './write-refusal.js'

/** What the thread of a copy is started with. */
export interface ReplicaTask {
  path: string
  settings: NocoDbSettings
}

/** What it may be asked to write. */
export type WriteTask =
  | { kind: 'create'; given: NewOrder; by: string; idempotencyKey: string | undefined }
  | { kind: 'change'; id: string; changes: OrderChanges; context: ChangeContext }
  | { kind: 'cancel' | 'undo'; id: string; context: ChangeContext }
  | { kind: 'notePlacement'; id: string; step: Placement; context: ChangeContext }

export interface WriteQuestion {
  number: number
  task: WriteTask
}

export type WriteOutcome = CreateOutcome | ChangeOutcome

/** What the thread is told. */
export type ToThread = WriteQuestion | 'stop'

/** What it tells. */
export type FromThread =
  | { number: number; outcome: WriteOutcome }
  | { number: number; refusal: WriteRefusal }
  | { number: number; error: unknown }
  | { state: SyncState }
  /** The file of the copy is no whole database any more */
  | { isDamaged: true }
  | { level: keyof ThreadLog; details: object; message: string }
