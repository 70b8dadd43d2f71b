const WRITTEN = /^(?:IMO ?)?(\d{7})$/i

/**
 * The seven digits of an IMO ship identification number, written `9811000` or `IMO 9811000`;
 * `null` where it is none.
 *
 * The last digit is the last digit of the sum of the first six, weighted 7 to 2
 * (IMO resolution A.1117(30)). 0000000 passes that sum but is nobody's number.
 */
export function parseImoNumber(text: string): string | null {
  const digits = WRITTEN.exec(text.trim())?.[1]
  if (digits === undefined || digits === '0000000') return null
  let sum = 0
  for (let i = 0; i < 6; i++) sum += Number(digits[i]) * (7 - i)
  return sum % 10 === Number(digits[6]) ? digits : null
}

export const isImoNumber = (text: string): boolean => parseImoNumber(text) !== null
