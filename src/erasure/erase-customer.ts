import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import type { AuditLog } from '../audit/audit-log.js'
import type { Database } from '../database/database.js'
import { truncateLog } from '../database/truncate-log.js'
import { eraseDeliveries } from '../integrations/webhooks/message.js'
import { eraseMails } from '../mail/message.js'
import { eraseBeneficiary } from '../ordering/certificate/certificate-store.js'
import type { OrderSource, OrderStore } from '../order-store/order-store.js'
import type { EventDispatcher } from '../outbox/event-dispatcher.js'
import { isCustomer, isErased } from '../orders/erasure.js'
import { DEFAULT_SORT } from '../orders/order-filters.js'
import type { Order } from '../orders/order.js'

/** Maximum number of orders erased per call. With NocoDB, each order takes several requests. */
const MAX_ORDERS = 500
const PAGE_SIZE = 100

interface Options {
  store: OrderStore
  database: Database
  events: Pick<EventDispatcher, 'dispatch'>
  auditLog: AuditLog
  /** Removes the saved order lists that search for this text */
  removeSearches: (text: string) => Promise<void>
  /** Databases with personal data */
  sources: readonly OrderSource[]
  log: FastifyBaseLogger
}

/** How many orders of a customer were erased, and how many are left for another request. */
export interface Erasure {
  orders: number
  remaining: number
}

interface CustomerOrders {
  /** Orders that have the customer's email */
  current: Order[]
  /** Orders that had the customer's email, and now have another one */
  former: Order[]
}

/** Erases the personal data of customers. */
export function createEraser(options: Options) {
  const { store, database, events, auditLog, removeSearches, sources, log } = options

  async function findCurrent(email: string): Promise<Order[]> {
    const found: Order[] = []
    for (let offset = 0; ; offset += PAGE_SIZE) {
      const slice = { sort: DEFAULT_SORT, offset, limit: PAGE_SIZE }
      const { items, total } = await store.list({ q: email }, slice)
      found.push(...items.filter(({ customerEmail }) => isCustomer(email, customerEmail)))
      if (offset + PAGE_SIZE >= total) return found
    }
  }

  /** Finds orders by email, ignoring case. Finds none for the placeholder of erased orders. */
  async function findOrders(email: string): Promise<CustomerOrders> {
    if (isErased({ customerEmail: email })) return { current: [], former: [] }
    const current = await findCurrent(email)
    const known = new Set(current.map(({ id }) => id))
    const former: Order[] = []
    for (const id of await store.findByFormerEmail(email)) {
      const order = known.has(id) ? null : await store.get(id)
      if (order !== null) former.push(order)
    }
    return { current, former }
  }

  /**
   * Erases a former customer's data from emails, webhook deliveries and certificates, but not from
   * the orders.
   */
  async function eraseFormerCustomer(email: string, orders: readonly Order[]): Promise<void> {
    if (orders.length === 0) return
    // So that nothing with the customer's data is queued afterwards.
    await events.dispatch()
    await database.write(async (tx) => {
      for (const { id } of orders) {
        await eraseMails(tx, id, email)
        await eraseDeliveries(tx, id)
        await eraseBeneficiary(tx, id)
      }
    })
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
     * Erases the personal data in the orders of a customer, and in the history, emails, webhook
     * deliveries and certificates of these orders. Records the number of orders in the audit log.
     * Orders that have another email now keep their current data. If an erasure fails, it can be
     * repeated. Throws StoreUnwritableError and Problem (503).
     */
    async erase(email: string, request: FastifyRequest): Promise<Erasure> {
      const { current, former } = await findOrders(email)
      const context = { by: request.actor, ifVersions: null }
      await removeSearches(email)
      await eraseFormerCustomer(email, former)
      const found = [
        ...current.map(({ id }) => ({ id, type: 'erase' as const })),
        ...former.map(({ id }) => ({ id, type: 'erase_former_customer' as const })),
      ]
      let orders = 0
      try {
        for (const { id, type } of found.slice(0, MAX_ORDERS)) {
          const { outcome } = await store.apply(id, { type }, context)
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
      log.info({ orders, by: request.actor }, 'personal data erased')
      return { orders, remaining: Math.max(found.length - MAX_ORDERS, 0) }
    },
  }
}

export type Eraser = ReturnType<typeof createEraser>
