import { EDITION_2025_06 } from './2025-06.js'
import { EDITION_2026_06 } from './2026-06.js'
import { EDITION_2026_11 } from './2026-11.js'
import type { Edition } from './edition.js'

/** Fuels that are burnt. IDs are stored with orders and in printed codes: never remove one. */
export type BurntFuelType = keyof typeof EDITION_2026_11.fuels
export const BURNT_FUEL_TYPES = Object.keys(EDITION_2026_11.fuels) as BurntFuelType[]

/** Users enter the factor of electricity, because it depends on the grid. */
export const ELECTRICITY = 'electricity'

export type FuelType = BurntFuelType | typeof ELECTRICITY
export const FUEL_TYPES: readonly FuelType[] = [...BURNT_FUEL_TYPES, ELECTRICITY]

export const isBurnt = (fuelType: FuelType): fuelType is BurntFuelType => fuelType !== ELECTRICITY

/** Every edition, oldest first. Later editions have more fuels. */
export const EDITIONS = [
  EDITION_2025_06,
  EDITION_2026_06,
  EDITION_2026_11,
] as const satisfies Edition<never>[]

export type EditionId = (typeof EDITIONS)[number]['id']
export const EDITION_IDS = EDITIONS.map(({ id }) => id)

/** The default edition. */
export const LATEST_EDITION: Edition<BurntFuelType> & { id: EditionId } = EDITION_2026_11

/** For calculations with stored data, an edition takes the fuels that it lacks from the newest. */
const COMPLETE = new Map<string, Edition<BurntFuelType>>(
  EDITIONS.map((edition) => [
    edition.id,
    { ...edition, fuels: { ...LATEST_EDITION.fuels, ...edition.fuels } },
  ]),
)

/** Returns an edition; `null` if the ID is unknown. */
export const findEdition = (id: string): Edition<BurntFuelType> | null => COMPLETE.get(id) ?? null

/** Whether an edition has factors of its own for a fuel. */
export const hasFuel = (id: EditionId, fuelType: string): boolean =>
  EDITIONS.some((edition) => edition.id === id && Object.hasOwn(edition.fuels, fuelType))

export const getFuelName = (fuelType: FuelType): string =>
  isBurnt(fuelType) ? LATEST_EDITION.fuels[fuelType].name : 'Electricity'

/** VLSFO is no fuel of its own in FuelEU Maritime. */
export const VLSFO_HINT =
  'VLSFO: choose by ISO 8217 grade, RMA to RMD light fuel oil, RME to RMK heavy fuel oil.'
