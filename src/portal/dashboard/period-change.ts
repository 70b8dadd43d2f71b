import type { DashboardFormatters } from './dashboard-formatters.js'

/** How a figure has changed. More is neither good nor bad, so there is no judgement in it. */
export type PeriodChange =
  | { kind: 'moved'; sign: '▲' | '▼'; word: 'Up' | 'Down'; by: string; against: string }
  | { kind: 'told'; text: string }

const SMALLEST_TOLD = 0.005

const moved = (isUp: boolean, by: string, before: string): PeriodChange => ({
  kind: 'moved',
  ...(isUp ? { sign: '▲', word: 'Up' } : { sign: '▼', word: 'Down' }),
  by,
  against: `vs ${before}`,
})

/** The change of a sum, in per cent of what it was in the time before. */
export function formatSumChange(
  now: number,
  then: number,
  before: string,
  { percent }: DashboardFormatters,
): PeriodChange {
  if (now === then) return { kind: 'told', text: `As in ${before}` }
  if (then === 0) return { kind: 'told', text: `None in ${before}` }
  const ratio = Math.abs(now / then - 1)
  const by = ratio < SMALLEST_TOLD ? `less than ${percent(0.01)}` : percent(ratio)
  return moved(now > then, by, before)
}

/** The change of a rate, in percentage points. */
export function formatRateChange(
  now: number,
  then: number,
  before: string,
  { tenths }: DashboardFormatters,
): PeriodChange {
  const points = Math.round((now - then) * 1000) / 10
  if (points === 0) return { kind: 'told', text: `As in ${before}` }
  return moved(points > 0, `${tenths(Math.abs(points))} points`, before)
}
