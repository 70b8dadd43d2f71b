import type { Fulfilment } from '../../provider/fulfilment/place-orders.js'
import type { ProviderOrderRef } from '../../orders/store/order-store.js'
import type { HistoryEntry, Order } from '../../orders/order.js'
import type { Payment } from '../../payments/payment.js'
import type { Formatters } from '../../core/formatting/formatters.js'
import type { GuestOrderData } from './certificate-section.js'
import type { buildOrderMailsView } from '../../checkout/mail/mail-view.js'
import type { EditForm, EditGroup } from './edit-form.js'
import type { EntryView } from './history-view.js'
import type { ListContext } from './list-context.js'

/** A message about the offset order. */
export interface ProviderNotice {
  title: string
  text: string
  /** Other affected orders */
  links?: { href: string; text: string }[]
}

/** Another order with the same provider order ID. */
export type DuplicateOrder = Pick<ProviderOrderRef, 'id' | 'orderNumber'>

/** Why an action was rejected, and what to do. */
export interface Notice {
  title: string
  text: string
  /** The changes that caused a version conflict */
  entries: EntryView[]
}

/** The state of an order's page, in addition to the order. */
export interface OrderPageState {
  /** The group being edited */
  form?: EditForm
  /** The order has changed since the form was opened */
  hasConflict?: boolean
  /** The group that gets the focus after an edit */
  editedGroup?: EditGroup
  notice?: Notice
  /** The result of checking with the provider */
  providerCheck?: 'not_placed' | 'inconclusive'
  providerNotice?: ProviderNotice
}

export interface OrderData {
  order: Order
  history: HistoryEntry[]
  context: ListContext
  format: Formatters
  timeZone: string
  /** `null` if no provider is configured */
  fulfilment: Fulfilment | null
  /** Other orders with the same provider order ID */
  duplicates: readonly DuplicateOrder[]
  /** `null` unless it is a guest order */
  guest: GuestOrderData | null
  /** `null` unless a guest placed the order */
  mails: ReturnType<typeof buildOrderMailsView> | null
  /** Latest first */
  payments: readonly Payment[]
  /** How long emails about changes wait, ms; `null` if no emails are sent */
  mailHoldMs: number | null
  /** Whether payments can be refunded here */
  canRefund: boolean
}
