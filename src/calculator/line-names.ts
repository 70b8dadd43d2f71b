import type { LineUse } from './calculator-data.js'
import { getFuelName, type FuelType } from './factors/editions.js'

export const USE_NAMES: Record<LineUse, string> = {
  engines: 'Engines',
  generators: 'Generators',
  boilers: 'Boilers',
  tender: 'Tender',
  'shore-power': 'Shore power',
  other: 'Other',
}

interface NamedLine {
  use: LineUse | null
  fuelType: FuelType
  hvoPercent?: number | null
}

/** `Generators: Marine diesel / gas oil with 30% HVO` */
export function getLineName({ use, fuelType, hvoPercent }: NamedLine): string {
  const blend = hvoPercent ? ` with ${hvoPercent}% HVO` : ''
  return `${use === null ? '' : `${USE_NAMES[use]}: `}${getFuelName(fuelType)}${blend}`
}
