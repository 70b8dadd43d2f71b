import { Type, type StringOptions } from '@sinclair/typebox'
import type { FuncKeywordDefinition } from 'ajv'
import createBidi from 'bidi-js'

/** Characters that no text may contain, with the error message. */
const FORBIDDEN: readonly [RegExp, string][] = [
  [/(?![\t\n\r])\p{Cc}/u, 'must not contain control characters'],
  // These could make a name look like another name.
  [/[\u202a-\u202e\u2066-\u2069]/u, 'must not contain characters that change the text direction'],
  // Lone surrogates and noncharacters.
  [/[\p{Cs}\p{Noncharacter_Code_Point}]/u, 'must not contain invalid characters'],
]

const BREAK = /[\t\n\r\u2028\u2029]/u

/** Excludes spaces, joiners, soft hyphens, fillers and the blank Braille pattern. */
const VISIBLE = /[^\s\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u

/** Finds the first error in multi-line text; `null` if it is valid. */
export const findTextError = (text: string): string | null =>
  FORBIDDEN.find(([pattern]) => pattern.test(text))?.[1] ?? null

/** Finds the first error in a single line of text; `null` if it is valid. */
export function findTextLineError(text: string): string | null {
  if (BREAK.test(text)) return 'must be a single line without tabs'
  return findTextError(text) ?? (VISIBLE.test(text) ? null : 'must contain a visible character')
}

/** Whether a string is one line with at least one visible character, in any script. */
export const isTextLine = (text: string): boolean => findTextLineError(text) === null

/** Schema for a single line of text. */
export const textLine = (options: StringOptions) =>
  Type.String({ minLength: 1, format: 'text-line', 'x-remove-invisible': true, ...options })

/** A field of a form; empty if it is missing or not text. */
export const toText = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Same as `toText`, without the spaces around it. */
export const toTrimmedText = (value: unknown): string => toText(value).trim()

/** Characters that are never seen: soft hyphens, zero-width spaces, invisible operators. */
const IGNORED = /[\u00ad\u200b\u2060-\u2064\u206a-\u206f\ufeff]/gu

/** Scripts in which joiners change how letters look. */
const JOINING_SCRIPT = `[${[
  ...['Arabic', 'Syriac', 'Mandaic', 'Mongolian', 'Nko', 'Adlam', 'Hanifi_Rohingya'],
  ...['Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu', 'Kannada'],
  ...['Malayalam', 'Sinhala', 'Khmer', 'Myanmar', 'Tibetan', 'Balinese', 'Javanese', 'Tai_Tham'],
]
  .map((script) => `\\p{Script_Extensions=${script}}`)
  .join('')}]`

const NEEDED_JOINER = [
  `(?<=${JOINING_SCRIPT})[\\u200c\\u200d](?=${JOINING_SCRIPT})`,
  // At the end of a word, after a mark such as a virama.
  `(?<=(?=\\p{M})${JOINING_SCRIPT})[\\u200c\\u200d]`,
  // In emoji that consist of several.
  '(?<=\\p{Extended_Pictographic}\\ufe0f?|\\p{Emoji_Modifier})\\u200d(?=\\p{Extended_Pictographic})',
].join('|')
const JOINER = new RegExp(`${NEEDED_JOINER}|(?<unneeded>[\\u200c\\u200d])`, 'gu')
const REPEATED_JOINER = /([\u200c\u200d])[\u200c\u200d]+/gu

const removeJoiners = (text: string): string =>
  text
    .replace(REPEATED_JOINER, '$1')
    .replace(JOINER, (joiner, unneeded?: string) => (unneeded === undefined ? joiner : ''))

const DIRECTION_MARK = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u
const DIRECTION_MARKS = new RegExp(DIRECTION_MARK, 'gu')

const bidi = createBidi()

/** The visible characters of a text, as they are displayed from left to right. */
function toVisualOrder(text: string): string {
  const levels = bidi.getEmbeddingLevels(text)
  return bidi
    .getReorderedIndices(text, levels)
    .map((index) => text.charAt(index))
    .filter((character) => !DIRECTION_MARK.test(character))
    .join('')
}

/** Removes direction marks, unless the text looks different without them. */
function removeDirectionMarks(text: string): string {
  if (!DIRECTION_MARK.test(text)) return text
  const plain = text.replace(DIRECTION_MARKS, '')
  return toVisualOrder(plain) === toVisualOrder(text) ? plain : text
}

/**
 * Removes invisible characters that have no effect. Text copied from web pages, contacts and
 * spreadsheets often contains some. Joiners and direction marks that change how the
 * text looks are kept.
 */
export const removeInvisible = (text: string): string =>
  removeDirectionMarks(removeJoiners(text.replace(IGNORED, '')))

/** Longer texts are rejected anyway. */
const MAX_LENGTH = 1_000

/** Ajv keyword that removes invisible characters from a property before its value is checked. */
export const removeInvisibleKeyword: FuncKeywordDefinition = {
  keyword: 'x-remove-invisible',
  type: 'string',
  before: 'maxLength',
  modifying: true,
  errors: false,
  validate: (_schema: unknown, text: string, _parentSchema, context) => {
    // A value without a parent cannot be replaced.
    const parent = context?.parentData as Record<string, unknown> | undefined
    if (context === undefined || parent === undefined || text.length > MAX_LENGTH) return true
    const visible = removeInvisible(text)
    // Left as it is, the text is rejected for having no visible characters.
    if (visible !== '') parent[context.parentDataProperty] = visible
    return true
  },
}
