/** A quantile by the nearest rank below, such as 0.5 for the median. */
export const quantile = (values: number[], fraction: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * fraction)] ?? NaN

export const median = (values: number[]): number => quantile(values, 0.5)

/** Rounds to two decimals. */
export const round2 = (value: number): number => Math.round(value * 100) / 100
