import { foldText } from '../../core/formatting/text.js'
import { listSpellings } from '../../core/validation/email-address.js'
import { CURRENCIES } from '../../core/validation/formats.js'
import type { Order } from '../order.js'

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

const SYMBOL = '\\p{L}{0,3}\\p{Sc}(?: ?(?:us|ca|au|nz|hk|sg|mx|tw))?'
/** As folded; `S/`, лв, د.إ and others are no symbols in Unicode. */
const NAMES = [
  ...['dkr', 'nkr', 'skr', 'ikr', 'kr', 'zl', 'kc', 'ft', 'r', 'rm', 'rp', 'rs', 'lei', 'nis'],
  ...['f cfa', 'fcfa', 'cfpf', 's/', 'km', 'км', 'лв', 'د.ا', '元', '円'],
]
const NAME = `(?:${[...CURRENCIES, ...NAMES].join('|').toLowerCase()})\\.?`
const NUMBER = "\\d{1,3}(?:[ ']\\d{3})+(?:[.,]\\d+)?|\\d+(?:[.,]\\d+)*"
const AMOUNT = new RegExp(
  `(?<!\\S)(?:(?:(${SYMBOL})|(${NAME})) ?)?(${NUMBER})(?: ?(?:(${SYMBOL})|(${NAME})))?(?!\\S)`,
  'gu',
)

/**
 * Writes amounts as one word without the currency: `61.32` for `A$61.32`, `1234,56` for
 * `1 234,56 €`. Leaves a number alone that may be something else, such as `R2` or `12 345`.
 */
const joinAmounts = (text: string): string =>
  text.replace(AMOUNT, (match, before, nameBefore, number: string, after, nameAfter) => {
    const name = (nameBefore ?? nameAfter) as string | undefined
    const isAmount =
      (before ?? after) !== undefined ||
      (name !== undefined && (/\D/.test(number) || (name.length === 3 && number.length > 3))) ||
      /[ '].*[.,]/.test(number)
    return isAmount ? number.replace(/[ ']/g, '') : match
  })

/**
 * Splits a query into the words to find; an empty query has no words. `IMO 9811000` is one word, and
 * so is an amount with its currency.
 */
export function toSearchWords(q = ''): string[] {
  const text = joinAmounts(foldText(q).trim()).replace(/(?<!\S)imo\s*(\d{1,7})(?!\S)/g, '$1')
  const words = text.split(/\s+/).map((word) => word.replace(/^#(?=.)|(?<=.)[,;]$/g, ''))
  return [...new Set(words.filter((word) => word !== ''))]
}

/** The sort key of a name: ignores case and accents. */
export const toSortKey = (text: string): string =>
  foldText(text).normalize('NFKD').replace(/\p{M}/gu, '').trim()

/** Sorts after every name, so that orders without a name are last. */
export const NO_NAME_KEY = '\u{10ffff}'

/** The sort key of an order number: CW-1000000 comes after CW-999999. */
export const toOrderNumberKey = (orderNumber: string): string =>
  toSortKey(orderNumber).replace(/\d+/g, (digits) => digits.padStart(12, '0'))

/**
 * Length of the longest indexed n-grams. In order numbers, a pair of digits is common, but a group
 * of three is rare.
 */
const MAX_GRAM_LENGTH = 3

/** All substrings of a given length that contain no line break. */
function listParts(text: string, length: number): string[] {
  const characters = Array.from(text)
  return characters
    .slice(length - 1)
    .map((_, index) => characters.slice(index, index + length).join(''))
    .filter((part) => !part.includes('\n'))
}

/**
 * Returns the n-grams of up to three characters by which a search text is indexed. This also works
 * for scripts without spaces.
 */
export const toGrams = (text: string): string[] => [
  ...new Set(
    Array.from({ length: MAX_GRAM_LENGTH }, (_, index) => listParts(text, index + 1)).flat(),
  ),
]

/** Looking up more parts would take longer than comparing the texts that have these. */
const MAX_LOOKED_UP = 4

/**
 * Returns the parts of words to look up in a search index: the rarest of their longest n-grams. Every
 * text that contains the words also contains these. Empty if no part can be looked up.
 *
 * @param sample texts that show which n-grams are common
 */
export function chooseGrams(
  words: readonly string[],
  canLookUp: (gram: string) => boolean,
  sample: readonly string[],
): string[] {
  const grams = new Set(
    words
      .flatMap((word) => listParts(word, Math.min(MAX_GRAM_LENGTH, Array.from(word).length)))
      .filter(canLookUp),
  )
  return (
    [...grams]
      .map((gram) => ({ gram, uses: sample.filter((text) => text.includes(gram)).length }))
      // The last ones of equal rarity, because names and numbers often start in the same way.
      .reverse()
      .sort((a, b) => a.uses - b.uses)
      .slice(0, MAX_LOOKED_UP)
      .map(({ gram }) => gram)
  )
}
