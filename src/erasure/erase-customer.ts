import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import type { AuditLog } from '../audit/audit-log.js'
import { truncateLog } from '../database/truncate-log.js'
import type { OrderSource, OrderStore } from '../order-store/order-store.js'
import type { EventDispatcher } from '../outbox/event-dispatcher.js'
import { isErased } from '../orders/erasure.js'
import { DEFAULT_SORT } from '../orders/order-filters.js'
import type { Order } from '../orders/order.js'

/** Orders erased per call: with NocoDB, erasing an order takes several requests. */
const MAX_ORDERS = 500
const PAGE_SIZE = 100

interface Options {
  store: OrderStore
  events: Pick<EventDispatcher, 'dispatch'>
  auditLog: AuditLog
  /** Databases with personal data */
  sources: readonly OrderSource[]
  log: FastifyBaseLogger
}

/** How many orders of a customer were erased, and how many are left for another request. */
export interface Erasure {
  orders: number
  remaining: number
}

const toKey = (email: string): string => email.normalize('NFC').toLowerCase()

/** Erases the personal data of customers. */
export function createEraser({ store, events, auditLog, sources, log }: Options) {
  /** Returns the orders that currently have an email address, ignoring case; none if it is erased. */
  async function findOrders(email: string): Promise<Order[]> {
    const key = toKey(email)
    const found: Order[] = []
    for (let offset = 0; ; offset += PAGE_SIZE) {
      const slice = { sort: DEFAULT_SORT, offset, limit: PAGE_SIZE }
      const { items, total } = await store.list({ q: email }, slice)
      found.push(...items.filter((order) => toKey(order.customerEmail) === key && !isErased(order)))
      if (offset + PAGE_SIZE >= total) return found
    }
  }

  async function removeOldContent(): Promise<void> {
    const paths = new Set(
      sources.flatMap((source) => (source.type === 'sqlite' ? [source.path] : [])),
    )
    for (const path of paths) {
      const isEmptied = await truncateLog(path).catch((err: unknown) => {
        log.error({ err, path }, 'the write-ahead log could not be emptied')
        return false
      })
      if (!isEmptied) {
        log.warn({ path }, 'erased data stays in the write-ahead log until it is overwritten')
      }
    }
  }

  return {
    findOrders,

    /**
     * Erases the personal data in the orders of a customer, in their history, emails, webhook
     * deliveries and certificates, and records the number of orders. If it fails, it can be
     * repeated. Throws StoreUnwritableError and Problem (503).
     */
    async erase(email: string, request: FastifyRequest): Promise<Erasure> {
      const found = await findOrders(email)
      const by = request.actor
      let orders = 0
      try {
        for (const { id } of found.slice(0, MAX_ORDERS)) {
          const { outcome } = await store.apply(id, { type: 'erase' }, { by, ifVersions: null })
          if (outcome === 'changed') orders++
        }
      } finally {
        if (orders > 0) {
          await auditLog.record(request, { action: 'personal_data.erased', details: { orders } })
        }
      }
      // The consumers of the events erase what they have stored about the orders.
      await events.dispatch()
      await removeOldContent()
      log.info({ orders, by }, 'personal data erased')
      return { orders, remaining: Math.max(found.length - MAX_ORDERS, 0) }
    },
  }
}

export type Eraser = ReturnType<typeof createEraser>
