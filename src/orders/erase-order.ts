import { toMailbox } from '../core/validation/email-address.js'
import { isObject } from '../core/validation/formats.js'
import { createNextVersion, type ChangeOutcome } from './change-order.js'
import type { FieldChange, Order } from './order.js'

export const ERASED_NAME = 'Erased'
/** The domain cannot exist (RFC 2606). */
export const ERASED_EMAIL = 'erased@example.invalid'

/**
 * The field name of an erasure in the history; orders have no such field. The name is stored, so
 * never change it.
 */
export const ERASURE_FIELD = 'personalData'

type PersonalData = Pick<Order, 'customerName' | 'customerEmail' | 'notes' | 'checkout'> & {
  /** An attempt to place the order, in the history */
  placement: unknown
}

/** A reason is often a message of the provider, which can quote the name. */
const withoutReason = (attempt: unknown): unknown =>
  isObject(attempt) && 'reason' in attempt ? { ...attempt, reason: ERASED_NAME } : attempt

const withoutPersonalData = <T extends Partial<PersonalData>>(part: T): T => ({
  ...part,
  ...('customerName' in part ? { customerName: ERASED_NAME } : {}),
  ...('customerEmail' in part ? { customerEmail: ERASED_EMAIL } : {}),
  ...('notes' in part ? { notes: '' } : {}),
  ...('placement' in part ? { placement: withoutReason(part.placement) } : {}),
  ...(part.checkout
    ? {
        checkout: {
          ...part.checkout,
          beneficiary: ERASED_NAME,
          isPublic: false,
          company: null,
          vatId: null,
        },
      }
    : {}),
})

/** An order without personal data. The vessel, the trip and the amounts stay. */
export const toErased = (order: Order): Order => withoutPersonalData(order)

/** Whether the personal data of an order was erased. */
export const isErased = ({ customerEmail }: Pick<Order, 'customerEmail'>): boolean =>
  customerEmail === ERASED_EMAIL

const eraseValue = (field: string, value: unknown): unknown =>
  Object.values(withoutPersonalData({ [field]: value }))[0]

/** Whether the email of an order or a message is a spelling of a customer's email. */
export const isCustomer = (email: string, customerEmail: unknown): boolean =>
  toMailbox(String(customerEmail)) === toMailbox(email)

/** Whether one of the changes set or replaced the email of a customer. */
export const changedEmail = (email: string, changes: readonly FieldChange[]): boolean =>
  changes.some(
    ({ field, from, to }) =>
      field === 'customerEmail' && [from, to].some((value) => isCustomer(email, value)),
  )

/** The changes of a history entry, without personal data. */
export const toErasedChanges = (changes: readonly FieldChange[]): FieldChange[] =>
  changes.map(({ field, from, to }) => ({
    field,
    from: eraseValue(field, from),
    to: eraseValue(field, to),
  }))

/** Applies an erasure. The history records that it happened, but not the erased values. */
function erase(order: Order, values: Partial<Order>, now: string): ChangeOutcome {
  const changes: FieldChange[] = [{ field: ERASURE_FIELD, from: null, to: 'erased' }]
  const outcome = createNextVersion(order, values, now, { extraChanges: changes })
  return outcome.outcome === 'changed' ? { ...outcome, changes } : outcome
}

/**
 * Erases the personal data of an order; an erased order is unchanged. The caller must also apply
 * `toErasedChanges` to the order's history, and `toErased` to its undispatched events. Pure.
 */
export const eraseOrder = (order: Order, now: string): ChangeOutcome =>
  isErased(order) ? { outcome: 'unchanged', order } : erase(order, toErased(order), now)

/**
 * Erases the checkout data of a former customer. Keeps the editable fields, because they belong to
 * the current customer. The caller must also apply `toErasedChanges` to the order's history. Pure.
 */
export const eraseFormerCustomer = (order: Order, now: string): ChangeOutcome =>
  erase(order, withoutPersonalData({ checkout: order.checkout }), now)

/**
 * The name that credits are bought and retired for; `null` if it was erased, or if no guest placed
 * the order. An erased order can get a new customer, whose name then replaces the erased one.
 */
export function getBeneficiary(order: Order): string | null {
  const { checkout, customerName } = order
  if (isErased(order)) return null
  const name = checkout?.beneficiary ?? null
  return name === ERASED_NAME ? customerName : name
}
