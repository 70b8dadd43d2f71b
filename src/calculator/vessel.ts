import { Type, type Static } from '@sinclair/typebox'
import { textLine } from '../core/validation/text-line.js'

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
