import {
  CALCULATOR_TYPES,
  isCalculatorType,
  type CalculatorType,
} from '../../calculator/calculator-data.js'
import { parseCalculatorForm, type CalculatorForm } from '../../calculator/calculator-form.js'
import { calculateEstimate } from '../../calculator/estimate.js'
import { formatUnambiguous } from '../../formatting/number-input.js'
import { checker } from '../../orders/validators.js'
import { parseDateTime } from './parse-datetime.js'
import {
  BLANK,
  ORDER_FIELDS,
  parseFields,
  getFieldText,
  type FieldErrors,
  type FieldTexts,
} from './order-fields.js'
import { NewOrder } from '../../orders/order.js'

/** The form of a new order as a person filled it in. */
export interface NewOrderForm {
  texts: FieldTexts
  status: string
  /** As typed, in the service's time zone */
  placedAt: string
  calculatorType: CalculatorType | null
  /** Each calculator's own fields, the unchosen ones kept as well */
  calculators: Record<CalculatorType, CalculatorForm>
  /** What the chosen calculator has put into the field of CO2e; blank where it has not */
  computed: string
  /** By field; those of a calculator have its type in front, `fuel.quantity` */
  faults: FieldErrors
  /** The order, once all is well */
  order: NewOrder | null
}

const check = checker(NewOrder)

/** To the gram. */
const gramsText = (kilograms: number): string =>
  formatUnambiguous(String(Math.round(kilograms * 1000) / 1000))

/**
 * Reads the form of a new order. The result of the chosen calculator stands in the field of
 * CO2e as long as nobody has typed another amount there.
 */
export function parseNewOrderForm(
  submitted: Record<string, unknown>,
  timeZone: string,
): NewOrderForm {
  const asked = getFieldText(submitted.calculatorType)
  const calculatorType = isCalculatorType(asked) ? asked : null
  const calculators = Object.fromEntries(
    CALCULATOR_TYPES.map((type) => [type, parseCalculatorForm(type, submitted, `${type}.`)]),
  ) as Record<CalculatorType, CalculatorForm>
  const chosen = calculatorType === null ? null : calculators[calculatorType]
  const calculation = chosen?.calculation ?? null

  const typed = getFieldText(submitted.co2eKg)
  const isByHand = typed !== '' && typed !== getFieldText(submitted.computed)
  const computed = calculation === null ? '' : gramsText(calculateEstimate(calculation).co2eKg)
  const co2eKg = isByHand ? typed : computed
  const { texts, given, faults } = parseFields(ORDER_FIELDS, { ...submitted, co2eKg })

  const placedText = getFieldText(submitted.placedAt)
  const placedAt = placedText === '' ? undefined : parseDateTime(placedText, timeZone)
  if (placedAt === null) {
    faults.placedAt = 'must be a date and a time from 1900 to 2199, such as 2026-11-20 09:30'
  }
  const status = getFieldText(submitted.status) || 'pending'

  const checked = check({
    ...given,
    ...calculation,
    ...(placedAt == null ? {} : { placedAt }),
    status,
  })
  const found = checked.ok ? [] : checked.errors
  const all: FieldErrors = {
    ...Object.fromEntries(found.map(({ path, message }) => [path, message])),
    ...faults,
    ...(chosen && tripFaults(asked, chosen)),
  }
  // The calculator will fill it in, once its own fields are.
  if (co2eKg === '' && chosen !== null) delete all.co2eKg
  // How much it costs is told once, where it is typed.
  delete all.amountMinor
  return {
    texts,
    status,
    placedAt: placedText,
    calculatorType,
    calculators,
    computed: isByHand ? '' : computed,
    faults: all,
    order: checked.ok && Object.keys(all).length === 0 ? checked.value : null,
  }
}

const tripFaults = (type: string, { missing, errors }: CalculatorForm): FieldErrors =>
  Object.fromEntries([
    ...missing.map((name): [string, string] => [`${type}.${name}`, BLANK]),
    ...Object.entries(errors).map(([name, message]): [string, string] => [
      `${type}.${name}`,
      message,
    ]),
  ])
