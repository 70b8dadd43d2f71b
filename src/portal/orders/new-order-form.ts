import {
  CALCULATOR_TYPES,
  isCalculatorType,
  type CalculatorType,
} from '../../calculator/calculator-data.js'
import { parseCalculatorForm, type CalculatorForm } from '../../calculator/calculator-form.js'
import { calculateEstimate } from '../../calculator/estimate.js'
import { formatUnambiguous } from '../../formatting/number-input.js'
import { NewOrder } from '../../orders/order.js'
import { checker } from '../../orders/validators.js'
import {
  normalizeFieldValue,
  ORDER_FIELDS,
  parseFields,
  type FieldErrors,
  type FieldValues,
} from './order-fields.js'
import { parseDateTime } from './parse-datetime.js'

/** The form of a new order, as submitted. */
export interface NewOrderForm {
  values: FieldValues
  status: string
  /** As typed, in the service's time zone */
  placedAt: string
  calculatorType: CalculatorType | null
  /** The fields of every calculator, so that switching loses nothing */
  calculators: Record<CalculatorType, CalculatorForm>
  /** The calculated CO2e, if the CO2e field contains it; otherwise empty */
  calculatedCo2e: string
  /** By field; those of a calculator have its type as a prefix: `fuel.quantity` */
  errors: FieldErrors
  /** `null` if a field is invalid */
  order: NewOrder | null
}

const check = checker(NewOrder)

const formatToGram = (kilograms: number): string =>
  formatUnambiguous(String(Math.round(kilograms * 1000) / 1000))

const getCalculatorErrors = (type: string, { missing, errors }: CalculatorForm): FieldErrors =>
  Object.fromEntries(
    [...missing.map((name) => [name, 'Enter a value'] as const), ...Object.entries(errors)].map(
      ([name, message]) => [`${type}.${name}`, message],
    ),
  )

/**
 * Parses the form of a new order. The CO2e field follows the selected calculator until the user
 * types another value.
 */
export function parseNewOrderForm(
  submitted: Record<string, unknown>,
  timeZone: string,
): NewOrderForm {
  const submittedType = normalizeFieldValue(submitted.calculatorType)
  const calculatorType = isCalculatorType(submittedType) ? submittedType : null
  const calculators = Object.fromEntries(
    CALCULATOR_TYPES.map((type) => [
      type,
      parseCalculatorForm(type, submitted, { prefix: `${type}.` }),
    ]),
  ) as Record<CalculatorType, CalculatorForm>
  const calculator = calculatorType === null ? null : calculators[calculatorType]
  const calculation = calculator?.calculation ?? null

  const typedCo2e = normalizeFieldValue(submitted.co2eKg)
  const isTyped = typedCo2e !== '' && typedCo2e !== normalizeFieldValue(submitted.calculatedCo2e)
  const calculatedCo2e =
    calculation === null ? '' : formatToGram(calculateEstimate(calculation).co2eKg)
  const co2eKg = isTyped ? typedCo2e : calculatedCo2e
  const parsed = parseFields(ORDER_FIELDS, { ...submitted, co2eKg })

  const typedPlacedAt = normalizeFieldValue(submitted.placedAt)
  const placedAt = typedPlacedAt === '' ? undefined : parseDateTime(typedPlacedAt, timeZone)
  const status = normalizeFieldValue(submitted.status) || 'pending'
  const checked = check({
    ...parsed.input,
    ...calculation,
    ...(placedAt == null ? {} : { placedAt }),
    status,
  })
  const schemaErrors = checked.ok ? [] : checked.errors
  const errors: FieldErrors = {
    ...Object.fromEntries(schemaErrors.map(({ path, message }) => [path, message])),
    ...parsed.errors,
    ...(placedAt === null
      ? { placedAt: 'must be a date and a time from 1900 to 2199, such as 2026-11-20 09:30' }
      : {}),
    ...(calculator && getCalculatorErrors(submittedType, calculator)),
  }
  // It follows from the calculator's fields, which have errors of their own.
  if (co2eKg === '' && calculator !== null) delete errors.co2eKg
  // Reported at the field `amount`
  delete errors.amountMinor
  return {
    values: parsed.values,
    status,
    placedAt: typedPlacedAt,
    calculatorType,
    calculators,
    calculatedCo2e: isTyped ? '' : calculatedCo2e,
    errors,
    order: checked.ok && Object.keys(errors).length === 0 ? checked.value : null,
  }
}
