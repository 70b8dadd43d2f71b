import type { OrderChanges } from '../orders/order.js'
import type { Random } from './random.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The shop delivers orders and tells of payments; the rest is work of administrators. */
export const SHOP = 'shop@example.com'
const ADMINISTRATORS = [
  'mara@example.com',
  'jonas@example.com',
  'aiko@example.com',
] as const satisfies [string, ...string[]]

/** Something that happens to an order. */
export interface LifecycleEvent {
  /** Since the one before, ms */
  after: number
  by: string
  change: OrderChanges | 'cancel'
}

const NOTES = [
  'Paid by bank transfer.',
  'Asked for an invoice to the company’s address.\nSent the same day.',
  'Regular customer: discount agreed by telephone.',
  'Certificate sent by e-mail.',
  'Called twice, no answer. Wrote instead.',
  'Wants the certificate in the name of the vessel.',
] as const

/** All that happens to an order in time, from what the shop delivered on. */
export function createLifecycle(by: Random): LifecycleEvent[] {
  const events: LifecycleEvent[] = []
  const administrator = (): string => by.of(ADMINISTRATORS)
  const add = (after: number, who: string, change: LifecycleEvent['change']): void =>
    void events.push({ after, by: who, change })

  if (by.happens(0.05)) {
    if (by.happens(0.4)) add(by.about(3, 8) * DAY_MS, administrator(), { notes: by.of(NOTES) })
    add(by.about(6, 14) * DAY_MS, administrator(), 'cancel')
    if (by.happens(0.93)) return events
    add(by.about(1, 3) * DAY_MS, administrator(), { status: 'pending' })
  }
  add(by.about(0, 1) ** 3 * 3 * DAY_MS + 60_000, SHOP, { status: 'paid' })
  if (by.happens(0.02)) {
    add(by.about(4, 60) * HOUR_MS, administrator(), { status: 'refunded' })
    return events
  }
  if (by.happens(0.08)) add(by.about(1, 20) * HOUR_MS, administrator(), { notes: by.of(NOTES) })
  add(by.about(2, 60) * HOUR_MS, administrator(), { status: 'processing' })
  const orderSourceId = `off_${Math.floor(by.share() * 36 ** 8)
    .toString(36)
    .padStart(8, '0')}`
  add(by.about(1, 9) * DAY_MS, administrator(), { status: 'fulfilled', orderSourceId })
  if (by.happens(0.05)) add(by.about(1, 5) * DAY_MS, administrator(), { notes: by.of(NOTES) })
  if (by.happens(0.015)) add(by.about(2, 25) * DAY_MS, administrator(), { status: 'refunded' })
  return events
}
