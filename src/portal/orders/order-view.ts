import { EDIT_GROUP_NAMES, EDIT_GROUPS, type EditForm, type EditGroup } from './edit-form.js'
import { buildFieldViews } from './field-view.js'
import type { Formatters } from '../formatters.js'
import { buildHistoryView, type EntryView } from './history-view.js'
import { buildContextUrl, type ListContext } from './list-context.js'
import { getFieldTexts, type FieldTexts } from './order-fields.js'
import { getTransitions, type OrderStatus } from '../../orders/order-status.js'
import { STATUS_LABELS } from '../labels.js'
import type { Order, HistoryEntry } from '../../orders/order.js'
import type { Fulfilment } from '../../fulfilment/fulfilment.js'
import { buildFulfilmentView, type SharedOrder, type ProviderNotice } from './fulfilment-view.js'
import { buildTripView } from './trip-view.js'

const GROUP_TITLES: Record<EditGroup, string> = {
  customer: 'Customer',
  vessel: 'Vessel',
  amounts: 'CO₂e and amount',
  provider: 'Order source',
  notes: 'Notes',
}

/** What a button that moves an order to a status says. */
const MOVE_LABELS: Record<OrderStatus, string> = {
  pending: 'Reopen as pending',
  paid: 'Mark as paid',
  processing: 'Start processing',
  fulfilled: 'Mark as fulfilled',
  refunded: 'Mark as refunded',
  cancelled: 'Cancel',
}

/** A link to write to an address (RFC 6068, section 2). */
const mailto = (email: string): string =>
  `mailto:${email.split('@').map(encodeURIComponent).join('@')}`

/** Which step usually comes next. */
const USUAL_STEP: Partial<Record<OrderStatus, OrderStatus>> = {
  pending: 'paid',
  paid: 'processing',
  processing: 'fulfilled',
}

/** Why something was not done, and what to do about it. */
export interface Notice {
  title: string
  text: string
  /** What others have changed */
  entries: EntryView[]
}

/** What may be told of an order's page beside the order. */
export interface OrderViewOptions {
  /** A group that is being edited */
  form?: EditForm
  /** Others have changed the order since that form was made */
  conflict?: boolean
  /** A group that has just been edited */
  edited?: EditGroup
  notice?: Notice
  /** The order has just been looked for at the order source, and is not there */
  wasNotThere?: boolean
  wasNotListed?: boolean
  /** What the order source has made of something, told beside what is known of it */
  sourceNotice?: ProviderNotice
}

interface Shown extends OrderViewOptions {
  order: Order
  history: HistoryEntry[]
  place: ListContext
  figures: Formatters
  timeZone: string
  /** Whatever places orders at the order source; `null` where there is none */
  placing: Fulfilment | null
  /** Other orders with its id at the order source */
  sharers: readonly SharedOrder[]
}

/** Fields of a form that somebody else has changed to something other than what was typed. */
function changedByOthers(order: Order, form: EditForm, figures: Formatters): FieldTexts {
  const now = getFieldTexts(order, figures)
  const readable: FieldTexts = {
    ...now,
    co2eKg: `${figures.exactKilograms(order.co2eKg)} kg`,
    amount: figures.money(order.amountMinor, order.currency),
  }
  return Object.fromEntries(
    EDIT_GROUPS[form.group]
      .filter((field) => now[field] !== form.texts[field])
      .map((field) => [field, readable[field] === '' ? 'nothing' : readable[field]]),
  )
}

const isShort = (text: string): boolean => text.length <= 14

/** An order as its page shows it. */
export function buildOrderView(shown: Shown) {
  const { order, history, place, figures, timeZone, form, conflict, edited, notice } = shown
  const path = `/admin/orders/${order.id}`
  const entries = buildHistoryView(order, history, figures)
  const moment = (label: string, at: string | null) =>
    at === null ? [] : [{ label, at, text: `${figures.date(at)}, ${figures.time(at)}` }]
  const group = (name: EditGroup) => ({
    name,
    title: GROUP_TITLES[name],
    edit: buildContextUrl(place, `${path}/edit`, { group: name }),
    close: buildContextUrl(place, path, { group: name }),
    focus: edited === name,
    form: form?.group !== name ? null : formView(form),
  })
  const formView = (open: EditForm) => ({
    action: buildContextUrl(place, `${path}/edit`, { group: open.group }),
    version: conflict ? order.version : open.version,
    unsaved: open.unsaved,
    conflict: conflict ? entries.filter(({ version }) => version > open.version) : null,
    fields: buildFieldViews(
      EDIT_GROUPS[open.group],
      open.texts,
      open.faults,
      conflict ? changedByOthers(order, open, figures) : {},
    ),
  })
  const amount = figures.money(order.amountMinor, order.currency)
  const co2e = figures.exactKilograms(order.co2eKg)
  return {
    id: order.id,
    orderNumber: order.orderNumber,
    version: order.version,
    status: order.status,
    statusName: STATUS_LABELS[order.status],
    customerName: order.customerName,
    customerEmail: order.customerEmail,
    mailto: mailto(order.customerEmail),
    vesselName: order.vesselName,
    imoNumber: order.imoNumber,
    co2e,
    amount,
    isCompact: isShort(co2e) && isShort(amount),
    currency: order.currency,
    source: buildFulfilmentView(shown),
    notes: order.notes,
    url: buildContextUrl(place, path),
    moves: getTransitions(order.status).map((status) => ({
      status,
      label: MOVE_LABELS[status],
      isUsual: USUAL_STEP[order.status] === status,
    })),
    move: buildContextUrl(place, `${path}/status`),
    cancel: order.status === 'cancelled' ? null : buildContextUrl(place, `${path}/cancel`),
    groups: Object.fromEntries(EDIT_GROUP_NAMES.map((name) => [name, group(name)])) as Record<
      EditGroup,
      ReturnType<typeof group>
    >,
    trip: buildTripView(order, figures),
    moments: [
      ...moment('Placed', order.placedAt),
      ...moment('Entered', order.createdAt),
      ...moment('Last changed', order.version === 1 ? null : order.updatedAt),
      ...moment('Fulfilled', order.fulfilledAt),
      ...moment('Cancelled', order.cancelledAt),
    ],
    timeZone,
    history: entries,
    notice: notice ?? null,
  }
}

/** What to tell whoever wants to move an order where it cannot go. */
export function explainInvalidTransition(order: Order, to: OrderStatus): Notice {
  const names = getTransitions(order.status).map((status) => STATUS_LABELS[status].toLowerCase())
  const open =
    names.length === 0
      ? 'it stays as it is, unless it is cancelled'
      : `it can become ${new Intl.ListFormat('en', { type: 'disjunction' }).format(names)}`
  const now = STATUS_LABELS[order.status].toLowerCase()
  return {
    title: `This order cannot become ${STATUS_LABELS[to].toLowerCase()}`,
    text: `It is ${now}, so ${open}. Nothing was changed.`,
    entries: [],
  }
}
