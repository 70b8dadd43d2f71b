import { createRequire } from 'node:module'
import createBidi from 'bidi-js'
import { openSync, type Font } from 'fontkit'
import { ConfigError } from '../core/config/config-part.js'

export type Direction = 'ltr' | 'rtl'

/** A run of text in one direction, in logical order; brackets are mirrored where necessary. */
interface DirectionRun {
  text: string
  direction: Direction
}

const bidi = createBidi()

/** The direction of the whole text, given by its first letter. */
export const getDirection = (text: string): Direction =>
  bidi.getEmbeddingLevels(text).paragraphs[0]?.level === 1 ? 'rtl' : 'ltr'

const mirror = (text: string): string =>
  Array.from(text, (character) => bidi.getMirroredCharacter(character) ?? character).join('')

/**
 * Splits a line into runs of one direction, in visual order from left to right.
 * See the Unicode Bidirectional Algorithm, rule L2: https://www.unicode.org/reports/tr9/#L2.
 *
 * @param direction of the paragraph
 */
export function splitDirections(line: string, direction: Direction): DirectionRun[] {
  const { levels } = bidi.getEmbeddingLevels(line, direction)
  const runs: { text: string; level: number }[] = []
  for (let i = 0; i < line.length; i++) {
    const level = levels[i] ?? 0
    const last = runs.at(-1)
    if (last?.level === level) last.text += line.charAt(i)
    else runs.push({ text: line.charAt(i), level })
  }
  for (let level = Math.max(0, ...runs.map((run) => run.level)); level > 0; level--) {
    for (let start = 0; start < runs.length; start++) {
      let end = start
      while ((runs[end]?.level ?? 0) >= level) end++
      runs.splice(start, end - start, ...runs.slice(start, end).reverse())
      start = end
    }
  }
  return runs.map(({ text, level }) =>
    level % 2 === 1 ? { text: mirror(text), direction: 'rtl' } : { text, direction: 'ltr' },
  )
}

/** Common names of scripts, with patterns that match their characters. */
const SCRIPTS: readonly [name: string, pattern: RegExp][] = [
  ['Arabic', /\p{Script=Arabic}/u],
  ['Hebrew', /\p{Script=Hebrew}/u],
  ['Chinese', /\p{Script=Han}/u],
  ['Japanese', /[\p{Script=Hiragana}\p{Script=Katakana}]/u],
  ['Korean', /\p{Script=Hangul}/u],
  ['Thai', /\p{Script=Thai}/u],
  ['Devanagari', /\p{Script=Devanagari}/u],
  ['Bengali', /\p{Script=Bengali}/u],
  ['Tamil', /\p{Script=Tamil}/u],
  ['Georgian', /\p{Script=Georgian}/u],
  ['Armenian', /\p{Script=Armenian}/u],
  ['Ethiopic', /\p{Script=Ethiopic}/u],
  ['Khmer', /\p{Script=Khmer}/u],
  ['emoji', /\p{Extended_Pictographic}/u],
]

/**
 * Names the script of a character, such as `Arabic`; returns the code point, such as `U+1D400`, if
 * the script is not in the list.
 */
const nameScript = (character: string): string =>
  SCRIPTS.find(([, pattern]) => pattern.test(character))?.[0] ??
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** A font of a certificate; `other` is CERTIFICATE_FONT. */
export type FontName = 'regular' | 'bold' | 'other' | 'japanese'

/**
 * OpenType features of a font. Inter's contextual alternates are off, because they mainly affect
 * arrows and similar symbols but take most of the shaping time.
 */
export const getFeatures = (font: FontName): Record<string, boolean> =>
  font === 'regular' || font === 'bold' ? { calt: false } : {}

/** A run of text in one font. */
export interface TextRun {
  text: string
  font: FontName
}

const require = createRequire(import.meta.url)
const openPackage = (file: string): Font => openFont(require.resolve(`@expo-google-fonts/${file}`))

function openFont(path: string): Font {
  const font = openSync(path)
  if ('fonts' in font) throw new Error('it is a collection of fonts')
  return font
}

function openOther(path: string): Font {
  try {
    return openFont(path)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigError([`CERTIFICATE_FONT must be a readable TTF or OTF file: ${reason}`])
  }
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Splits text into grapheme clusters, which people see as characters. */
export const splitGraphemes = (text: string): string[] =>
  Array.from(graphemes.segment(text), ({ segment }) => segment)

/** Joiners and variation selectors need no glyph. */
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/u

/** Characters that print nothing; some fonts draw a box or a hyphen for them. */
const INVISIBLE = /[\u00ad\u034f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu

/** Removes invisible characters, except joiners that the font shapes text with. */
const removeInvisible = (font: Font, text: string): string =>
  text.replace(INVISIBLE, (character) =>
    /[\u200c\u200d]/.test(character) && font.hasGlyphForCodePoint(character.charCodeAt(0))
      ? character
      : '',
  )

/** Letters, and other characters that belong to a script. */
const LETTER = /[^\p{Script=Common}\p{Script=Inherited}]/u
const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u

/** The direction in which fontkit writes text: the direction of its first script. */
const getFontkitDirection = (text: string): Direction =>
  RIGHT_TO_LEFT.test(LETTER.exec(text)?.[0] ?? '') ? 'rtl' : 'ltr'

/** Reverses text if fontkit would write it in the other direction. */
const toFontkitText = (text: string, direction: Direction): string =>
  getFontkitDirection(text) === direction ? text : splitGraphemes(text).reverse().join('')

const canWrite = (font: Font, text: string): boolean =>
  Array.from(text).every(
    (character) =>
      IGNORABLE.test(character) || font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0),
  )

/** The font files in @expo-google-fonts. */
const FILES = {
  regular: 'inter/400Regular/Inter_400Regular.ttf',
  bold: 'inter/600SemiBold/Inter_600SemiBold.ttf',
  japanese: 'noto-sans-jp/400Regular/NotoSansJP_400Regular.ttf',
}

/**
 * Opens the fonts of certificates: Inter (Latin, Greek and Cyrillic), the operator's font, and Noto
 * Sans JP (Japanese, and the Chinese characters that Japanese uses). Throws ConfigError if the
 * operator's font cannot be read.
 *
 * @param otherPath CERTIFICATE_FONT, for characters that Inter does not contain
 */
export function openCertificateFonts(otherPath: string | undefined) {
  const other = otherPath === undefined ? null : openOther(otherPath)
  const opened = new Map<FontName, Font>(other && [['other', other]])

  /** Opens a font when it is first needed; Noto Sans JP takes 100 ms. */
  function get(name: FontName): Font {
    const font = opened.get(name) ?? (name === 'other' ? null : openPackage(FILES[name]))
    if (font === null) throw new Error('CERTIFICATE_FONT is not set')
    opened.set(name, font)
    return font
  }

  const candidates: FontName[] = other ? ['other', 'japanese'] : ['japanese']
  const findFont = (text: string, weight: FontName): FontName | null =>
    [weight, ...candidates].find((name) => canWrite(get(name), text)) ?? null

  /** Splits text that has a single direction into runs by font, in logical order. */
  function splitByFont(text: string, weight: FontName): TextRun[] {
    // One run is preferred, because letters are then shaped in context.
    const font = findFont(text, weight)
    if (font !== null) return [{ text, font }]
    const runs: TextRun[] = []
    for (const grapheme of splitGraphemes(text)) {
      const font = findFont(grapheme, weight) ?? weight
      const last = runs.at(-1)
      if (last?.font === font) last.text += grapheme
      else runs.push({ text: grapheme, font })
    }
    return runs
  }

  return {
    /** Returns a font that a run uses. */
    get,
    /**
     * Splits a line into runs, from left to right. Characters that no font contains go into runs
     * that use the font for `weight`.
     *
     * @param direction of the text that the line is part of
     */
    split: (line: string, weight: 'regular' | 'bold', direction = getDirection(line)): TextRun[] =>
      splitDirections(line, direction).flatMap(({ text, direction }) => {
        const runs = splitByFont(text, weight)
        return (direction === 'rtl' ? runs.reverse() : runs).flatMap(({ text, font }) => {
          const visible = removeInvisible(get(font), text)
          return visible === '' ? [] : [{ font, text: toFontkitText(visible, direction) }]
        })
      }),
    /** Width at size 1 */
    measure({ text, font: name }: TextRun): number {
      const font = get(name)
      return font.layout(text, getFeatures(name)).advanceWidth / font.unitsPerEm
    },
    /** Names the scripts of the characters that no font contains. */
    findMissingScripts: (text: string): string[] => [
      ...new Set(
        splitGraphemes(text)
          .filter((part) => findFont(part, 'regular') === null)
          // Of a letter with a mark, the mark may be missing.
          .map((part) =>
            nameScript(Array.from(part).find((one) => findFont(one, 'regular') === null) ?? part),
          ),
      ),
    ],
  }
}

export type CertificateFonts = ReturnType<typeof openCertificateFonts>
