import { createRequire } from 'node:module'
import { openSync, type Font } from 'fontkit'
import { ConfigError } from '../../config/config-error.js'
import { nameScript } from './script-names.js'

/** A font of a certificate; `other` is CERTIFICATE_FONT. */
export type FontName = 'regular' | 'bold' | 'other'

/**
 * OpenType features of a font. Inter's contextual alternates are for arrows and the like, and take
 * most of the time.
 */
export const getFeatures = (font: FontName): Record<string, boolean> =>
  font === 'other' ? {} : { calt: false }

/** A part of a text in one font. */
export interface TextRun {
  text: string
  font: FontName
}

/** Why a text cannot be written. */
export type FontProblem =
  | { reason: 'no_font'; scripts: string[] }
  /** It mixes right-to-left letters with others. */
  | { reason: 'mixed_direction' }

export interface CertificateFonts {
  /** The fonts that are there, by name */
  fonts: ReadonlyMap<FontName, Font>
  /** Splits a text into runs; characters without a font are in the first one. */
  split(text: string, weight: 'regular' | 'bold'): TextRun[]
  /** Width at size 1 */
  measure(run: TextRun): number
  /** Finds out why a text cannot be written; `null` if it can. */
  findProblem(text: string): FontProblem | null
}

const require = createRequire(import.meta.url)
/** Inter: Latin, Greek and Cyrillic. */
const openInter = (name: string): Font =>
  openFont(require.resolve(`@expo-google-fonts/inter/${name}/Inter_${name}.ttf`))

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

/** Splits a text into what people see as characters. */
export const splitGraphemes = (text: string): string[] =>
  Array.from(graphemes.segment(text), ({ segment }) => segment)

/** Joiners and variation selectors need no glyph. */
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/u

const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u
/** May be between right-to-left letters. Brackets would have to be mirrored, digits not reversed. */
const NEUTRAL = /^(?!\p{Nd})[\p{M}\s.,'’،\-–]$/u

const canWrite = (font: Font, text: string): boolean =>
  Array.from(text).every(
    (character) =>
      IGNORABLE.test(character) || font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0),
  )

const isRightToLeft = (text: string): boolean => RIGHT_TO_LEFT.test(text)

const isMixed = (text: string): boolean =>
  Array.from(text).some(
    (character) =>
      /\p{Nd}/u.test(character) || !(RIGHT_TO_LEFT.test(character) || NEUTRAL.test(character)),
  )

/**
 * Opens the fonts of certificates. Throws ConfigError if the operator's font cannot be read.
 *
 * @param otherPath CERTIFICATE_FONT, for characters that Inter does not have
 */
export function openCertificateFonts(otherPath: string | undefined): CertificateFonts {
  const fonts = new Map<FontName, Font>([
    ['regular', openInter('400Regular')],
    ['bold', openInter('600SemiBold')],
  ])
  if (otherPath !== undefined) fonts.set('other', openOther(otherPath))

  const findFont = (text: string, weight: FontName): FontName | null =>
    [weight, 'other' as const].find((name) => {
      const font = fonts.get(name)
      return font !== undefined && canWrite(font, text)
    }) ?? null

  return {
    fonts,
    split(text, weight) {
      // As a whole, so that a shaping engine sees its letters in context.
      if (isRightToLeft(text)) return [{ text, font: findFont(text, weight) ?? weight }]
      const runs: TextRun[] = []
      for (const grapheme of splitGraphemes(text)) {
        const font = findFont(grapheme, weight) ?? weight
        const last = runs.at(-1)
        if (last?.font === font) last.text += grapheme
        else runs.push({ text: grapheme, font })
      }
      return runs
    },
    measure({ text, font: name }) {
      const font = fonts.get(name)
      return font === undefined
        ? 0
        : font.layout(text, getFeatures(name)).advanceWidth / font.unitsPerEm
    },
    findProblem(text) {
      const missing = splitGraphemes(text).filter((part) => findFont(part, 'regular') === null)
      if (missing.length > 0) {
        return { reason: 'no_font', scripts: [...new Set(missing.map(nameScript))] }
      }
      if (!isRightToLeft(text)) return null
      if (isMixed(text)) return { reason: 'mixed_direction' }
      return findFont(text, 'regular') === null
        ? { reason: 'no_font', scripts: [nameScript(text)] }
        : null
    },
  }
}
