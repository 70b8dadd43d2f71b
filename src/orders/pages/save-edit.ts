import type { ChangeResult, OrderStore } from '../store/order-store.js'
import { applyChanges } from '../apply-changes.js'
import type { OrderChanges } from '../order.js'
import type { EditForm } from './edit-form.js'

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
