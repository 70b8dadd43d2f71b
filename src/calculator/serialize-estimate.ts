import type { Estimate } from './estimate.js'

/** There are few lists of factors, and each is most of an answer: they are written once. */
const written = new WeakMap<Estimate['factors'], string>()

function factorsJson(factors: Estimate['factors']): string {
  const json = written.get(factors) ?? JSON.stringify(factors)
  written.set(factors, json)
  return json
}

/** An estimate as JSON; its factors come last. */
export function serializeEstimate(estimate: Estimate): string {
  const rest = JSON.stringify({ ...estimate, factors: undefined })
  return `${rest.slice(0, -1)},"factors":${factorsJson(estimate.factors)}}`
}
