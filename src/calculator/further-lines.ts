import {
  LINE_USES,
  MAX_FURTHER_LINES,
  type CalculatorType,
  type LineUse,
} from './calculator-data.js'
import { USE_NAMES } from './describe-trip.js'
import { ELECTRICITY, type FuelType } from './factors/editions.js'

/** A further line of a trip in its form. */
export interface FormLine {
  /** Position in the names of its fields */
  index: number
  use: LineUse
  /** `Tender`; `Tender 2` if an earlier line has the same use */
  title: string
  isBlank: boolean
}

/** Positions of the lines of a form. */
export const LINE_INDEXES = Array.from({ length: MAX_FURTHER_LINES }, (_, i) => i)

/** The name of a further line's field in forms. */
export const getLineField = (index: number, name: string): string => `furtherLines.${index}.${name}`

const LINE_TITLES: Record<LineUse, string> = {
  ...USE_NAMES,
  generators: 'Generator',
  other: 'Another fuel',
}

/**
 * The uses that a form has a blank line for; the one for other uses has a choice of uses. The
 * distance calculator has fields of its own for generators.
 */
const OFFERED_USES: Record<CalculatorType, readonly LineUse[]> = {
  fuel: ['tender', 'generators', 'shore-power', 'other'],
  distance: ['tender', 'shore-power', 'other'],
  custom: [],
}

const DEFAULT_FUELS: Partial<Record<LineUse, FuelType>> = {
  tender: 'petrol',
  'shore-power': ELECTRICITY,
}

/** The fuel that a blank line starts with. */
export const getDefaultFuel = (use: LineUse): FuelType => DEFAULT_FUELS[use] ?? 'mgo'

/** The use of a submitted line. */
export const toLineUse = (text: string | undefined): LineUse =>
  LINE_USES.find((use) => use === text) ?? 'other'

/** Adds a blank line for each use that has none, and sorts the lines by use. */
export function completeLines(
  type: CalculatorType,
  submitted: readonly Omit<FormLine, 'title'>[],
): FormLine[] {
  const offered = OFFERED_USES[type]
  const lines = submitted.map(({ index, use, isBlank }) => ({ index, use, isBlank }))
  for (const use of offered) {
    const hasLine = lines.some((line) => line.use === use && (use !== 'other' || line.isBlank))
    const index = LINE_INDEXES.find((i) => lines.every((line) => line.index !== i))
    if (!hasLine && index !== undefined) lines.push({ index, use, isBlank: true })
  }
  const getRank = ({ use, isBlank, index }: (typeof lines)[number]): number =>
    offered.indexOf(use) * 100 + (isBlank ? 10 : 0) + index
  const sorted = lines.toSorted((a, b) => getRank(a) - getRank(b))
  return sorted.map((line, i) => {
    const position = sorted.slice(0, i).filter(({ use }) => use === line.use).length + 1
    const number = position > 1 && !line.isBlank ? ` ${position}` : ''
    return { ...line, title: LINE_TITLES[line.use] + number }
  })
}
