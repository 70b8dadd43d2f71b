/** What is wrong with a line of a file. */
export interface Fault {
  /** Counted from 1, as an editor does; of an order that spans lines, its first */
  line: number
  /** Column, or the part of its value that is meant; `null` where it is all of the line */
  column: string | null
  message: string
}

/** Keeps the first so many faults by their lines, and counts all. */
export function faultList(most: number) {
  let kept: Fault[] = []
  let total = 0

  const firstOnes = (): Fault[] => kept.sort((a, b) => a.line - b.line).slice(0, most)

  return {
    add: (fault: Fault): void => {
      total++
      kept.push(fault)
      if (kept.length >= 2 * most) kept = firstOnes()
    },
    /** Counts faults that come after those which are kept. */
    addUntold: (howMany: number): void => void (total += howMany),
    get total(): number {
      return total
    },
    first: firstOnes,
  }
}

export type FaultList = ReturnType<typeof faultList>

/** A fault as a person reads it. */
export const faultText = ({ line, column, message }: Fault): string =>
  column === null ? `line ${line}: ${message}` : `line ${line}, ${column}: ${message}`
