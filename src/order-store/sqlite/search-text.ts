import type { Order } from '../../orders/order.js'

/** The accents of Latin, Greek and Cyrillic; the marks of other scripts make another letter. */
const ACCENTS = /[\u0300-\u036f]/g

/**
 * A text as the search compares it: the same for every case of every script, with accents or
 * without. By way of capitals, since only they bring ß to ss. A text of nothing but accents stays
 * as it is.
 */
export function foldText(text: string): string {
  const plain = (text.normalize('NFD').replace(ACCENTS, '') || text).normalize('NFC')
  return plain.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ')
}

/** Stands between the fields, so that no match spans two; no field has one, nor has a query. */
const BETWEEN_FIELDS = '\n'

type Searched = Pick<
  Order,
  'orderNumber' | 'customerName' | 'customerEmail' | 'vesselName' | 'imoNumber'
>

/** What the search looks through, of one order. */
export const toSearchText = (order: Searched): string =>
  foldText(
    [
      order.orderNumber,
      order.customerName,
      order.customerEmail,
      order.vesselName ?? '',
      order.imoNumber ?? '',
    ].join(BETWEEN_FIELDS),
  )

/** What to look for, of what a person typed; `null` where that is nothing. */
export function toSearchTerm(q: string | undefined): string | null {
  const [, imoNumber] = /^\s*imo *(\d{1,7})\s*$/i.exec(q ?? '') ?? []
  const text = foldText(imoNumber ?? (q ?? '').trim())
  return text === '' ? null : text
}

/** A text as names sort: without regard to case and accents. */
export const toSortKey = (text: string): string =>
  foldText(text).normalize('NFKD').replace(/\p{M}/gu, '').trim()

/** After every text: what has no name sorts last. */
export const NO_NAME_KEY = '\u{10ffff}'

/** An order number as it sorts, so that CW-1000000 comes after CW-999999. */
export const toOrderNumberKey = (orderNumber: string): string =>
  toSortKey(orderNumber).replace(/\d+/g, (digits) => digits.padStart(12, '0'))
