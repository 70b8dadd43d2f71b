import { Type } from '@sinclair/typebox'
import {
  checkRules,
  limit,
  optional,
  toUrlRule,
  type ConfigPart,
  type Values,
} from '../core/config/config-part.js'
import type { Config } from '../core/config/config.js'
import { getMinorUnitDigits } from '../core/formatting/number-formatter.js'
import { isTextLine } from '../core/validation/text-rules.js'
import { DEFAULT_CURRENCY, type Amount } from '../orders/amount.js'
import { getChargeLimits } from '../payments/stripe-amount.js'
import { isIban, MAX_ACCOUNT_NAME } from './bank-transfer/epc-payload.js'
import type { GetPriceTerms } from './prices.js'

declare module '../core/config/config.js' {
  interface Config extends Values<typeof variables> {}
}

const variables = {
  SERVICE_FEE_PERCENT: Type.Number({
    minimum: 0,
    maximum: 1000,
    default: 0,
    description: "Percentage added to the provider's price",
  }),
  PRICE_PER_TONNE: optional(
    'Price of carbon credits for a tonne of CO2e, in CURRENCY, such as 24.50',
  ),
  MINIMUM_AMOUNT: optional('Minimum amount of a guest order, in CURRENCY, such as 5'),
  PAYMENT_INSTRUCTIONS: optional('How guests pay, shown with their orders; \\n is a line break'),
  PAYMENT_IBAN: optional('Account for bank transfers, shown with unpaid orders'),
  PAYMENT_BIC: optional('BIC of the account, for transfers from other countries'),
  PAYMENT_ACCOUNT_NAME: Type.Optional(
    Type.String({
      maxLength: MAX_ACCOUNT_NAME,
      description: 'Holder of the account; BRAND_NAME by default',
    }),
  ),
  INVOICE_DUE_DAYS: Type.Integer({
    minimum: 1,
    maximum: 365,
    default: 14,
    description: 'Days that guests have to pay by bank transfer',
  }),
  TERMS_URL: optional('Terms that guests agree to when they order'),
  PRIVACY_URL: optional('Privacy notice, linked from the order form'),
  REFUND_POLICY: optional('When guests get their money back, in a sentence'),
  ORDER_LIMIT_PER_CLIENT: limit(60, 'Guest orders per client per hour'),
  ORDER_LIMIT_PER_EMAIL: limit(10, 'Guest orders per email address per hour'),
  ORDER_RATE_LIMIT_PER_MINUTE: limit(600, 'Quotes, order forms and payments per client per minute'),
  MAIL_HOLD_SECONDS: Type.Integer({
    minimum: 0,
    maximum: 3600,
    default: 60,
    description: 'How long emails wait after a change by a person, who may undo it',
  }),
}

/** ISO 9362 */
const BIC = /^[A-Z]{4}[A-Z]{2}[A-Z\d]{2}(?:[A-Z\d]{3})?$/

const DECIMAL = /^(\d{1,15})(?:\.(\d+))?$/

/**
 * Parses a decimal number in plain digits, such as `24.50`, as a whole number of units of
 * 10^-`digits`, such as the minor units of a currency. Does not round: returns `null` if the text
 * is not a number, has more decimals, or is too large.
 */
export function parseDecimal(text: string, digits: number): number | null {
  const [, whole, fraction = ''] = DECIMAL.exec(text) ?? []
  if (whole === undefined || fraction.length > digits) return null
  const units = Number(whole + fraction.padEnd(digits, '0'))
  return Number.isSafeInteger(units) ? units : null
}

/** Decimals of SERVICE_FEE_PERCENT; the fee is calculated in hundredths of a percent. */
const PERCENT_DIGITS = 2

function findErrors(environment: NodeJS.ProcessEnv): string[] {
  const { CURRENCY = DEFAULT_CURRENCY } = environment
  const digits = getMinorUnitDigits(CURRENCY)
  const decimals = digits === 0 ? 'without decimals' : `with at most ${digits} decimals`
  const isAmount = (text: string): boolean => (parseDecimal(text, digits) ?? 0) > 0
  const amount = `must be an amount in ${CURRENCY} greater than 0, ${decimals}`
  return checkRules(environment, [
    ['PRICE_PER_TONNE', isAmount, amount],
    ['MINIMUM_AMOUNT', isAmount, amount],
    [
      'SERVICE_FEE_PERCENT',
      (text) => parseDecimal(text, PERCENT_DIGITS) !== null,
      `must be a number in plain digits, with at most ${PERCENT_DIGITS} decimals`,
    ],
    ['PAYMENT_IBAN', isIban, 'must be an IBAN with correct check digits'],
    ['PAYMENT_BIC', (text) => BIC.test(text), 'must be a BIC of 8 or 11 characters, in capitals'],
    ['PAYMENT_ACCOUNT_NAME', isTextLine, 'must be a single line'],
    toUrlRule('TERMS_URL'),
    toUrlRule('PRIVACY_URL'),
  ])
}

type PriceConfig = Pick<
  Config,
  'CURRENCY' | 'PRICE_PER_TONNE' | 'SERVICE_FEE_PERCENT' | 'MINIMUM_AMOUNT'
>

function toAmount(text: string | undefined, currency: string): Amount | null {
  const amountMinor = text === undefined ? null : parseDecimal(text, getMinorUnitDigits(currency))
  return amountMinor === null ? null : { amountMinor, currency }
}

/** The operator's own price per tonne of CO2e; `null` if there is none. */
export const getOwnPrice = ({ PRICE_PER_TONNE, CURRENCY }: PriceConfig): Amount | null =>
  toAmount(PRICE_PER_TONNE, CURRENCY)

/**
 * Returns a function that looks up the price terms of a currency. MINIMUM_AMOUNT only applies to
 * prices in CURRENCY. With Stripe, amounts are rounded up to what Stripe can charge.
 */
export function createPriceTerms(config: PriceConfig & Pick<Config, 'PAYMENT'>): GetPriceTerms {
  const serviceFee = Math.round(config.SERVICE_FEE_PERCENT * 10 ** PERCENT_DIGITS)
  const minimum = toAmount(config.MINIMUM_AMOUNT, config.CURRENCY)
  return (currency) => {
    const minimumMinor = currency === minimum?.currency ? minimum.amountMinor : 0
    if (config.PAYMENT !== 'stripe') return { serviceFee, minimumMinor }
    const limits = getChargeLimits(currency)
    return { serviceFee, ...limits, minimumMinor: Math.max(minimumMinor, limits.minimumMinor) }
  }
}

/** Prices and guest orders. */
export const checkoutConfig = { variables, findErrors } satisfies ConfigPart
