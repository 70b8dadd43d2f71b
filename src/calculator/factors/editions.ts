import { EDITION_2025_06 } from './2025-06.js'
import { EDITION_2026_06 } from './2026-06.js'
import type { Edition } from './edition.js'

/** Fuels that are burnt. IDs are stored with orders and in printed codes: never remove one. */
export type BurntFuelType = keyof typeof EDITION_2026_06.fuels
export const BURNT_FUEL_TYPES = Object.keys(EDITION_2026_06.fuels) as BurntFuelType[]

/** Users enter the factor of electricity, because it depends on the grid. */
export const ELECTRICITY = 'electricity'

export type FuelType = BurntFuelType | typeof ELECTRICITY
export const FUEL_TYPES: readonly FuelType[] = [...BURNT_FUEL_TYPES, ELECTRICITY]

export const isBurnt = (fuelType: FuelType): fuelType is BurntFuelType => fuelType !== ELECTRICITY

/** Every edition, oldest first. */
export const EDITIONS = [
  EDITION_2025_06,
  EDITION_2026_06,
] as const satisfies Edition<BurntFuelType>[]

export type EditionId = (typeof EDITIONS)[number]['id']
export const EDITION_IDS = EDITIONS.map(({ id }) => id)

/** The default edition. */
export const LATEST_EDITION: Edition<BurntFuelType> = EDITION_2026_06

/** Returns an edition; `null` if the ID is unknown. */
export const findEdition = (id: string): Edition<BurntFuelType> | null =>
  EDITIONS.find((edition) => edition.id === id) ?? null

export const getFuelName = (fuelType: FuelType): string =>
  isBurnt(fuelType) ? LATEST_EDITION.fuels[fuelType].name : 'Electricity'
