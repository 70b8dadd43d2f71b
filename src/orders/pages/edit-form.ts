import type { Permission } from '../../accounts/permissions.js'
import { applyChanges } from '../change-order.js'
import { getEditPermission } from '../order-permissions.js'
import { OrderChanges, type Order } from '../order.js'
import type { ChangeResult, OrderStore } from '../store/order-store.js'
import { checker } from '../validators.js'
import {
  getFieldValues,
  normalizeFieldValue,
  parseFields,
  parseRetirement,
  RETIREMENT_FIELDS,
  type FieldErrors,
  type FieldValues,
  type OrderField,
} from './order-fields.js'

/** Groups of fields that are edited together. */
export const EDIT_GROUPS = {
  customer: ['customerName', 'customerEmail'],
  vessel: ['vesselName', 'imoNumber'],
  amounts: ['co2eKg', 'amount', 'currency'],
  provider: ['orderSourceId'],
  notes: ['notes'],
  retirement: RETIREMENT_FIELDS,
} as const satisfies Record<string, readonly OrderField[]>

export type EditGroup = keyof typeof EDIT_GROUPS
export const EDIT_GROUP_NAMES = Object.keys(EDIT_GROUPS) as EditGroup[]

/** The permission needed to edit a group of an order's fields. */
export const getGroupPermission = (order: Order, group: EditGroup): Permission =>
  getEditPermission(order, group === 'retirement' ? ['retirement'] : EDIT_GROUPS[group])

export const isEditGroup = (text: unknown): text is EditGroup =>
  typeof text === 'string' && Object.hasOwn(EDIT_GROUPS, text)

/** The form of a group, as opened or as submitted. */
export interface EditForm {
  group: EditGroup
  /** The order's version when the form was opened */
  version: number
  values: FieldValues
  errors: FieldErrors
  isUnsaved: boolean
}

/** The form of a group when it is opened. */
export const createEditForm = (order: Order, group: EditGroup): EditForm => ({
  group,
  version: order.version,
  values: getFieldValues(order),
  errors: {},
  isUnsaved: false,
})

const check = checker(OrderChanges)

/** The order's version in a submitted form; 0 if it is missing or invalid. Versions start at 1. */
export const parseVersion = (submitted: Record<string, unknown>): number =>
  typeof submitted.version === 'string' && /^\d{1,15}$/.test(submitted.version)
    ? Number(submitted.version)
    : 0

/** Leaves out text that a form did not change, apart from line breaks and surrounding spaces. */
export const omitUnchanged = (order: Order, changes: OrderChanges): OrderChanges =>
  Object.fromEntries(
    Object.entries(changes).filter(
      ([field, value]) =>
        typeof value !== 'string' || normalizeFieldValue(order[field as keyof Order]) !== value,
    ),
  )

/** Parses a submitted form; `changes` is `null` if a field is invalid. */
export function parseEditForm(
  group: EditGroup,
  submitted: Record<string, unknown>,
): { form: EditForm; changes: OrderChanges | null } {
  const { values, input, errors } =
    group === 'retirement' ? parseRetirement(submitted) : parseFields(EDIT_GROUPS[group], submitted)
  const checked = check(input)
  const schemaErrors = checked.ok
    ? {}
    : Object.fromEntries(
        checked.errors.map(({ path, message }) => [path.replace('retirement.', ''), message]),
      )
  const form: EditForm = {
    group,
    version: parseVersion(submitted),
    values,
    errors: { ...schemaErrors, ...errors },
    isUnsaved: true,
  }
  return { form, changes: checked.ok && Object.keys(errors).length === 0 ? checked.value : null }
}

/**
 * Saves an edit. If the order has changed since the form was opened, the edit is saved only if the
 * same user made all the changes, they are in other fields, and the order is not cancelled. If the
 * order already has all the values, for example because the response to the same form was lost, the
 * edit counts as saved.
 */
export async function saveEdit(
  store: OrderStore,
  id: string,
  changes: OrderChanges,
  form: EditForm,
  by: string,
): Promise<ChangeResult> {
  const save = (version: number) =>
    store.apply(id, { type: 'edit', changes }, { by, ifVersions: [version] })
  const result = await save(form.version)
  if (result.outcome !== 'version_conflict' || form.version === 0) return result
  const { order } = result
  if (applyChanges(order, changes, '').outcome === 'unchanged') {
    return { outcome: 'changed', order, changes: [] }
  }
  const fields = Object.keys(changes)
  const newEntries = ((await store.getHistory(id)) ?? []).filter(
    ({ version }) => version > form.version,
  )
  const isCompatible =
    order.status !== 'cancelled' &&
    newEntries.length === order.version - form.version &&
    newEntries.every(
      (entry) => entry.by === by && entry.changes.every(({ field }) => !fields.includes(field)),
    )
  return isCompatible ? save(order.version) : result
}
