import type { NumberFormatter } from '../core/formatting/number-formatter.js'
import { formatUnambiguous } from '../core/formatting/number-input.js'
import type { NumberReading } from './calculator-form.js'

/** What the page asks about an ambiguous number. */
interface ReadingQuestion {
  /** How the number was read, with its unit: `1.234 litres`; `null` if it was not */
  reading: string | null
  /** Whether the decimal point was read as such, which makes the number unusually small */
  isDoubtful: boolean
  /** What else it could mean */
  choices: { label: string; value: string; href: string }[]
}

/**
 * Builds the question about each ambiguous number, by field. Its links open the page with the other
 * value.
 *
 * @param query the parameters of the page
 */
export function buildReadingQuestions(
  readings: Record<string, NumberReading>,
  query: URLSearchParams,
  { exact }: NumberFormatter,
): Record<string, ReadingQuestion> {
  const toHref = (field: string, value: string): string => {
    const params = new URLSearchParams(query)
    params.set(field, value)
    return `?${params.toString()}#outcome`
  }
  return Object.fromEntries(
    Object.entries(readings).map(([field, { value, otherValues, unit }]) => [
      field,
      {
        reading: value === null ? null : `${exact(value)} ${unit}`.trim(),
        isDoubtful: value === null || otherValues.some((other) => other > value),
        choices: otherValues.map((other) => {
          const text = formatUnambiguous(String(other))
          return { label: exact(other), value: text, href: toHref(field, text) }
        }),
      },
    ]),
  )
}
