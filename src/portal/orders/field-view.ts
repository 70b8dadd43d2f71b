import { getNumberFormatter } from '../../formatting/number-formatter.js'
import { getMaxLength } from '../../orders/order.js'
import { isOptional, type FieldErrors, type FieldTexts, type OrderField } from './order-fields.js'

/** What people read for the fields of an order's forms. */
export const FIELD_LABELS: Record<OrderField, string> = {
  customerName: 'Name',
  customerEmail: 'E-mail',
  vesselName: 'Name',
  imoNumber: 'IMO number',
  co2eKg: 'CO₂e to offset',
  amount: 'Amount',
  currency: 'Currency',
  orderSourceId: 'Order source id',
  notes: 'Notes',
}

/** How a field is asked for: a line, an e-mail address, a mass, money, a currency, a text. */
type Kind = 'line' | 'email' | 'kilograms' | 'money' | 'currency' | 'text'

const KINDS: Record<OrderField, { kind: Kind; maxLength: number; hint?: string }> = {
  customerName: { kind: 'line', maxLength: getMaxLength('customerName') },
  customerEmail: { kind: 'email', maxLength: getMaxLength('customerEmail') },
  vesselName: { kind: 'line', maxLength: getMaxLength('vesselName') },
  imoNumber: {
    kind: 'line',
    maxLength: getMaxLength('imoNumber'),
    hint: 'Seven digits, with or without “IMO”.',
  },
  co2eKg: { kind: 'kilograms', maxLength: 32 },
  amount: { kind: 'money', maxLength: 32 },
  currency: { kind: 'currency', maxLength: 3 },
  orderSourceId: {
    kind: 'line',
    maxLength: getMaxLength('orderSourceId'),
    hint: 'The offset order at the order source.',
  },
  notes: {
    kind: 'text',
    maxLength: getMaxLength('notes'),
    hint: 'Only administrators see them.',
  },
}

export interface FieldView {
  name: OrderField
  label: string
  kind: Kind
  maxLength: number
  hint: string | undefined
  optional: boolean
  value: string
  error: string | undefined
  /** What stands there now, where somebody else has changed it */
  theirs: string | undefined
  focus: boolean
}

/** Large limits are hard to read without groups, and are understood with them. */
const grouped = (fault: string | undefined): string | undefined =>
  fault?.replace(/(?<=at most )\d{5,}/, (limit) => getNumberFormatter('en-GB').exact(Number(limit)))

/** Fields as their form shows them. The first wrong one has the focus, else the first. */
export function buildFieldViews(
  fields: readonly OrderField[],
  texts: FieldTexts,
  faults: FieldErrors,
  theirs: FieldTexts = {},
): FieldView[] {
  const focused = fields.find((field) => faults[field] !== undefined) ?? fields[0]
  return fields.map((name) => ({
    name,
    label: FIELD_LABELS[name],
    hint: undefined,
    ...KINDS[name],
    optional: isOptional(name),
    value: texts[name] ?? '',
    error: grouped(faults[name]),
    theirs: theirs[name],
    focus: name === focused,
  }))
}
