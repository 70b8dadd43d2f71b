import { readFileSync } from 'node:fs'
import { checkRules } from '../core/config/config-rules.js'
import type { Environment } from '../core/config/config-schema.js'
import { parseHttpUrl } from '../core/config/find-config-errors.js'
import { getMinorUnitDigits } from '../core/formatting/money-formatter.js'
import { getChargeLimits } from '../payments/stripe-amount.js'
import type { Amount } from '../orders/amount.js'
import type { GetPriceTerms } from './price-parts.js'

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

const DEFAULT_CURRENCY = 'USD'

/** The first bytes of TrueType and OpenType files. Collections and web fonts start differently. */
const FONT_SIGNATURES = ['00010000', '4f54544f', '74727565']

function isFontFile(path: string): boolean {
  try {
    return FONT_SIGNATURES.includes(readFileSync(path).subarray(0, 4).toString('hex'))
  } catch {
    return false
  }
}

/** Finds errors in the environment variables for guest orders. */
export function findOrderingConfigErrors(environment: NodeJS.ProcessEnv): string[] {
  const { CURRENCY = DEFAULT_CURRENCY } = environment
  const digits = getMinorUnitDigits(CURRENCY)
  const decimals = digits === 0 ? 'without decimals' : `with at most ${digits} decimals`
  const isAmount = (text: string): boolean => (parseDecimal(text, digits) ?? 0) > 0
  const amount = `must be an amount in ${CURRENCY} greater than 0, ${decimals}`
  const isUrl = (text: string): boolean => parseHttpUrl(text) !== null
  return checkRules(environment, [
    ['PRICE_PER_TONNE', isAmount, amount],
    ['MINIMUM_AMOUNT', isAmount, amount],
    [
      'SERVICE_FEE_PERCENT',
      (text) => parseDecimal(text, PERCENT_DIGITS) !== null,
      `must be a number in plain digits, with at most ${PERCENT_DIGITS} decimals`,
    ],
    ['TERMS_URL', isUrl, 'must be an http or https URL'],
    ['PRIVACY_URL', isUrl, 'must be an http or https URL'],
    ['CERTIFICATE_FONT', isFontFile, 'must be the path of a TTF or OTF file'],
    [
      'AUTO_FULFIL',
      (text) => text !== 'true' || environment.ORDERSOURCE_BASE_URL !== undefined,
      'needs an order source: set ORDERSOURCE_BASE_URL',
    ],
  ])
}

type PriceConfig = Pick<
  Environment,
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
export function createPriceTerms(
  config: PriceConfig & Pick<Environment, 'PAYMENT'>,
): GetPriceTerms {
  const serviceFee = Math.round(config.SERVICE_FEE_PERCENT * 10 ** PERCENT_DIGITS)
  const minimum = toAmount(config.MINIMUM_AMOUNT, config.CURRENCY)
  return (currency) => {
    const minimumMinor = currency === minimum?.currency ? minimum.amountMinor : 0
    if (config.PAYMENT !== 'stripe') return { serviceFee, minimumMinor }
    const limits = getChargeLimits(currency)
    return { serviceFee, ...limits, minimumMinor: Math.max(minimumMinor, limits.minimumMinor) }
  }
}

/**
 * How guests pay, with line breaks; `null` if not configured. `\n` in the variable stands for a
 * line break, because some platforms cannot store line breaks.
 */
export const getPaymentInstructions = ({
  PAYMENT_INSTRUCTIONS,
}: Pick<Environment, 'PAYMENT_INSTRUCTIONS'>): string | null =>
  PAYMENT_INSTRUCTIONS?.replaceAll('\\n', '\n') ?? null
