import type { DayCalendar } from '../../core/formatting/day-calendar.js'
import { Problem } from '../../core/http/problem.js'
import type { Queryable } from '../../database/database.js'
import type { DatabaseSource } from '../../database/stream-rows.js'
import type { ChangeOutcome } from '../change-order.js'
import type { OrderCommand } from '../order-command.js'
import type { OrderEvent } from '../order-event.js'
import type { OrderFilters, OrderSort } from '../order-filters.js'
import type { HistoryEntry, NewOrder, Order } from '../order.js'
import type { DayRange } from './conditions.js'
import type { OrderStatistics, OrderSummary, Timeline } from './statistics.js'

export type { DayRange, OrderStatistics, OrderSummary, Timeline }

/** The user who changes an order, and the versions that the change applies to. */
export interface ChangeContext {
  by: string
  /** The order must have one of these versions; `null` accepts any version */
  ifVersions: readonly number[] | null
}

export type ChangeResult =
  ChangeOutcome | { outcome: 'not_found' } | { outcome: 'version_conflict'; order: Order }

export type CreateResult =
  { outcome: 'created' | 'replayed'; order: Order } | { outcome: 'idempotency_key_reused' }

/** Which orders to read from a source, and how to sort them. */
export interface RowQuery {
  /** Time zone of the date filters */
  timeZone: string
  filters: OrderFilters
  sort: OrderSort
}

/** A part of a sorted list. */
export interface ListSlice {
  sort: OrderSort
  offset: number
  limit: number
}

export interface OrderList {
  items: Order[]
  /** Number of matching orders, inside and outside the slice */
  total: number
  /** Whether `total` is exact; otherwise it is MAX_EXACT_TOTAL, for more, or an estimate */
  isTotalExact: boolean
}

/** Up to this number, the total of every list is exact. */
export const MAX_EXACT_TOTAL = 10_000

/** An order and an ID that it has, or had, at the provider. */
export interface ProviderOrderRef {
  /** ID of our order */
  id: number
  orderNumber: string
  orderSourceId: string
}

/** How current orders are that mirror a source outside the database. */
export interface Freshness {
  /** The orders are as they were in the source at this time, ISO 8601; `null` before the first load */
  asOf: string | null
  /** Why the orders are behind the source; a sentence without a full stop, `null` if it is current */
  problem: string | null
  /** Whether orders can be changed */
  isWritable: boolean
}

/** Readiness of the store, with a description for operators. */
export interface Readiness {
  ready: boolean
  detail: string
}

/** The store cannot be written to: it is locked by other writers, or its disk is full or read-only. */
export class StoreUnwritableError extends Problem {
  override readonly name = 'StoreUnwritableError'

  constructor(
    cause: unknown,
    /** Whether other writers or the network are the reason, which is temporary */
    readonly isBusy: boolean,
  ) {
    super(
      503,
      'Orders cannot be saved at the moment. Nothing was changed. Try again in a few seconds.',
      { headers: { 'retry-after': '5' }, ...(isBusy ? {} : { cause }) },
    )
  }
}

/** IDs of a customer's orders, the newest first. */
export interface MailboxOrders {
  /** Orders that have the customer's email */
  current: string[]
  /** Orders that had the customer's email, and now have another one */
  former: string[]
}

/**
 * Stores orders and their history. All methods throw a Problem (503) while orders cannot be read,
 * for example because the database is damaged or has not been loaded yet.
 */
export interface OrderStore {
  /** The database from which other threads read the orders */
  readonly source: DatabaseSource
  /** Calendar of the days in filters and statistics */
  readonly calendar: DayCalendar

  /** Returns an order; `null` if it does not exist. */
  get: (id: string) => Promise<Order | null>
  /**
   * Returns an order's history, newest first; `null` if the order does not exist.
   *
   * @param tx reads in the caller's transaction
   */
  getHistory: (id: string, tx?: Queryable) => Promise<HistoryEntry[] | null>
  list: (filters: OrderFilters, slice: ListSlice) => Promise<OrderList>
  /** Returns the currencies in use, sorted. */
  listCurrencies: () => Promise<string[]>
  /** Reads statistics from a consistent snapshot. */
  readStatistics: <T>(read: (statistics: OrderStatistics) => Promise<T>) => Promise<T>

  /**
   * Returns the orders with this ID at the provider; more than one result indicates a data entry
   * error.
   */
  findByOrderSourceId: (orderSourceId: string) => Promise<ProviderOrderRef[]>
  /**
   * Returns orders known to be at the provider under an ID that is not in `excluded`: either their
   * current ID, or the ID from a fulfilment attempt that was not reset. Returns at most `limit`
   * orders, not necessarily the newest, sorted by ID in descending order.
   */
  findOtherProviderOrders: (excluded: string[], limit: number) => Promise<ProviderOrderRef[]>
  /**
   * Returns the orders that have or had this mailbox, in any spelling. Reads the emails and the
   * changes of all orders.
   */
  findByMailbox: (email: string) => Promise<MailboxOrders>

  /**
   * Creates an order. If the same user sends the same key and order again, returns the existing
   * order. Throws StoreUnwritableError.
   */
  create: (order: NewOrder, by: string, idempotencyKey?: string) => Promise<CreateResult>
  /** Changes an order in one transaction. Throws StoreUnwritableError. */
  apply: (id: string, command: OrderCommand, context: ChangeContext) => Promise<ChangeResult>

  /**
   * Returns the events that `deleteEvents` has not deleted, oldest first; the events for one order
   * are sorted by version. Imported orders have no events.
   */
  readEvents: (limit: number) => Promise<OrderEvent[]>
  deleteEvents: (ids: readonly number[]) => Promise<void>

  /** Throws if orders cannot be read. */
  check: () => void
  /**
   * Returns the error to throw for one of another thread that reads `source`; records damage.
   */
  translateError: (error: unknown) => unknown
  /** Returns how current the orders are; `null` if they mirror no other source. */
  getFreshness: () => Freshness | null
  /** Throws if orders cannot be read. */
  getReadiness: () => Promise<Readiness>
  close: () => Promise<void>
}

/** Returns the other orders that have the same order at the provider. There should be none. */
export const findSharedProviderOrders = async (
  store: Pick<OrderStore, 'findByOrderSourceId'>,
  { id, orderSourceId }: Pick<Order, 'id' | 'orderSourceId'>,
): Promise<ProviderOrderRef[]> =>
  orderSourceId === null
    ? []
    : (await store.findByOrderSourceId(orderSourceId)).filter((other) => String(other.id) !== id)
