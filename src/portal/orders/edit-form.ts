import type { Formatters } from '../formatters.js'
import {
  parseFields,
  getFieldTexts,
  type FieldErrors,
  type FieldTexts,
  type OrderField,
} from './order-fields.js'
import { OrderChanges, type Order } from '../../orders/order.js'
import { checker } from '../../orders/validators.js'

/** What is edited together, and its fields. */
export const EDIT_GROUPS = {
  customer: ['customerName', 'customerEmail'],
  vessel: ['vesselName', 'imoNumber'],
  amounts: ['co2eKg', 'amount', 'currency'],
  provider: ['orderSourceId'],
  notes: ['notes'],
} as const satisfies Record<string, readonly OrderField[]>

export type EditGroup = keyof typeof EDIT_GROUPS
export const EDIT_GROUP_NAMES = Object.keys(EDIT_GROUPS) as EditGroup[]

export const isEditGroup = (text: unknown): text is EditGroup =>
  typeof text === 'string' && Object.hasOwn(EDIT_GROUPS, text)

/** The form of a group, as it was opened or as it was filled in. */
export interface EditForm {
  group: EditGroup
  /** The version that it was made from */
  version: number
  texts: FieldTexts
  faults: FieldErrors
  /** Something was typed that is not saved yet */
  unsaved: boolean
}

/** A group's form as it opens for a reader. */
export const createEditForm = (order: Order, group: EditGroup, figures: Formatters): EditForm => ({
  group,
  version: order.version,
  texts: getFieldTexts(order, figures),
  faults: {},
  unsaved: false,
})

const check = checker(OrderChanges)

/** The version that a form says it was made from; 0, which no order has, where it says none. */
export const parseVersion = (submitted: Record<string, unknown>): number =>
  typeof submitted.version === 'string' && /^\d{1,15}$/.test(submitted.version)
    ? Number(submitted.version)
    : 0

/** Reads a group's submitted form: the changes that it asks for, or `null` where a field is wrong. */
export function parseEditForm(
  group: EditGroup,
  submitted: Record<string, unknown>,
): { form: EditForm; changes: OrderChanges | null } {
  const { texts, given, faults } = parseFields(EDIT_GROUPS[group], submitted)
  const checked = check(given)
  const found = checked.ok ? [] : checked.errors.map(({ path, message }) => [path, message])
  const form: EditForm = {
    group,
    version: parseVersion(submitted),
    texts,
    faults: { ...(Object.fromEntries(found) as FieldErrors), ...faults },
    unsaved: true,
  }
  return { form, changes: checked.ok && Object.keys(faults).length === 0 ? checked.value : null }
}
