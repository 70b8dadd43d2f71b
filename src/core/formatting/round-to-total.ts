/**
 * Rounds parts so that they add up to their rounded total (largest remainder method).
 *
 * @param total sum of the parts
 * @param decimals of the rounded values
 */
export function roundToTotal(parts: number[], total: number, decimals: number): number[] {
  const scale = 10 ** decimals
  // `toFixed` rounds like Intl.NumberFormat, which formats the total.
  const units = Math.round(Number(total.toFixed(decimals)) * scale)
  const scaled = parts.map((part) => part * scale)
  const rounded = scaled.map(Math.floor)
  const getRemainder = (i: number): number => (scaled[i] ?? 0) - (rounded[i] ?? 0)
  const byRemainder = [...parts.keys()].sort((a, b) => getRemainder(b) - getRemainder(a))
  const missing = units - rounded.reduce((sum, part) => sum + part, 0)
  for (const i of byRemainder.slice(0, Math.max(0, missing))) rounded[i] = (rounded[i] ?? 0) + 1
  return rounded.map((part) => part / scale)
}
