import { CALCULATOR_TYPES, type CalculatorType } from '../../calculator/calculator-data.js'
import {
  CALCULATOR_NAMES,
  CHOICES,
  FIELD_NAMES,
  formView,
} from '../../calculator/calculator-view.js'
import { fieldViews } from './field-view.js'
import type { Figures } from './figures.js'
import type { NewOrderForm } from './new-order-form.js'
import { ORDER_FIELDS, type Faults } from './order-fields.js'
import { LIVE_STATUSES } from '../order-status.js'
import { STATUS_NAMES } from './order-words.js'
import { tripSum } from './trip-sum.js'

/** The faults of one calculator's fields, by their names in it. */
const faultsOf = (type: CalculatorType, faults: Faults): Faults =>
  Object.fromEntries(
    Object.entries(faults)
      .filter(([path]) => path.startsWith(`${type}.`))
      .map(([path, message]) => [path.slice(type.length + 1), message]),
  )

/** What the chosen calculator says, as far as its fields are filled in. */
export function emissionView({ calculatorType, calculators }: NewOrderForm, figures: Figures) {
  if (calculatorType === null) return { state: 'none' as const }
  const form = calculators[calculatorType]
  if (form.calculation !== null) {
    return { state: 'computed' as const, ...tripSum(form.calculation, figures) }
  }
  const { missing, wrong } = formView(form, false)
  return { state: 'waiting' as const, missing, wrong: wrong.map(({ name }) => name) }
}

/** The errors beside a calculator's fields while somebody fills them in; blank ones come later. */
export const emissionErrors = ({ calculatorType, calculators }: NewOrderForm) =>
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
  faults: Faults
  figures: Figures
}

/** The form of a new order as its page shows it. */
export function newOrderView({ form, key, faults, figures }: Shown) {
  const fields = fieldViews(ORDER_FIELDS, form.texts, faults)
  return {
    key,
    fields: Object.fromEntries(fields.map((field) => [field.name, field])),
    computed: form.computed,
    faults,
    wrong: Object.keys(faults).length,
    placedAt: { value: form.placedAt, error: faults.placedAt },
    statuses: LIVE_STATUSES.map((value) => ({
      value,
      label: STATUS_NAMES[value],
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
    emission: emissionView(form, figures),
  }
}
