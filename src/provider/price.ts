import type { Amount } from './offset-order.js'

/** Sums of floating point numbers are a bit off: what is below a millionth of a cent is not there. */
const DIGITS = 6

/** What so many tons cost, by the order source's own rule: in minor units, rounded up. */
export const calculatePrice = (tons: number, perTon: Amount): Amount => ({
  amountMinor: Math.ceil(Number((tons * perTon.amountMinor).toFixed(DIGITS))),
  currency: perTon.currency,
})
