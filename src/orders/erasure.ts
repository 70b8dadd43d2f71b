import { createNextVersion, type ChangeOutcome } from './apply-changes.js'
import type { FieldChange, Order } from './order.js'

export const ERASED_NAME = 'Erased'
/** The domain cannot exist (RFC 2606). */
export const ERASED_EMAIL = 'erased@example.invalid'

/** The field name of an erasure in the history; orders have no such field. Stored data. */
export const ERASURE_FIELD = 'personalData'

type PersonalData = Pick<Order, 'customerName' | 'customerEmail' | 'notes' | 'checkout'>

/** Replaces the personal data in an order, or in a part of one. */
const withoutPersonalData = <T extends Partial<PersonalData>>(part: T): T => ({
  ...part,
  ...('customerName' in part ? { customerName: ERASED_NAME } : {}),
  ...('customerEmail' in part ? { customerEmail: ERASED_EMAIL } : {}),
  ...('notes' in part ? { notes: '' } : {}),
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

/** Emails are the same if they differ in upper and lower case only. */
const toKey = (email: unknown): string => String(email).normalize('NFC').toLowerCase()

/** Whether an order, or a copy of one in a message, has the email of a customer. */
export const isCustomer = (email: string, customerEmail: string): boolean =>
  toKey(customerEmail) === toKey(email)

/** Whether changes replaced or set the email of a customer. */
export const changedEmail = (email: string, changes: readonly FieldChange[]): boolean =>
  changes.some(
    ({ field, from, to }) =>
      field === 'customerEmail' && [from, to].some((value) => toKey(value) === toKey(email)),
  )

/** The changes of a history entry, without personal data. */
export const toErasedChanges = (changes: readonly FieldChange[]): FieldChange[] =>
  changes.map(({ field, from, to }) => ({
    field,
    from: eraseValue(field, from),
    to: eraseValue(field, to),
  }))

const ERASURE: FieldChange = { field: ERASURE_FIELD, from: null, to: 'erased' }

/**
 * Erases the personal data of an order. The caller also passes the changes in its history through
 * `toErasedChanges`, and its unsent events through `toErased`. Pure.
 */
export function eraseOrder(order: Order, now: string): ChangeOutcome {
  const outcome = createNextVersion(order, withoutPersonalData(order), now)
  return outcome.outcome === 'changed' ? { ...outcome, changes: [ERASURE] } : outcome
}

/**
 * Records that personal data was erased from the history of an order, which the caller passes
 * through `toErasedChanges`. Pure.
 */
export const recordHistoryErasure = (order: Order, now: string): ChangeOutcome =>
  createNextVersion(order, {}, now, { extraChanges: [ERASURE] })
