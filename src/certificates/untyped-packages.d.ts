// fontkit has no types of its own. These are the parts that are used here.
declare module 'fontkit' {
  export interface Font {
    unitsPerEm: number
    hasGlyphForCodePoint(codePoint: number): boolean
    /** Shapes text as one run */
    layout(text: string, features?: Record<string, boolean>): { advanceWidth: number }
  }
  /** Opens a font file. A collection (TTC) contains fonts, and has no `layout` method itself. */
  export function openSync(path: string): Font | { fonts: Font[] }
}
// bidi-js has no types of its own. These are the parts that are used here.
declare module 'bidi-js' {
  interface EmbeddingLevels {
    /** One level for each UTF-16 code unit; odd levels are right-to-left */
    levels: Uint8Array
    paragraphs: { start: number; end: number; level: number }[]
  }
  interface Bidi {
    /** Indices of the UTF-16 code units, in visual order from left to right */
    getReorderedIndices(text: string, levels: EmbeddingLevels): number[]
    getEmbeddingLevels(text: string, direction?: 'ltr' | 'rtl'): EmbeddingLevels
    /** The mirror image of a character such as a bracket; `null` if it has none */
    getMirroredCharacter(character: string): string | null
  }
  export default function createBidi(): Bidi
}
