import { CALCULATOR_TYPES, type CalculatorType } from '../../calculator/calculator-data.js'
import {
  buildFormView,
  CALCULATOR_NAMES,
  CHOICES,
  FIELD_NAMES,
  listFieldNames,
} from '../../calculator/form-view.js'
import type { Formatters } from '../../core/formatting/formatters.js'
import { STATUS_LABELS } from '../../orders/labels.js'
import { LIVE_STATUSES } from '../../orders/order-status.js'
import { buildFieldViews, ORDER_FIELDS, type FieldErrors } from '../../orders/pages/order-fields.js'
import { estimateTrip } from '../../orders/pages/trip-estimate.js'
import { getStatusPermission } from '../../orders/status-permission.js'
import {
  buildPortfolioChoices,
  describeSuggestion,
  type NewOrderForm,
  type Pricing,
} from './new-order-form.js'

/** The errors in one calculator, by its field names. */
const getCalculatorErrors = (type: CalculatorType, errors: FieldErrors): FieldErrors =>
  Object.fromEntries(
    Object.entries(errors)
      .filter(([path]) => path.startsWith(`${type}.`))
      .map(([path, message]) => [path.slice(type.length + 1), message]),
  )

/** The result of the selected calculator, or the fields that it still needs. */
export function buildEmissionsView(
  { calculatorType, calculators }: NewOrderForm,
  format: Formatters,
) {
  if (calculatorType === null) return { state: 'none' as const }
  const form = calculators[calculatorType]
  if (form.calculation !== null) {
    return { state: 'calculated' as const, estimate: estimateTrip(form.calculation, format) }
  }
  const { missing, invalid } = buildFormView(calculatorType, form, format.numbers)
  return {
    state: 'incomplete' as const,
    missing,
    invalid: invalid.map(({ name }) => name),
  }
}

/** Errors in the selected calculator while the user fills it in; empty fields have no error yet. */
export const listCalculatorErrors = ({ calculatorType, calculators }: NewOrderForm) =>
  calculatorType === null
    ? []
    : listFieldNames(calculatorType, calculators[calculatorType].lines).map((name) => ({
        id: `${calculatorType}-${name.replaceAll('.', '-')}-error`,
        message: calculators[calculatorType].errors[name],
      }))

interface Options {
  form: NewOrderForm
  /** Idempotency key: submitting the form twice creates one order */
  key: string
  errors: FieldErrors
  pricing: Pricing | null
  format: Formatters
}

/** Builds the form of a new order. */
export function buildNewOrderView({ form, key, errors, pricing, format }: Options) {
  const fields = buildFieldViews(ORDER_FIELDS, { values: form.values, errors, format })
  return {
    key,
    fields: Object.fromEntries(fields.map((field) => [field.name, field])),
    calculatedCo2e: form.calculatedCo2e,
    calculatedPrice: form.calculatedPrice,
    portfolios: pricing && buildPortfolioChoices(pricing, form.portfolioId, format),
    priceHint:
      pricing &&
      describeSuggestion(
        pricing,
        {
          price: form.suggestedPrice,
          portfolioId: form.portfolioId,
          isUsed: form.calculatedPrice !== '',
        },
        format,
      ),
    errors,
    errorCount: Object.keys(errors).length,
    placedAt: { value: form.placedAt, error: errors.placedAt },
    statuses: LIVE_STATUSES.map((value) => ({
      permission: getStatusPermission(value),
      value,
      label: STATUS_LABELS[value],
      isSelected: value === form.status,
    })),
    calculators: [
      { type: 'none', title: 'None', isSelected: form.calculatorType === null, form: null },
      ...CALCULATOR_TYPES.map((type) => ({
        type,
        title: CALCULATOR_NAMES[type].title,
        isSelected: form.calculatorType === type,
        form: {
          names: FIELD_NAMES,
          values: form.calculators[type].values,
          lines: form.calculators[type].lines,
          errors: getCalculatorErrors(type, errors),
        },
      })),
    ],
    choices: CHOICES,
    emissions: buildEmissionsView(form, format),
  }
}
