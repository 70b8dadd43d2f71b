import { describeTrip } from '../calculator/describe-trip.js'
import {
  formatMass,
  formatMoney,
  formatRoundedMass,
  type NumberFormatter,
  type PageFormat,
} from '../core/formatting/number-formatter.js'
import { suggestEmail } from '../core/validation/email-address.js'
import { describeShare } from '../orders/order-trip.js'
import { MAX_PERCENT } from '../orders/share.js'
import type { ProjectImages } from '../provider/project-images.js'
import {
  getCertificateName,
  type OrderForm,
  type OrderFormField,
  type ShareKind,
} from './order-form.js'
import type { OrderedTrip, TripFields } from './ordered-trip.js'
import { buildCardPrice, buildPortfolioView, findLowestPrice } from './portfolio-view.js'
import { describeNoPrice, type Price } from './prices.js'
import type { OfferPrice, QuoteResult } from './quotes.js'

/** Why an order form is shown again. */
export const FORM_NOTICES = [
  'price_changed',
  'form_expired',
  'duplicate',
  'unprintable_name',
] as const
type FormNotice = (typeof FORM_NOTICES)[number]

/** What was submitted, and how the form is shown. */
export interface OrderFormState {
  trip: OrderedTrip
  fields: TripFields
  form: OrderForm
  notice?: FormNotice
  /** An error that is not about a field */
  alert?: string
  showErrors?: boolean
}

interface OrderFormData {
  /** `null` if the share is invalid */
  result: QuoteResult | null
  formToken: string
  prices: OfferPrice[]
  images: ProjectImages | null
  /** Why the certificate's PDF cannot show the name; `null` if it can */
  nameProblem: string | null
}

/** The fields, in the same order as in the form, with their names for the list of errors. */
const FIELD_NAMES: Record<OrderFormField, string> = {
  portfolioId: 'Portfolio',
  share: 'Share',
  name: 'Name',
  email: 'Email',
  consent: 'Terms',
  company: 'Company',
  vatId: 'VAT ID',
  beneficiary: 'Name on the certificate',
}

/** How a price is made up, from the credits to the total. */
function buildPriceView(price: Price, numbers: NumberFormatter) {
  const { currency, offsetMinor, serviceFeeMinor, amountMinor, paidPerTonneMinor } = price
  return {
    mass: formatRoundedMass(price.co2eKg, numbers),
    exactMass: formatMass(price.co2eKg, numbers),
    perTonne: price.isMinimum ? null : formatMoney(paidPerTonneMinor, currency),
    offset: formatMoney(offsetMinor, currency),
    serviceFee: serviceFeeMinor === 0 ? null : formatMoney(serviceFeeMinor, currency),
    total: formatMoney(amountMinor, currency),
  }
}

const SHARE_LABELS: Record<ShareKind, string> = {
  guests: 'My part',
  whole: 'Whole trip',
  percent: 'Percentage',
}

/** The kinds of share to choose from, with the numbers to start with. */
function buildShareView({ shareChoice }: OrderForm, guests: number | undefined) {
  const kinds = (Object.keys(SHARE_LABELS) as ShareKind[]).filter(
    (kind) => kind !== 'guests' || guests !== undefined || shareChoice.kind === kind,
  )
  return {
    kinds: kinds.map((kind) => ({
      value: kind,
      label: SHARE_LABELS[kind],
      isSelected: kind === shareChoice.kind,
    })),
    guests: guests ?? null,
    partGuests: shareChoice.guests || '1',
    otherPercent: shareChoice.percent || '50',
    maximumPercent: MAX_PERCENT,
  }
}

/** An error as a sentence that stands alone: some messages continue the name of their field. */
const toSentence = (name: string, message: string): string =>
  /^\p{Ll}/u.test(message) ? `${name} ${message}` : message

export function buildOrderFormView(
  { trip, fields, form, notice, alert, showErrors }: OrderFormState,
  { result, formToken, prices, images, nameProblem }: OrderFormData,
  { numbers, time }: PageFormat,
) {
  const { guests } = trip.calculation.calculatorData
  const { portfolioId, share } = form.errors
  const errors: OrderForm['errors'] = showErrors
    ? form.errors
    : { ...(portfolioId && { portfolioId }), ...(share && { share }) }
  const quoted = result?.outcome === 'quoted' ? result : null
  const selectedId = quoted?.quote.portfolio?.id ?? form.portfolioId ?? prices[0]?.portfolio?.id
  const lowestId = findLowestPrice(prices)
  const portfolios = prices.flatMap(({ portfolio, result: price }) =>
    portfolio === null
      ? []
      : {
          ...buildPortfolioView(portfolio, images, lowestId),
          ...buildCardPrice(price),
          hasPrice: form.share !== null,
          isSelected: portfolio.id === selectedId,
        },
  )
  return {
    hidden: { ...fields, form: formToken },
    vessel: trip.vessel,
    trip: describeTrip(trip.calculation, numbers),
    calculatorUrl: `/calculator/${trip.calculation.calculatorType}?${new URLSearchParams(fields).toString()}`,
    portfolios,
    chosen: portfolios.find(({ isSelected }) => isSelected) ?? null,
    share: buildShareView(form, guests),
    quote: quoted && {
      token: quoted.token,
      price: buildPriceView(quoted.quote, numbers),
      share: describeShare(quoted.quote, guests, numbers),
      validUntil: time(quoted.quote.validUntil),
    },
    noPrice:
      result === null
        ? 'Correct the amount to see the price.'
        : quoted
          ? null
          : describeNoPrice(result),
    values: form.values,
    emailSuggestion: suggestEmail(form.values.email),
    isPublic: form.isPublic,
    hasConsent: form.hasConsent,
    errors,
    invalid: (Object.keys(FIELD_NAMES) as OrderFormField[]).flatMap((field) => {
      const message = errors[field]
      return message === undefined ? [] : { field, text: toSentence(FIELD_NAMES[field], message) }
    }),
    nameProblem,
    /** The name that the guest keeps by sending the form again */
    keptName: nameProblem === null ? '' : getCertificateName(form),
    notice: (quoted && notice) ?? null,
    alert: alert ?? null,
  }
}
