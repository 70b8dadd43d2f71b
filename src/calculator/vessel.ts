import { Type, type Static } from '@sinclair/typebox'

export const VesselName = Type.String({
  minLength: 1,
  maxLength: 80,
  format: 'text-line',
  description: 'Name of the vessel, in any script',
  examples: ['Ever Given'],
})

export const ImoNumber = Type.String({
  maxLength: 16,
  format: 'imo-number',
  description: 'IMO ship identification number, with or without "IMO" in front',
  examples: ['9811000', 'IMO 9811000'],
})

export const Vessel = Type.Object(
  { name: VesselName, imoNumber: Type.Optional(ImoNumber) },
  { additionalProperties: false },
)
export type Vessel = Static<typeof Vessel>
