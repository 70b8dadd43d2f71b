/** How a value changed since the previous period. An increase is not shown as good or bad. */
export type PeriodChange =
  | { type: 'change'; sign: '▲' | '▼'; direction: 'Up' | 'Down'; amount: string; period: string }
  | { type: 'text'; text: string }

const MIN_SHOWN_RATIO = 0.005

const buildChange = (isIncrease: boolean, amount: string, period: string): PeriodChange => ({
  type: 'change',
  ...(isIncrease ? { sign: '▲', direction: 'Up' } : { sign: '▼', direction: 'Down' }),
  amount,
  period: `vs ${period}`,
})

const noChange = (period: string): PeriodChange => ({
  type: 'text',
  text: `No change from the ${period}`,
})

/** Change in a sum, as a percentage of the previous value. */
export function formatSumChange(
  current: number,
  previous: number,
  period: string,
  formatPercent: (ratio: number) => string,
): PeriodChange {
  if (current === previous) return noChange(period)
  if (previous === 0) return { type: 'text', text: `None in the ${period}` }
  const ratio = Math.abs(current / previous - 1)
  const amount = ratio < MIN_SHOWN_RATIO ? `less than ${formatPercent(0.01)}` : formatPercent(ratio)
  return buildChange(current > previous, amount, period)
}

/** Change in a rate (0 to 1), in percentage points. */
export function formatRateChange(
  current: number,
  previous: number,
  period: string,
  formatDecimal: (value: number) => string,
): PeriodChange {
  const points = Math.round((current - previous) * 1000) / 10
  if (points === 0) return noChange(period)
  return buildChange(points > 0, `${formatDecimal(Math.abs(points))} points`, period)
}
