import { describeTrip } from '../calculator/describe-trip.js'
import { withUnit, type NumberFormatter } from '../formatting/number-formatter.js'
import { SHARES } from '../orders/checkout.js'
import type { FormatMoney } from '../formatting/money-formatter.js'
import { suggestEmail } from '../validation/email-suggestion.js'
import type { OrderedTrip, TripFields } from './ordered-trip.js'
import type { OrderForm, OrderFormField } from './order-form.js'
import type { OfferPrice, Quote } from './quotes.js'

/** Formats the values of a page. */
export interface PageFormat {
  numbers: NumberFormatter
  money: FormatMoney
  /** Formats an ISO 8601 timestamp, depending on the page as a date, a time or both */
  time: (timestamp: string) => string
}

/** Why an order form is shown again. */
export type FormNotice = 'price_changed' | 'form_expired' | 'duplicate' | null

interface OrderFormPage {
  trip: OrderedTrip
  fields: TripFields
  form: OrderForm
  quote: Quote
  quoteToken: string
  formToken: string
  prices: OfferPrice[]
  notice: FormNotice
  /** An error that is not about a field */
  alert: string | null
  showErrors: boolean
}

/** The fields, in the same order as in the form, with their names for the list of errors. */
const FIELD_NAMES: Record<OrderFormField, string> = {
  portfolioId: 'Portfolio',
  name: 'Name',
  email: 'Email',
  company: 'Company',
  vatId: 'VAT ID',
  beneficiary: 'Name on the certificate',
  consent: 'Terms',
}

/** Decimal places that show a mass in tonnes to the gram */
const TONNE_DIGITS = 6

/** A mass to the gram, in kg below one tonne and in tonnes otherwise. */
export const formatMass = (kilograms: number, numbers: NumberFormatter): string =>
  kilograms < 1000
    ? withUnit(numbers.exact(kilograms), 'kg')
    : withUnit(numbers.exact(Number((kilograms / 1000).toFixed(TONNE_DIGITS))), 't')

/** How a price is made up, from the offset to the total. */
export function buildPriceView(quote: Quote, { numbers, money }: PageFormat) {
  const { currency, offsetMinor, serviceFeeMinor, amountMinor, pricePerTonneMinor } = quote
  return {
    mass: formatMass(quote.co2eKg, numbers),
    perTonne: money(pricePerTonneMinor, currency),
    offset: money(offsetMinor, currency),
    serviceFee: serviceFeeMinor === 0 ? null : money(serviceFeeMinor, currency),
    total: money(amountMinor, currency),
  }
}

export function buildOrderFormView(page: OrderFormPage, format: PageFormat) {
  const { trip, form, quote, prices, showErrors } = page
  const { numbers, money } = format
  const errors = showErrors ? form.errors : {}
  return {
    hidden: { ...page.fields, quote: page.quoteToken, form: page.formToken },
    vessel: trip.vessel,
    trip: describeTrip(trip.calculation, numbers),
    calculatorUrl: `/calculator/${trip.calculation.calculatorType}?${new URLSearchParams(page.fields).toString()}`,
    portfolios: prices.flatMap(({ portfolio, amountMinor, currency }) =>
      portfolio === null
        ? []
        : {
            id: portfolio.id,
            name: portfolio.name,
            description: portfolio.description,
            projects: portfolio.projects.map(({ name }) => name),
            price: money(amountMinor, currency),
            isSelected: portfolio.id === quote.portfolio?.id,
          },
    ),
    shares: SHARES.map((share) => ({
      value: share,
      label: numbers.percent(share / 100),
      isSelected: share === quote.sharePercent,
    })),
    price: buildPriceView(quote, format),
    validUntil: format.time(quote.validUntil),
    values: form.values,
    emailSuggestion: suggestEmail(form.values.email),
    isPublic: form.isPublic,
    hasConsent: form.hasConsent,
    errors,
    invalid: (Object.keys(FIELD_NAMES) as OrderFormField[])
      .filter((field) => errors[field] !== undefined)
      .map((field) => ({ field, name: FIELD_NAMES[field] })),
    notice: page.notice,
    alert: page.alert,
  }
}
