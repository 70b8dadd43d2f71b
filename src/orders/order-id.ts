const WRITTEN = /^[1-9]\d{0,15}$/

/** The number that an order's id stands for; `null` where it is none: whole, above zero, exact in JSON. */
export function parseOrderId(id: string): number | null {
  const number = Number(id)
  return WRITTEN.test(id) && Number.isSafeInteger(number) ? number : null
}
