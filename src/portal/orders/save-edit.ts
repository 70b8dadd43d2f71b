import type { ChangeResult, OrderStore } from '../../order-store/order-store.js'
import type { EditForm } from './edit-form.js'
import { applyChanges } from '../../orders/apply-changes.js'
import type { OrderChanges } from '../../orders/order.js'

/**
 * Saves an edit. Where the order has changed since its form was made, but by the same person and
 * in other fields only, such as by another form of the same page, nothing stands against it;
 * unless it is cancelled now, which may be a reason to leave it as it is. Where all of it is so
 * already, it counts as changed.
 */
export async function saveEdit(
  store: OrderStore,
  id: string,
  changes: OrderChanges,
  form: EditForm,
  by: string,
): Promise<ChangeResult> {
  const outcome = await store.apply(
    id,
    { type: 'edit', changes },
    { by, ifVersions: [form.version] },
  )
  if (outcome.outcome !== 'version_conflict' || form.version === 0) return outcome
  // The answer to the same form may have been lost: what it asks for is there.
  if (applyChanges(outcome.order, changes, '').outcome === 'unchanged') {
    return { outcome: 'changed', order: outcome.order, changes: [] }
  }
  const now = outcome.order.version
  const fields = Object.keys(changes)
  const since = (store.getHistory(id) ?? []).filter(({ version }) => version > form.version)
  const isOwn =
    outcome.order.status !== 'cancelled' &&
    since.length === now - form.version &&
    since.every(
      (entry) => entry.by === by && entry.changes.every(({ field }) => !fields.includes(field)),
    )
  return isOwn ? store.apply(id, { type: 'edit', changes }, { by, ifVersions: [now] }) : outcome
}
