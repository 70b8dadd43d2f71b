import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { AuditActor } from '../../audit/audit-entry.js'
import { getAuditActor } from '../../audit/audit-log.js'
import { listSpellings, toMailbox } from '../../core/validation/email-address.js'
import type { Queryable } from '../../database/database.js'
import { createFileRewriter, REQUIRE_REWRITE } from '../../database/rewrite-file.js'
import { ERASED_EMAIL, ERASED_NAME, isCustomer } from '../erase-order.js'
import { eraseEvents } from '../order-events/event-dispatcher.js'
import type { HistoryEntry, Order } from '../order.js'
import type { MailboxOrders } from '../store/order-store.js'
import { toSearchWords } from '../store/search-text.js'
import { pages, routes } from './erasure-routes.js'

/** An order of a customer. */
interface CustomerOrder {
  order: Order
  history: readonly HistoryEntry[]
  /** Whether the order has the customer's email now */
  isCurrent: boolean
}

/** The names, company and VAT ID in an order of a customer, former ones included. */
function listCustomerNames({ order, history, isCurrent }: CustomerOrder): string[] {
  const { customerName, checkout } = order
  const former = history.flatMap(({ changes }) =>
    changes.flatMap(({ field, from, to }) => (field === 'customerName' ? [from, to] : [])),
  )
  const names = [...former, checkout?.beneficiary, checkout?.company, checkout?.vatId].filter(
    (name): name is string => typeof name === 'string' && name !== customerName,
  )
  return isCurrent ? [customerName, ...names] : names
}

/** Shorter parts of words are in many words. */
const MIN_PART_LENGTH = 3

/** The words of a text, as a search folds them, without the punctuation around and between them. */
const toWords = (text: string): string[] =>
  toSearchWords(text)
    .join(' ')
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== '')

/** Whether a text consists only of parts of some words, at least one of which is not short. */
const consistsOf = (text: readonly string[], words: readonly string[]): boolean =>
  text.every((part) => words.some((word) => word.includes(part))) &&
  text.some((part) => part.length >= MIN_PART_LENGTH || words.includes(part))

/**
 * Returns a function that says whether a text, such as a search, is about a customer: it contains
 * the email, in any spelling, or the words of a name or a company, or consists only of parts of
 * these. The domain of the email alone is not about the customer. Pure.
 */
function createCustomerMatcher(email: string, names: Iterable<string>): (text: string) => boolean {
  const mailbox = toMailbox(email)
  const local = toWords(mailbox.slice(0, mailbox.lastIndexOf('@')))
  const emails = listSpellings(email).map(toWords)
  const known = [...names].map(toWords).filter((words) => words.length > 0)
  const isPartOfEmail = (text: readonly string[]): boolean => {
    const ofLocal = text.filter((part) => local.some((word) => word.includes(part)))
    return consistsOf(ofLocal, local) && emails.some((words) => consistsOf(text, words))
  }
  return (text) => {
    const words = toWords(text)
    return (
      toSearchWords(text).some((word) => toMailbox(word) === mailbox) ||
      [...emails, ...known].some((whole) => whole.every((word) => words.includes(word))) ||
      known.some((name) => consistsOf(words, name)) ||
      isPartOfEmail(words)
    )
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Erases the personal data of customers */
    eraser: Eraser
  }
}

/** Maximum number of orders erased per call. With NocoDB, each order takes several requests. */
const MAX_ORDERS = 500

/** How a feature erases what it has stored about customers. */
interface ErasureStep {
  /**
   * Erases what was stored for an earlier customer of an order, in the caller's transaction. What
   * was stored for the current one is erased when the event of the erasure is consumed.
   */
  eraseFormerCustomer?: (tx: Queryable, orderId: string, email: string) => Promise<void>
  /** Removes texts of users that are about a customer. */
  removeTexts?: (isAbout: (text: string) => boolean, by: AuditActor) => Promise<void>
}

const REWRITE_MS = 10_000

/** How long an erasure waits for the rewrite of the files, which otherwise continues afterwards. */
const MAX_REWRITE_WAIT_MS = 10_000

/** How many orders of a customer were erased, and how many are left for another request. */
interface Erasure {
  orders: number
  remaining: number
  /** Set while unused parts of the files may still have copies */
  rewriting?: true
}

interface FoundOrder {
  id: string
  type: 'erase' | 'erase_former_customer'
}

/** Erases the personal data of customers. */
function createEraser(app: FastifyInstance) {
  const { orders: store, database, events, auditLog, log } = app
  const { source } = store
  const rewriter = createFileRewriter(source.type === 'sqlite' ? source.path : null, log)
  app.schedule('rewrite files', REWRITE_MS, () => rewriter.run())
  const steps: ErasureStep[] = []

  /** Finds orders by email, in any spelling; none for the placeholder of erased orders. */
  const findOrders = async (email: string): Promise<MailboxOrders> =>
    isCustomer(email, ERASED_EMAIL) ? { current: [], former: [] } : store.findByMailbox(email)

  /** The customer's names in these orders. */
  async function readNames(orders: readonly FoundOrder[]): Promise<Set<string>> {
    const names = new Set<string>()
    for (const { id, type } of orders) {
      const order = await store.get(id)
      const history = await store.getHistory(id)
      if (order === null || history === null) continue
      const isCurrent = type === 'erase'
      for (const name of listCustomerNames({ order, history, isCurrent })) names.add(name)
    }
    names.delete(ERASED_NAME)
    return names
  }

  /**
   * Erases a former customer's data from emails, webhook deliveries and certificates, but not from
   * the orders.
   */
  async function eraseFormerCustomer(email: string, orders: readonly string[]): Promise<void> {
    if (orders.length === 0) return
    // So that nothing with the customer's data is queued afterwards.
    await events.dispatch()
    await database.write(async (tx) => {
      for (const id of orders) {
        for (const step of steps) await step.eraseFormerCustomer?.(tx, id, email)
        await eraseEvents(tx, id, { isCancelled: true })
      }
    })
  }

  const requireRewrite = async (): Promise<void> => {
    if (database.engine === 'sqlite') await database.query(REQUIRE_REWRITE)
  }

  async function rewriteFiles(): Promise<void> {
    const rewritten = rewriter.run().catch((err: unknown) => {
      log.error({ err }, 'the database file could not be rewritten without erased data')
    })
    await Promise.race([rewritten, sleep(MAX_REWRITE_WAIT_MS, undefined, { ref: false })])
  }

  return {
    /** Adds what a feature erases. */
    add: (step: ErasureStep): void => void steps.push(step),
    findOrders,
    isRewriting: rewriter.isDue,

    /**
     * Erases the personal data in the orders of a customer, and in the history, emails, webhook
     * deliveries and certificates of these orders. Records the number of orders in the audit log.
     * Orders that have another email now keep their current data. If an erasure fails, it can be
     * repeated. Throws StoreUnwritableError and Problem (503).
     */
    async erase(email: string, request: FastifyRequest): Promise<Erasure> {
      const { current, former } = await findOrders(email)
      const all: FoundOrder[] = [
        ...current.map((id) => ({ id, type: 'erase' as const })),
        ...former.map((id) => ({ id, type: 'erase_former_customer' as const })),
      ]
      const found = all.slice(0, MAX_ORDERS)
      const context = { by: request.actor, ifVersions: null }
      await requireRewrite() // in case of a crash
      const names = await readNames(found)
      const isAbout = createCustomerMatcher(email, names)
      for (const step of steps) await step.removeTexts?.(isAbout, getAuditActor(request))
      await eraseFormerCustomer(email, former)
      let orders = 0
      try {
        for (const { id, type } of found) {
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
      await requireRewrite() // a rewrite may have finished since the first order was erased
      const remaining = all.length - found.length
      if (remaining === 0) await rewriteFiles()
      log.info({ orders, by: request.actor }, 'personal data erased')
      return { orders, remaining, ...(rewriter.isDue() && { rewriting: true }) }
    },
  }
}

type Eraser = ReturnType<typeof createEraser>

/** The erasure of personal data. Features add what they store. */
export default fp(
  async (app) => {
    app.decorate('eraser', createEraser(app))
    await app.register(routes)
    app.portalPages.push(pages)
  },
  { name: 'erasure', dependencies: ['orders', 'events', 'audit-log', 'scheduler'] },
)
