import type { Amount } from '../../orders/amount.js'

/** The account that guests transfer money to. */
export interface PaymentAccount {
  name: string
  /** Without spaces */
  iban: string
  bic: string | null
}

/** Maximum length of the name of an account in a code. */
export const MAX_ACCOUNT_NAME = 70
const MAX_REFERENCE = 140
const MAX_BYTES = 331
const MAX_CENTS = 99_999_999_999

/** Countries of the European Economic Area; transfers to others need a BIC. */
const EEA =
  /^(?:AT|BE|BG|CY|CZ|DE|DK|EE|ES|FI|FR|GR|HR|HU|IE|IS|IT|LI|LT|LU|LV|MT|NL|NO|PL|PT|RO|SE|SI|SK)/

/**
 * The content of the QR code that banking apps read (EPC069-12, version 002). Codes have error
 * correction level M. `null` if no code can express the transfer: it is not in euros, its amount is
 * zero, or it is too long.
 *
 * @param reference free text that the payer's bank passes on
 */
export function buildEpcPayload(
  { name, iban, bic }: PaymentAccount,
  { amountMinor, currency }: Amount,
  reference: string,
): string | null {
  const isTransferable = currency === 'EUR' && amountMinor > 0 && amountMinor <= MAX_CENTS
  if (!isTransferable || (bic === null && !EEA.test(iban))) return null
  const isTooLong = (text: string, limit: number) => Array.from(text).length > limit
  if (isTooLong(name, MAX_ACCOUNT_NAME) || isTooLong(reference, MAX_REFERENCE)) return null
  const amount = `EUR${(amountMinor / 100).toFixed(2)}`
  // Without a purpose and a structured reference.
  const lines = ['BCD', '002', '1', 'SCT', bic ?? '', name, iban, amount, '', '', reference]
  const payload = lines.join('\n')
  return Buffer.byteLength(payload) <= MAX_BYTES ? payload : null
}
