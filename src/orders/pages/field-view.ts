import { getMaxLength } from '../order.js'
import type { Formatters } from '../../core/formatting/formatters.js'
import { isOptional, type FieldErrors, type FieldValues, type OrderField } from './order-fields.js'

type InputType = 'line' | 'email' | 'kilograms' | 'money' | 'currency' | 'text' | 'web' | 'date'

interface FieldDefinition {
  label: string
  type: InputType
  maxLength: number
  hint?: string
}

const FIELDS: Record<OrderField, FieldDefinition> = {
  customerName: { label: 'Name', type: 'line', maxLength: getMaxLength('customerName') },
  customerEmail: { label: 'Email', type: 'email', maxLength: getMaxLength('customerEmail') },
  vesselName: { label: 'Name', type: 'line', maxLength: getMaxLength('vesselName') },
  imoNumber: {
    label: 'IMO number',
    type: 'line',
    maxLength: getMaxLength('imoNumber'),
    hint: 'Seven digits, with or without “IMO”.',
  },
  co2eKg: { label: 'CO₂e', type: 'kilograms', maxLength: 32 },
  amount: { label: 'Amount', type: 'money', maxLength: 32 },
  currency: { label: 'Currency', type: 'currency', maxLength: 3 },
  orderSourceId: {
    label: 'Provider order ID',
    type: 'line',
    maxLength: getMaxLength('orderSourceId'),
    hint: 'ID of the offset order at the provider.',
  },
  notes: {
    label: 'Notes',
    type: 'text',
    maxLength: getMaxLength('notes'),
    hint: 'Visible to administrators only.',
  },
  registry: { label: 'Registry', type: 'line', maxLength: 120 },
  reference: {
    label: 'Reference',
    type: 'line',
    maxLength: 500,
    hint: 'Serial numbers, or the number of the retirement in the registry.',
  },
  url: { label: 'Page in the registry', type: 'web', maxLength: 2000 },
  standard: { label: 'Standard', type: 'line', maxLength: 120 },
  vintage: { label: 'Vintage', type: 'line', maxLength: 40 },
  retiredAt: { label: 'Retired on', type: 'date', maxLength: 10 },
}

interface FieldView {
  name: OrderField
  label: string
  type: InputType
  maxLength: number
  hint: string | undefined
  isOptional: boolean
  value: string
  error: string | undefined
  /** After a version conflict: the stored value, if it differs from the form */
  currentValue: string | undefined
  hasFocus: boolean
}

/** Formats large limits in an error message. */
const formatLimit = (message: string | undefined, { numbers }: Formatters): string | undefined =>
  message?.replace(/(?<=at most )\d{5,}/, (limit) => numbers.exact(Number(limit)))

interface Options {
  values: FieldValues
  errors: FieldErrors
  currentValues?: FieldValues
  format: Formatters
}

/** Builds the fields of a form. The first invalid field, or else the first field, has the focus. */
export function buildFieldViews(
  fields: readonly OrderField[],
  { values, errors, currentValues = {}, format }: Options,
): FieldView[] {
  const focused = fields.find((field) => errors[field] !== undefined) ?? fields[0]
  return fields.map((name) => ({
    hint: undefined,
    ...FIELDS[name],
    name,
    isOptional: isOptional(name),
    value: values[name] ?? '',
    error: formatLimit(errors[name], format),
    currentValue: currentValues[name],
    hasFocus: name === focused,
  }))
}
