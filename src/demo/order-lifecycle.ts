import { DAY_MS, HOUR_MS } from '../core/time.js'
import type { OrderChanges } from '../orders/order.js'
import type { Random } from './random.js'

/** The shop creates orders and records payments; administrators do the rest. */
export const SHOP = 'shop@example.com'
const ADMINISTRATORS = [
  'mara@example.com',
  'jonas@example.com',
  'aiko@example.com',
] as const satisfies [string, ...string[]]

interface LifecycleEvent {
  /** Time since the previous event, ms */
  delay: number
  by: string
  change: OrderChanges | 'cancel'
}

const NOTES = [
  'Paid by bank transfer.',
  'Customer requested an invoice to the company address.\nSent the same day.',
  'Regular customer: discount agreed by phone.',
  'Certificate sent by email.',
  'Called twice without success. Sent an email.',
  'Certificate to be issued in the name of the vessel.',
] as const

/** Generates the events of an order after its creation, in chronological order. */
export function createLifecycle(random: Random): LifecycleEvent[] {
  const events: LifecycleEvent[] = []
  const administrator = (): string => random.pick(ADMINISTRATORS)
  const add = (delay: number, by: string, change: LifecycleEvent['change']): void =>
    void events.push({ delay, by, change })

  if (random.chance(0.05)) {
    if (random.chance(0.4))
      add(random.between(3, 8) * DAY_MS, administrator(), { notes: random.pick(NOTES) })
    add(random.between(6, 14) * DAY_MS, administrator(), 'cancel')
    if (random.chance(0.93)) return events
    add(random.between(1, 3) * DAY_MS, administrator(), { status: 'pending' })
  }
  add(random.between(0, 1) ** 3 * 3 * DAY_MS + 60_000, SHOP, { status: 'paid' })
  if (random.chance(0.02)) {
    add(random.between(4, 60) * HOUR_MS, administrator(), { status: 'refunded' })
    return events
  }
  if (random.chance(0.08))
    add(random.between(1, 20) * HOUR_MS, administrator(), { notes: random.pick(NOTES) })
  const [placedAfter, placedBy] = [random.between(2, 60) * HOUR_MS, administrator()]
  const orderSourceId = `off_${Math.floor(random.fraction() * 36 ** 8)
    .toString(36)
    .padStart(8, '0')}`
  add(placedAfter, placedBy, { status: 'processing', orderSourceId })
  add(random.between(1, 9) * DAY_MS, administrator(), { status: 'fulfilled' })
  if (random.chance(0.05))
    add(random.between(1, 5) * DAY_MS, administrator(), { notes: random.pick(NOTES) })
  if (random.chance(0.015))
    add(random.between(2, 25) * DAY_MS, administrator(), { status: 'refunded' })
  return events
}
