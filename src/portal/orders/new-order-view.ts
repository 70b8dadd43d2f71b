import { CALCULATOR_TYPES, type CalculatorType } from '../../calculator/calculator-data.js'
import {
  CALCULATOR_NAMES,
  CHOICES,
  FIELD_NAMES,
  buildFormView,
} from '../../calculator/form-view.js'
import { buildFieldViews } from './field-view.js'
import type { Formatters } from '../formatters.js'
import type { NewOrderForm } from './new-order-form.js'
import { ORDER_FIELDS, type FieldErrors } from './order-fields.js'
import { LIVE_STATUSES } from '../../orders/order-status.js'
import { STATUS_LABELS } from '../labels.js'
import { estimateTrip } from './trip-estimate.js'

/** The faults of one calculator's fields, by their names in it. */
const faultsOf = (type: CalculatorType, faults: FieldErrors): FieldErrors =>
  Object.fromEntries(
    Object.entries(faults)
      .filter(([path]) => path.startsWith(`${type}.`))
      .map(([path, message]) => [path.slice(type.length + 1), message]),
  )

/** What the chosen calculator says, as far as its fields are filled in. */
export function buildEmissionView(
  { calculatorType, calculators }: NewOrderForm,
  figures: Formatters,
) {
  if (calculatorType === null) return { state: 'none' as const }
  const form = calculators[calculatorType]
  if (form.calculation !== null) {
    return { state: 'computed' as const, ...estimateTrip(form.calculation, figures) }
  }
  const { missing, invalid } = buildFormView(form, figures.numbers, false)
  return { state: 'waiting' as const, missing, wrong: invalid.map(({ name }) => name) }
}

/** The errors beside a calculator's fields while somebody fills them in; blank ones come later. */
export const getEmissionErrors = ({ calculatorType, calculators }: NewOrderForm) =>
  calculatorType === null
    ? []
    : Object.keys(FIELD_NAMES).map((name) => ({
        id: `${calculatorType}-${name}-error`,
        message: calculators[calculatorType].errors[name],
      }))

interface Shown {
  form: NewOrderForm
  /** Makes a second sending of the form harmless */
  key: string
  faults: FieldErrors
  figures: Formatters
}

/** The form of a new order as its page shows it. */
export function buildNewOrderView({ form, key, faults, figures }: Shown) {
  const fields = buildFieldViews(ORDER_FIELDS, form.texts, faults)
  return {
    key,
    fields: Object.fromEntries(fields.map((field) => [field.name, field])),
    computed: form.computed,
    faults,
    wrong: Object.keys(faults).length,
    placedAt: { value: form.placedAt, error: faults.placedAt },
    statuses: LIVE_STATUSES.map((value) => ({
      value,
      label: STATUS_LABELS[value],
      selected: value === form.status,
    })),
    calculators: [
      { type: 'none', title: 'None', checked: form.calculatorType === null, form: null },
      ...CALCULATOR_TYPES.map((type) => ({
        type,
        title: CALCULATOR_NAMES[type].title,
        checked: form.calculatorType === type,
        form: {
          names: FIELD_NAMES,
          values: form.calculators[type].values,
          errors: faultsOf(type, faults),
        },
      })),
    ],
    choices: CHOICES,
    emission: buildEmissionView(form, figures),
  }
}
