import {
  CALCULATOR_TYPES,
  isCalculatorType,
  type CalculatorType,
} from '../../calculator/calculator-data.js'
import { parseCalculatorForm, type CalculatorForm } from '../../calculator/calculator-form.js'
import { calculateEstimate } from '../../calculator/estimate.js'
import { parseDateTime } from '../../core/formatting/day-calendar.js'
import { formatUnambiguous } from '../../core/formatting/number-input.js'
import type { Formatters } from '../../core/formatting/portal-formatters.js'
import { truncateText } from '../../core/formatting/text.js'
import { NewOrder } from '../../orders/order.js'
import {
  formatAmountInput,
  normalizeFieldValue,
  ORDER_FIELDS,
  parseFields,
  type FieldErrors,
} from '../../orders/pages/order-fields.js'
import { checker } from '../../orders/validators.js'
import type { PricedPortfolio } from '../../provider/provider.js'
import { getPaidPerTonne, priceMass, type GetPriceTerms, type PriceResult } from '../prices.js'

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
 * Parses the form of a new order. Until the user types another value, the CO2e is the result of the
 * selected calculator, and the amount is the price of the selected portfolio.
 */
export function parseNewOrderForm(
  submitted: Record<string, unknown>,
  timeZone: string,
  pricing: Pricing | null,
) {
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

  const portfolioId = normalizeFieldValue(submitted.portfolio)
  const emissions = parseFields(['co2eKg'], { co2eKg }).input.co2eKg
  const suggestedPrice = pricing && suggestPrice(pricing, portfolioId, emissions)
  const suggestedAmount = suggestedPrice?.outcome === 'priced' ? suggestedPrice.price : null
  const typedAmount = normalizeFieldValue(submitted.amount)
  const typedPrice = `${typedAmount} ${normalizeFieldValue(submitted.currency)}`
  const isAmountTyped =
    typedAmount !== '' && typedPrice !== normalizeFieldValue(submitted.calculatedPrice)
  // A suggested amount is cleared when its portfolio is deselected.
  const suggested = suggestedAmount && {
    amount: formatAmountInput(suggestedAmount.amountMinor, suggestedAmount.currency),
    currency: suggestedAmount.currency,
  }
  const price = isAmountTyped ? {} : (suggested ?? { amount: '' })
  const parsed = parseFields(ORDER_FIELDS, { ...submitted, co2eKg, ...price })

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
  // CO2e is calculated from the calculator's fields, which have their own errors.
  if (co2eKg === '' && calculator !== null) delete errors.co2eKg
  // Reported for the field `amount`
  delete errors.amountMinor
  return {
    values: parsed.values,
    status,
    /** As typed, in the service's time zone */
    placedAt: typedPlacedAt,
    calculatorType,
    /** The fields of every calculator, so that users can switch and keep their input */
    calculators,
    /** The calculated CO2e, if the CO2e field contains it; otherwise empty */
    calculatedCo2e: isTyped ? '' : calculatedCo2e,
    /** ID of the portfolio whose price is suggested; empty if none is selected */
    portfolioId,
    /** `null` if there is no portfolio or no CO2e */
    suggestedPrice,
    /** The suggested amount and currency, if the form contains them; otherwise empty */
    calculatedPrice:
      isAmountTyped || suggestedAmount === null
        ? ''
        : `${parsed.values.amount ?? ''} ${suggestedAmount.currency}`,
    /** By field name; calculator fields have their type as a prefix, such as `fuel.quantity` */
    errors,
    /** `null` if a field is invalid */
    order: checked.ok && Object.keys(errors).length === 0 ? checked.value : null,
  }
}

export type NewOrderForm = ReturnType<typeof parseNewOrderForm>

const MAX_NAME_LENGTH = 120

/** The data from which prices are suggested. */
export interface Pricing {
  /** `null` if the provider's prices are unavailable */
  portfolios: readonly PricedPortfolio[] | null
  /** Service fee added to the provider's price, in percent */
  feePercent: number
  getTerms: GetPriceTerms
}

/** The price of the chosen portfolio; `null` if there is no portfolio or no CO2e. */
function suggestPrice(
  { portfolios, getTerms }: Pricing,
  portfolioId: string,
  co2eKg: unknown,
): PriceResult | null {
  const portfolio = portfolios?.find(({ id }) => String(id) === portfolioId)
  if (portfolio === undefined || typeof co2eKg !== 'number' || co2eKg <= 0) return null
  return priceMass(Math.round(co2eKg * 1000), portfolio.pricePerTon, getTerms)
}

/** The options of the portfolio field, with the price per tonne as customers pay it. */
export const buildPortfolioChoices = (
  { portfolios, getTerms }: Pricing,
  selectedId: string,
  format: Formatters,
) =>
  (portfolios ?? []).map(({ id, name, pricePerTon }) => ({
    id,
    label: `${truncateText(name, MAX_NAME_LENGTH)}, ${format.money(getPaidPerTonne(pricePerTon, getTerms), pricePerTon.currency)} per tonne`,
    isSelected: String(id) === selectedId,
  }))

interface Suggestion {
  price: PriceResult | null
  portfolioId: string
  /** Whether the form contains the suggested amount */
  isUsed: boolean
}

/** Explains the suggested price; empty if no portfolio is chosen. */
export function describeSuggestion(
  { portfolios, feePercent }: Pricing,
  { price, portfolioId, isUsed }: Suggestion,
  format: Formatters,
): string {
  if (portfolios === null)
    return 'The provider’s prices are unavailable. Enter the amount yourself.'
  if (portfolioId === '') return ''
  if (price === null) return 'Enter the CO₂e to get a suggested amount.'
  const fee = feePercent > 0 ? `, including a service fee of ${format.exact(feePercent)}%` : ''
  if (price.outcome !== 'priced') {
    return `The price would be too ${price.outcome === 'too_large' ? 'large' : 'small'} to be paid. Enter the amount yourself.`
  }
  const amount = format.money(price.price.amountMinor, price.price.currency)
  return isUsed
    ? `Suggested from the portfolio${fee}. You can enter another amount.`
    : `The portfolio suggests ${amount}${fee}. Clear the amount to use it.`
}
