import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { Problem } from '../core/http/problem.js'
import { createKeyedMutex } from '../database/state-store/state-store.js'
import { createFirstVersion, type ChangeOutcome } from '../orders/change-order.js'
import { toErasedChanges } from '../orders/erase-order.js'
import {
  applyCommand,
  erasesHistory,
  hashIdempotencyKey,
  hashOrder,
  IDEMPOTENCY_KEY_TTL_MS,
  type OrderCommand,
} from '../orders/order-command.js'
import { formatOrderNumber, parseOrderId, type NewOrder } from '../orders/order.js'
import type { ChangeContext, ChangeResult, CreateResult } from '../orders/store/order-store.js'
import { creationUnconfirmed, NocoDbError, notWritten, tooBusy } from './nocodb-client.js'
import { encodeChangedOrder, encodeNewOrder } from './order-record.js'
import { NOCODB_USER, type ParsedRow } from './parse-row.js'
import type { Priority } from './request-budget.js'
import type { RowOrder, RowWriter } from './row-writer.js'
import type { SyncState } from './sync-state.js'

/** Maximum number of attempts to change an order that is also being changed by others. */
const MAX_ATTEMPTS = 10

/** How long a change waits for earlier changes to the same order, ms. */
const MAX_WAIT_MS = 15_000

const eraseHistory = (parsed: ParsedRow): ParsedRow => ({
  ...parsed,
  history: parsed.history.map((entry) => ({ ...entry, changes: toErasedChanges(entry.changes) })),
})

interface Creation {
  order: NewOrder
  by: string
  /** Hash of the idempotency key; `null` if there is no key */
  key: string | null
  /** Hash of the request */
  request: string
}

/**
 * Writes orders to NocoDB and then to the mirror, with optimistic locking: a compare-and-set on the
 * version and the time of update, confirmed by reading the write token. Each write is executed in
 * full or not at all. Throws a Problem (502, 503) if it is not executed, or cannot be confirmed.
 */
export class OrderWrites {
  readonly #inOrderLine = createKeyedMutex()
  readonly #inKeyLine = createKeyedMutex()

  constructor(
    readonly writer: RowWriter,
    readonly state: SyncState,
    readonly log: FastifyBaseLogger,
  ) {}

  async #write<T>(work: () => Promise<T>): Promise<T> {
    this.state.requireWritable()
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof NocoDbError)) throw error
      const { errorCode } = error
      // The schema of the table may have become invalid.
      const isSuspect = errorCode === 'column_not_found' || errorCode === 'value_rejected'
      if (isSuspect) await this.writer.mirror.setState({ suspect: 'yes' })
      throw notWritten(error)
    }
  }

  /** Creates an order, at most one for each idempotency key. */
  create(order: NewOrder, by: string, idempotencyKey?: string): Promise<CreateResult> {
    const request = hashOrder(order)
    return this.#write(() => {
      if (idempotencyKey === undefined) return this.#insert({ order, by, key: null, request })
      const key = hashIdempotencyKey(idempotencyKey, by)
      return this.#inKeyLine(
        key,
        async () =>
          (await this.#findEarlier(key, request)) ??
          (await this.#insert({ order, by, key, request })),
      )
    })
  }

  /** The result of an earlier request with the same key; `null` if there is none. */
  async #findEarlier(key: string, request: string): Promise<CreateResult | null> {
    const { writer } = this
    for (const row of await writer.findRows('idempotencyKey', key)) {
      const found = await writer.toOrder(row)
      if (found === null) continue
      const { parsed, order } = found
      if (Date.now() - Date.parse(order.createdAt) > IDEMPOTENCY_KEY_TTL_MS) {
        await writer.table.compareAndSet(row, { [writer.titles.idempotencyKey]: null })
        continue
      }
      return parsed.request === request
        ? { outcome: 'replayed', order }
        : { outcome: 'idempotency_key_reused' }
    }
    return null
  }

  async #insert({ order: newOrder, by, key, request }: Creation): Promise<CreateResult> {
    const { writer } = this
    const { mirror, table, titles } = writer
    const token = randomUUID()
    const order = createFirstVersion(newOrder, new Date().toISOString())
    const record = { by, request: key === null ? null : request, history: [] }
    const cells = encodeNewOrder({ order, record, token }, key, titles)
    let id
    try {
      id = await writer.insert(cells, token, key !== null)
    } catch (error) {
      // If the database enforces unique keys, another process may have created the order.
      const isConflict = error instanceof NocoDbError && error.errorCode === 'value_rejected'
      const earlier = key !== null && isConflict ? await this.#findEarlier(key, request) : null
      if (earlier === null) throw error
      return earlier
    }
    const earlier = key === null ? null : await this.#resolveKeyConflict(id, key, request)
    if (earlier !== null) return earlier
    const requestedAt = await mirror.now()
    const read = await this.#readBack(id, key !== null)
    // The order exists even if it cannot be read now, so it is shown as it was written.
    const row = read ?? { ...cells, Id: id, CreatedAt: order.createdAt }
    await writer.mirrorWritten({ rows: [row], requestedAt }, (cause) =>
      creationUnconfirmed(key !== null, cause),
    )
    const orderNumber = (await mirror.get(id))?.orderNumber ?? formatOrderNumber(id)
    // Until the number is written, it is derived from the id.
    const cellsWithNumber = { [titles.orderNumber]: orderNumber }
    void this.#inOrderLine(String(id), () => table.setIfToken(id, token, cellsWithNumber)).catch(
      () => this.log.warn('the number of a new order was not written to NocoDB'),
    )
    return { outcome: 'created', order: { id: String(id), orderNumber, ...order } }
  }

  /**
   * If another process has already created an order with the same key, deletes the new row and
   * returns the result of the earlier request; otherwise returns `null`.
   */
  async #resolveKeyConflict(
    id: number,
    key: string,
    request: string,
  ): Promise<CreateResult | null> {
    const { writer } = this
    try {
      const [first] = await writer.findRows('idempotencyKey', key)
      if (first === undefined || first.Id >= id) return null
      await writer.table.delete(id)
    } catch {
      throw creationUnconfirmed(true)
    }
    await writer.mirror.delete([id], await writer.mirror.now())
    return this.#findEarlier(key, request)
  }

  /** Reads a new row; `null` if it cannot be read now. */
  async #readBack(id: number, hasKey: boolean) {
    const { table } = this.writer
    try {
      return await table.getRow(id)
    } catch (error) {
      if (!(error instanceof NocoDbError)) throw error
      if (error.errorCode !== 'column_not_found') return null
      // NocoDB has dropped the values of the missing columns.
      await table.delete(id).catch(() => {
        throw creationUnconfirmed(hasKey)
      })
      throw error
    }
  }

  /** Applies a command to an order. */
  apply(id: string, command: OrderCommand, context: ChangeContext): Promise<ChangeResult> {
    return this.#write(async () => {
      const rowId = parseOrderId(id)
      // Callers check permissions on the mirrored order, so others cannot be changed.
      if (rowId === null || (await this.writer.mirror.get(rowId)) === null) {
        return { outcome: 'not_found' }
      }
      const queuedAt = performance.now()
      return this.#inOrderLine(id, async () => {
        if (performance.now() - queuedAt > MAX_WAIT_MS) throw tooBusy()
        for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
          const result = await this.#attemptChange(rowId, command, context)
          if (result !== null) return result
          await sleep(Math.random() * 50 * attempt)
        }
        throw tooBusy()
      })
    })
  }

  /** Attempts a change once; `null` on a conflict with a concurrent write. */
  async #attemptChange(
    id: number,
    command: OrderCommand,
    { by, ifVersions }: ChangeContext,
  ): Promise<ChangeResult | null> {
    const read = await this.writer.readOrder(id)
    if (read === null) return { outcome: 'not_found' }
    const { parsed, order } = read
    if (ifVersions !== null && !ifVersions.includes(order.version)) {
      return { outcome: 'version_conflict', order }
    }
    const history = parsed.history.toReversed()
    const result = applyCommand(order, history, command, new Date().toISOString())
    if (result.outcome !== 'changed') return result
    const kept = erasesHistory(command) ? { ...read, parsed: eraseHistory(parsed) } : read
    return (await this.#writeVersion(kept, result, by, 'urgent')) ? result : null
  }

  #writeVersion(
    { row, parsed, order: before }: RowOrder,
    { order, changes }: Pick<ChangeOutcome & { outcome: 'changed' }, 'order' | 'changes'>,
    by: string,
    priority: Priority,
  ): Promise<boolean> {
    const { writer } = this
    const token = randomUUID()
    const entry = { at: order.updatedAt, by, version: order.version, changes, token }
    const isNewVersion = order.version > before.version
    const record = {
      by: parsed.by,
      request: parsed.request,
      history: [...parsed.history, ...(isNewVersion ? [entry] : [])],
    }
    const cells = encodeChangedOrder(row, before, { order, record, token }, writer.titles)
    return writer.update(row, token, cells, priority)
  }

  /**
   * Records an edit made in NocoDB as a version of the order. Ignores failed requests, because the
   * next sync pass tries again.
   */
  recordEdit = async (id: number): Promise<void> => {
    try {
      await this.#inOrderLine(String(id), async () => {
        const read = await this.writer.readOrder(id)
        if (!read?.parsed.isEdited) return
        const version = { order: read.order, changes: [] }
        await this.#writeVersion(read, version, NOCODB_USER, 'background')
      })
    } catch (error) {
      if (!(error instanceof NocoDbError || error instanceof Problem)) throw error
    }
  }
}
