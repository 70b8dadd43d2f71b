import type { Formatters } from '../../core/formatting/portal-formatters.js'
import { findLatestAttempt, isUnresolved } from '../attempt.js'
import { isErased } from '../erase-order.js'
import {
  formatRetirementDate,
  joinWithOr,
  METHOD_LABELS,
  ORIGIN_LABELS,
  STATUS_LABELS,
  toInlineLabel,
} from '../labels.js'
import {
  getEditPermission,
  getStatusPermission,
  RECALCULATED_FIELDS,
} from '../order-permissions.js'
import {
  getStatusBeforeCancellation,
  getTransitions,
  toLiveStatus,
  type OrderStatus,
} from '../order-status.js'
import { describeShare } from '../order-trip.js'
import type { Order } from '../order.js'
import {
  EDIT_GROUP_NAMES,
  EDIT_GROUPS,
  getGroupPermission,
  type EditForm,
  type EditGroup,
} from './edit-form.js'
import { buildHistoryView } from './history-view.js'
import { buildContextUrl } from './list-context.js'
import {
  describeConsequences,
  SECTION_PLACES,
  simulateChanges,
  type DescribeConsequences,
  type NextStep,
  type Notice,
  type OrderData,
  type OrderPageState,
  type OrderSections,
} from './order-extensions.js'
import { buildFieldViews, getFieldValues, type FieldValues } from './order-fields.js'
import { buildTripView } from './trip-view.js'

interface Row {
  label: string
  value: string
}

const toRow = (label: string, value: string | null): Row[] =>
  value === null ? [] : [{ label, value }]

/** How an order was created, and the guest's choices; empty if unknown. */
function buildCheckoutRows(
  { origin, checkout, currency, calculatorData }: Order,
  format: Formatters,
): Row[] {
  if (origin === null) return []
  const created = { label: 'Created by', value: ORIGIN_LABELS[origin] }
  if (checkout === null) return [created]
  const { offsetMinor, serviceFeeMinor } = checkout
  const quotedIn = checkout.currency ?? currency
  return [
    created,
    ...toRow('Payment', METHOD_LABELS[checkout.paymentMethod]),
    ...toRow('Portfolio', checkout.portfolioName),
    ...toRow('Share', describeShare(checkout, calculatorData?.guests, format.numbers)),
    ...toRow('Quoted credits', format.money(offsetMinor, quotedIn)),
    ...toRow('Quoted service fee', format.money(serviceFeeMinor, quotedIn)),
    ...toRow('Name on the certificate', checkout.beneficiary),
    ...toRow('Certificate', checkout.isPublic ? 'May be published' : 'Not to be published'),
    ...toRow('Company', checkout.company),
    ...toRow('VAT ID', checkout.vatId),
  ]
}

/** The next step of an order by its status alone; `null` if there is none. */
function findStatusStep(order: Order): NextStep | null {
  if (order.status === 'pending') {
    return {
      title: 'Waiting for payment',
      text:
        order.checkout?.paymentMethod === 'stripe'
          ? 'The order is marked as paid when Stripe reports the payment. Mark it yourself only if the customer pays another way.'
          : 'Mark the order as paid when you have received the payment.',
      action: { type: 'status', status: 'paid' },
    }
  }
  if (order.status !== 'paid' && order.status !== 'processing') return null
  if (order.orderSourceId !== null) {
    return {
      title: 'Placed with the provider',
      text: 'Mark the order as fulfilled when the customer has received proof of the retirement.',
      action: { type: 'status', status: 'fulfilled' },
    }
  }
  if (order.retirement !== null) {
    return {
      title: 'The carbon credits are retired',
      text: 'Mark the order as fulfilled.',
      action: { type: 'status', status: 'fulfilled' },
    }
  }
  return order.status === 'paid'
    ? {
        title: 'Paid',
        text: 'Start processing when you order the carbon credits.',
        action: { type: 'status', status: 'processing' },
      }
    : {
        title: 'In progress',
        text: 'Mark the order as fulfilled when the carbon credits have been retired.',
        action: { type: 'status', status: 'fulfilled' },
      }
}

/** Determines the next step of an order; `null` if there is none. */
function findNextStep(order: Order, sections: OrderSections): NextStep | null {
  for (const place of SECTION_PLACES) {
    const nextStep = sections[place]?.nextStep
    if (nextStep !== undefined) return nextStep
  }
  return findStatusStep(order)
}

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

/** What the view is built from, besides the order. */
interface Parts {
  sections: OrderSections
  describers: readonly DescribeConsequences[]
}

/** Builds the order page. */
export function buildOrderView(
  { order, history, context, format, timeZone }: OrderData,
  { sections, describers }: Parts,
  state: OrderPageState = {},
) {
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
    title: name === 'retirement' && order.checkout === null ? 'Retirement' : GROUP_TITLES[name],
    permission: getGroupPermission(order, name),
    editUrl: buildContextUrl(context, `${path}/edit`, { group: name }),
    closeUrl: buildContextUrl(context, path, { group: name }),
    hasFocus: editedGroup === name,
    section: name === 'provider' || name === 'retirement' ? sections[name] : undefined,
    form: form?.group === name ? buildForm(form) : null,
  })
  const buildDate = (label: string, at: string | null) =>
    at === null ? [] : [{ label, at, text: format.dateTime(at) }]

  const amount = format.money(order.amountMinor, order.currency)
  const co2e = format.exactKilograms(order.co2eKg)
  const nextStep = findNextStep(order, sections)
  const nextStatus = nextStep?.action.type === 'status' ? nextStep.action.status : null
  const ownStatuses = Object.values(sections).map(({ ownStatus }) => ownStatus)

  /** Says what a command leads to besides the change itself; `null` if there is nothing to say. */
  const describeCommand = (command: Parameters<typeof simulateChanges>[1], isRefund = false) =>
    describeConsequences(describers, simulateChanges([order], command), {
      isSingle: true,
      isRefund,
      format,
    })
  const describeStatus = (name: OrderStatus, isRefund = false) => {
    const status = toLiveStatus(name)
    return status && describeCommand({ type: 'edit', changes: { status } }, isRefund)
  }
  return {
    ...order,
    statusLabel: STATUS_LABELS[order.status],
    mailto: toMailto(order.customerEmail),
    isErased: isErased(order),
    co2e,
    amount,
    isCompact: isShort(co2e) && isShort(amount),
    sections,
    /** Whether the order was sent to the provider, but the result is not recorded */
    isPlacementUnknown: isUnresolved(order, findLatestAttempt(history)),
    nextStep: nextStep && {
      ...nextStep,
      action: {
        ...nextStep.action,
        ...(nextStatus && {
          label: STATUS_ACTIONS[nextStatus],
          permission: getStatusPermission(nextStatus),
          consequences: describeStatus(nextStatus),
        }),
      },
    },
    url: buildContextUrl(context, path),
    statusUrl: buildContextUrl(context, `${path}/status`),
    /** Status changes other than the next step */
    statusActions: getTransitions(order)
      .filter((status) => status !== nextStatus)
      .filter((status) => !ownStatuses.includes(status))
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
    cancelConsequences: describeCommand({ type: 'cancel' }),
    refundConsequences: describeStatus('refunded', true),
    cancelUrl: order.status === 'cancelled' ? null : buildContextUrl(context, `${path}/cancel`),
    groups: Object.fromEntries(EDIT_GROUP_NAMES.map((name) => [name, buildGroup(name)])),
    trip: buildTripView(order, format),
    retirement: order.retirement && {
      ...order.retirement,
      retiredOn: formatRetirementDate(order.retirement, format.dateTime),
    },
    checkout: buildCheckoutRows(order, format),
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
  }
}
