import type { Amount } from '../../orders/amount.js'

const IBAN = /^[A-Z]{2}\d{2}[A-Z\d]{11,30}$/

/** An IBAN as payment systems store it: in capitals, without spaces. */
export const toElectronicIban = (text: string): string => text.replace(/\s/g, '').toUpperCase()

/** An IBAN as people read it: in groups of four (ISO 13616). */
export const formatIban = (iban: string): string =>
  toElectronicIban(iban).replace(/.{4}(?=.)/g, '$& ')

/** Whether a text is an IBAN with correct check digits (ISO 7064, MOD 97-10). */
export function isIban(text: string): boolean {
  const iban = toElectronicIban(text)
  if (!IBAN.test(iban)) return false
  const digits = `${iban.slice(4)}${iban.slice(0, 4)}`.replace(/[A-Z]/g, (letter) =>
    String(parseInt(letter, 36)),
  )
  return BigInt(digits) % 97n === 1n
}

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
