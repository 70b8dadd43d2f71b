import { Type, type Static } from '@sinclair/typebox'
import { textLine } from '../core/validation/text-rules.js'

export const VesselName = textLine({
  maxLength: 80,
  description: 'Name of the vessel, in any script',
  examples: ['Ever Given'],
})

export const ImoNumber = Type.String({
  maxLength: 16,
  format: 'imo-number',
  'x-message': 'must be an IMO number: seven digits, the last one a check digit',
  description: 'IMO ship identification number, with or without the prefix "IMO"',
  examples: ['9811000', 'IMO 9811000'],
})

export const Vessel = Type.Object(
  { name: VesselName, imoNumber: Type.Optional(ImoNumber) },
  { additionalProperties: false },
)
export type Vessel = Static<typeof Vessel>

const IMO_NUMBER = /^(?:IMO ?)?(\d{7})$/i

/**
 * Returns the seven digits of an IMO ship identification number, such as `9811000` or
 * `IMO 9811000`; `null` if it is invalid.
 *
 * The check digit is the last digit of the sum of the first six digits, weighted 7 to 2 (IMO
 * resolution A.1117(30)). 0000000 passes this check but is not assigned.
 */
export function parseImoNumber(text: string): string | null {
  const digits = IMO_NUMBER.exec(text.trim())?.[1]
  if (digits === undefined || digits === '0000000') return null
  let sum = 0
  for (let i = 0; i < 6; i++) sum += Number(digits[i]) * (7 - i)
  return sum % 10 === Number(digits[6]) ? digits : null
}

export const isImoNumber = (text: string): boolean => parseImoNumber(text) !== null
