import { timingSafeEqual } from 'node:crypto'

/** Compares two strings; the time does not depend on where they differ. */
export function timingSafeEqualText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
