import { EXAMPLES } from '../calculator/calculator-data.js'
import { insertCertificate } from '../certificates/certificate-store.js'
import { createCode } from '../certificates/certificate.js'
import { toOrderContent } from '../certificates/issue-certificates.js'
import { createConversionCounter } from '../checkout/conversions.js'
import { toCheckoutPrice } from '../checkout/place-order.js'
import { priceTrip } from '../checkout/prices.js'
import type { DayCalendar } from '../core/formatting/day-calendar.js'
import type { Database } from '../database/database.js'
import type { Order } from '../orders/order.js'
import { WHOLE_TRIP } from '../orders/share.js'
import { importMany, StagedOrders } from '../orders/store/import-many.js'
import type { OrderStore } from '../orders/store/order-store.js'
import { createDemoOrders, type DemoOrder } from './demo-orders.js'
import { PORTFOLIOS } from './fake-provider/portfolios.js'

/** Adds the demo orders to an empty order store; returns whether it was empty. */
export async function seedOrderStore(database: Database, now = new Date()): Promise<boolean> {
  const existing = await database.query('SELECT 1 FROM orders LIMIT 1')
  if (existing.length > 0) return false
  const staged = new StagedOrders()
  let line = 0
  for (const { order, by, history } of createDemoOrders({ now })) {
    staged.claim(++line, order.id, order.orderNumber)
    staged.add({ order, by, history })
  }
  return (await importMany(database, staged, { maxConflicts: 1 })).total === 0
}

/** Adds the certificates of the fulfilled guest orders, as if they had been issued at once. */
export const addCertificates = (database: Database, orders: Iterable<DemoOrder>): Promise<void> =>
  database.write(async (tx) => {
    for (const { order } of orders) {
      const { id, checkout, retirement, fulfilledAt, placedAt } = order
      if (checkout === null || retirement === null || fulfilledAt === null) continue
      const content = {
        ...toOrderContent(order, null),
        orderedAt: placedAt,
        projects: [],
        provider: null,
      }
      const certificate = { code: createCode(), orderId: id, issuedAt: fulfilledAt, content }
      await insertCertificate(tx, certificate, `demo_${id}`)
    }
  })

/** Approximate number of results viewed, and of codes scanned, per guest order */
const RESULTS_PER_ORDER = 3
const SCANS_PER_ORDER = 5

/**
 * Adds the conversion counts of the demo: the guest orders, and for each of them, several scans and
 * viewed results.
 */
export async function addConversions(
  database: Database,
  calendar: DayCalendar,
  orders: Iterable<DemoOrder>,
): Promise<void> {
  const { consume } = createConversionCounter(database, calendar)
  const guests = [...orders].filter(({ order }) => order.origin === 'guest')
  await database.write(async (tx) => {
    for (const [i, { order, history }] of guests.entries()) {
      const isPaid = history.some(({ changes }) => changes.some(({ to }) => to === 'paid'))
      const counted = isPaid ? { ...order, status: 'paid' as const } : order
      await consume(tx, { id: i, at: order.updatedAt, previousStatus: null, order: counted })
      const day = calendar.dayOf(Date.parse(order.placedAt))
      for (const [step, count] of [
        ['scan', SCANS_PER_ORDER],
        ['result', RESULTS_PER_ORDER],
      ] as const) {
        await tx.query(
          `INSERT INTO conversion_counts (day, step, count) VALUES (?, ?, ?)
           ON CONFLICT (day, step) DO UPDATE SET count = conversion_counts.count + excluded.count`,
          [day, step, count + (i % 3)],
        )
      }
    }
  })
}

const PORTFOLIO = PORTFOLIOS[1] ?? PORTFOLIOS[0]
const SERVICE_FEE_PERCENT = 5

/**
 * Adds a guest order and its payment. The service then places the order and issues its
 * certificate.
 */
export async function addGuestOrder(store: OrderStore): Promise<Order | null> {
  if (PORTFOLIO === undefined) return null
  const { fuel } = EXAMPLES
  const { pricePerTonMinor, currency } = PORTFOLIO
  const result = priceTrip(fuel, { amountMinor: pricePerTonMinor, currency }, WHOLE_TRIP, () => ({
    serviceFee: SERVICE_FEE_PERCENT * 100,
    minimumMinor: 0,
  }))
  if (result.outcome !== 'priced') return null
  const { price } = result
  const { co2eKg, amountMinor } = price
  const created = await store.create(
    {
      ...fuel,
      calculatorData: { ...fuel.calculatorData },
      customerName: 'Nikos Papadopoulos',
      customerEmail: 'nikos@example.com',
      vesselName: 'Αργοναύτης',
      co2eKg,
      amountMinor,
      currency,
      origin: 'guest',
      checkout: {
        beneficiary: 'Nikos Papadopoulos & the crew of the Αργοναύτης',
        isPublic: true,
        company: null,
        vatId: null,
        portfolioId: PORTFOLIO.id,
        portfolioName: PORTFOLIO.name,
        ...WHOLE_TRIP,
        ...toCheckoutPrice(price),
        paymentMethod: 'invoice',
      },
    },
    'guest',
  )
  if (!('order' in created)) return null
  const { id, version } = created.order
  const context = { by: 'shop@example.com', ifVersions: [version] }
  await store.apply(id, { type: 'edit', changes: { status: 'paid' } }, context)
  return created.order
}
