import { findLatestAttempt } from '../../orders/attempt.js'
import { isErased } from '../../orders/erasure.js'
import {
  getStatusBeforeCancellation,
  getTransitions,
  toLiveStatus,
  type OrderStatus,
} from '../../orders/order-status.js'
import type { Order } from '../../orders/order.js'
import {
  getEditPermission,
  getStatusPermission,
  RECALCULATED_FIELDS,
} from '../../orders/status-permission.js'
import type { Formatters } from '../../core/formatting/formatters.js'
import { joinWithOr, STATUS_LABELS, toInlineLabel } from '../../orders/labels.js'
import { buildCertificateSection } from './certificate-section.js'
import { buildCheckoutRows } from './checkout-view.js'
import { describeConsequences, findConsequences, simulateChanges } from './consequences.js'
import {
  EDIT_GROUP_NAMES,
  EDIT_GROUPS,
  getGroupPermission,
  type EditForm,
  type EditGroup,
} from './edit-form.js'
import { buildFieldViews } from './field-view.js'
import { buildFulfilmentView } from './fulfilment-view.js'
import { buildHistoryView } from './history-view.js'
import { buildContextUrl } from './list-context.js'
import type { Notice, OrderData, OrderPageState } from './order-data.js'
import { findNextStep } from './next-step.js'
import { buildPaymentViews } from './payment-view.js'
import { getFieldValues, type FieldValues } from './order-fields.js'
import { buildTripView } from './trip-view.js'

const GROUP_TITLES: Record<EditGroup, string> = {
  customer: 'Customer',
  vessel: 'Vessel',
  amounts: 'CO₂e and amount',
  provider: 'Offset order',
  notes: 'Notes',
  retirement: 'Certificate',
}

/** Labels of the buttons that change the status. */
const STATUS_ACTIONS: Record<OrderStatus, string> = {
  pending: 'Reopen as pending',
  paid: 'Mark as paid',
  processing: 'Start processing',
  fulfilled: 'Mark as fulfilled',
  refunded: 'Mark as refunded',
  cancelled: 'Cancel',
}

/** A mailto link (RFC 6068, section 2). */
const toMailto = (email: string): string =>
  `mailto:${email.split('@').map(encodeURIComponent).join('@')}`

/** The stored values of the fields that have a different value in the form. */
function getCurrentValues(order: Order, form: EditForm, format: Formatters): FieldValues {
  const current = getFieldValues(order)
  const formatted: FieldValues = {
    ...current,
    co2eKg: `${format.exactKilograms(order.co2eKg)} kg`,
    amount: format.money(order.amountMinor, order.currency),
  }
  return Object.fromEntries(
    EDIT_GROUPS[form.group]
      .filter((field) => current[field] !== form.values[field])
      .map((field) => [field, formatted[field] === '' ? '(empty)' : formatted[field]]),
  )
}

const MAX_COMPACT_LENGTH = 14
const isShort = (text: string): boolean => text.length <= MAX_COMPACT_LENGTH

/** Says what a command leads to besides the change itself; `null` if there is nothing to say. */
function describeCommand(
  { order, history, guest, payments, mailHoldMs, format }: OrderData,
  command: Parameters<typeof simulateChanges>[1],
  isRefund = false,
): string | null {
  const changes = simulateChanges([order], command, () => ({
    payments: isRefund ? [] : payments,
    certificate: guest?.certificate?.certificate ?? null,
    attempt: findLatestAttempt(history),
  }))
  return describeConsequences(findConsequences(changes, mailHoldMs !== null), {
    isSingle: true,
    holdMs: mailHoldMs ?? 0,
    canUndo: !isRefund,
    format,
  })
}

/** Builds the order page. */
export function buildOrderView(data: OrderData, state: OrderPageState = {}) {
  const { order, history, context, format, timeZone } = data
  const { form, hasConflict = false, editedGroup, notice = null } = state
  const path = `/admin/orders/${order.id}`
  const entries = buildHistoryView(order, history, format)

  const buildForm = (open: EditForm) => ({
    action: buildContextUrl(context, `${path}/edit`, { group: open.group }),
    version: hasConflict ? order.version : open.version,
    isUnsaved: open.isUnsaved,
    conflict: hasConflict ? entries.filter(({ version }) => version > open.version) : null,
    fields: buildFieldViews(EDIT_GROUPS[open.group], {
      values: open.values,
      errors: open.errors,
      currentValues: hasConflict ? getCurrentValues(order, open, format) : {},
      format,
    }),
  })
  const buildGroup = (name: EditGroup) => ({
    name,
    title: name === 'retirement' && data.guest === null ? 'Retirement' : GROUP_TITLES[name],
    permission: getGroupPermission(order, name),
    editUrl: buildContextUrl(context, `${path}/edit`, { group: name }),
    closeUrl: buildContextUrl(context, path, { group: name }),
    hasFocus: editedGroup === name,
    form: form?.group === name ? buildForm(form) : null,
  })
  const buildDate = (label: string, at: string | null) =>
    at === null ? [] : [{ label, at, text: format.dateTime(at) }]

  const amount = format.money(order.amountMinor, order.currency)
  const co2e = format.exactKilograms(order.co2eKg)
  const fulfilment = buildFulfilmentView(data, state)
  const payments = buildPaymentViews(
    data.payments,
    order,
    data.canRefund ? (payment) => buildContextUrl(context, `${path}/refund`, { payment }) : null,
    format,
  )
  const nextStep = findNextStep(order, fulfilment, payments, data.guest?.placement ?? null)
  const nextStatus = nextStep?.action.type === 'status' ? nextStep.action.status : null
  const describeStatus = (status: OrderStatus, isRefund?: boolean) => {
    const live = toLiveStatus(status)
    return live === undefined
      ? null
      : describeCommand(data, { type: 'edit', changes: { status: live } }, isRefund)
  }
  return {
    id: order.id,
    orderNumber: order.orderNumber,
    version: order.version,
    status: order.status,
    statusLabel: STATUS_LABELS[order.status],
    customerName: order.customerName,
    customerEmail: order.customerEmail,
    mailto: toMailto(order.customerEmail),
    isErased: isErased(order),
    vesselName: order.vesselName,
    imoNumber: order.imoNumber,
    co2e,
    amount,
    isCompact: isShort(co2e) && isShort(amount),
    fulfilment,
    payments,
    nextStep: nextStep && {
      ...nextStep,
      action: {
        ...nextStep.action,
        label: nextStatus && STATUS_ACTIONS[nextStatus],
        permission: nextStatus && getStatusPermission(nextStatus),
        consequences: nextStatus && describeStatus(nextStatus),
      },
    },
    notes: order.notes,
    url: buildContextUrl(context, path),
    statusUrl: buildContextUrl(context, `${path}/status`),
    /** Status changes other than the next step */
    statusActions: getTransitions(order)
      .filter((status) => status !== nextStatus)
      // The payment section has its own button for refunds.
      .filter((status) => status !== 'refunded' || payments.every(({ refund }) => refund === null))
      .map((status) => ({
        status,
        label:
          order.status === 'cancelled' && status === getStatusBeforeCancellation(order)
            ? `Reopen as ${toInlineLabel(status)}`
            : STATUS_ACTIONS[status],
        permission: getStatusPermission(status),
        consequences: describeStatus(status),
      })),
    recalculateUrl: buildContextUrl(context, `${path}/recalculate`),
    recalculatePermission: getEditPermission(order, RECALCULATED_FIELDS),
    cancelConsequences: describeCommand(data, { type: 'cancel' }),
    refundConsequences: describeStatus('refunded', true),
    cancelUrl: order.status === 'cancelled' ? null : buildContextUrl(context, `${path}/cancel`),
    groups: Object.fromEntries(EDIT_GROUP_NAMES.map((name) => [name, buildGroup(name)])) as Record<
      EditGroup,
      ReturnType<typeof buildGroup>
    >,
    trip: buildTripView(order, format),
    certificate: buildCertificateSection(order, data, format),
    checkout: buildCheckoutRows(order, format),
    mails: data.mails,
    dates: [
      ...buildDate('Placed', order.placedAt),
      ...buildDate('Created', order.createdAt),
      ...buildDate('Last changed', order.version === 1 ? null : order.updatedAt),
      ...buildDate('Paid', order.paidAt),
      ...buildDate('Fulfilled', order.fulfilledAt),
      ...buildDate('Cancelled', order.cancelledAt),
    ],
    timeZone,
    history: entries,
    notice,
  }
}

/** Explains why an order cannot change to a status. */
export function explainInvalidTransition(order: Order, status: OrderStatus): Notice {
  const targets = getTransitions(order).map(toInlineLabel)
  const options =
    targets.length === 0
      ? 'and can only be cancelled'
      : `and can only become ${joinWithOr(targets)}`
  return {
    title: `This order cannot become ${toInlineLabel(status)}`,
    text: `It is ${toInlineLabel(order.status)} ${options}. Nothing was changed.`,
    entries: [],
  }
}
