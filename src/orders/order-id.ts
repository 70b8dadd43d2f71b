const WRITTEN = /^[1-9]\d{0,15}$/

/**
 * The highest id that a file may give an order. New orders go on from the highest there is, and
 * ids are exact in JSON up to 2^53 only: so nine thousand million million are left for them.
 */
export const HIGHEST_IMPORTED_ID = 1_000_000_000_000

/** The number that an order's id stands for; `null` where it is none: whole, above zero, exact in JSON. */
export function parseOrderId(id: string): number | null {
  const number = Number(id)
  return WRITTEN.test(id) && Number.isSafeInteger(number) ? number : null
}

/** Whether a file may give an order this id. */
export function isImportedId(id: string): boolean {
  const number = parseOrderId(id)
  return number !== null && number <= HIGHEST_IMPORTED_ID
}
