import type { Order } from '../../orders/order.js'
import { listSpellings } from '../../validation/email-address.js'
import { removeInvisible } from '../../validation/invisible-characters.js'

/** Accents in Latin, Greek and Cyrillic text. In other scripts, a mark forms a different letter. */
const ACCENTS = /[\u0300-\u036f]/g

/**
 * Normalises text for case-insensitive and accent-insensitive search. Converts to upper case before
 * lower case, which maps ß to ss. Keeps text that consists of accents only.
 */
export function foldText(text: string): string {
  const plain = (text.normalize('NFD').replace(ACCENTS, '') || text).normalize('NFC')
  return plain.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ')
}

/** Fields and search words never contain this character, so no match spans two fields. */
const FIELD_SEPARATOR = '\n'

type SearchedFields = Pick<
  Order,
  'orderNumber' | 'customerName' | 'customerEmail' | 'vesselName' | 'imoNumber'
>

/** The searchable text of an order. */
export const toSearchText = (order: SearchedFields): string =>
  foldText(
    [
      order.orderNumber,
      order.customerName,
      ...listSpellings(order.customerEmail),
      order.vesselName ?? '',
      order.imoNumber ?? '',
    ].join(FIELD_SEPARATOR),
  )

/**
 * Splits a query into the words to find; an empty query has no words. `IMO 9811000` is one word.
 */
export function toSearchWords(q = ''): string[] {
  const text = foldText(removeInvisible(q).trim()).replace(/(?<!\S)imo\s*(\d{1,7})(?!\S)/g, '$1')
  return [...new Set(text.split(/\s+/).filter((word) => word !== ''))]
}

/** The sort key of a name: ignores case and accents. */
export const toSortKey = (text: string): string =>
  foldText(text).normalize('NFKD').replace(/\p{M}/gu, '').trim()

/** Sorts after every name, so that orders without a name are last. */
export const NO_NAME_KEY = '\u{10ffff}'

/** The sort key of an order number: CW-1000000 comes after CW-999999. */
export const toOrderNumberKey = (orderNumber: string): string =>
  toSortKey(orderNumber).replace(/\d+/g, (digits) => digits.padStart(12, '0'))
