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
