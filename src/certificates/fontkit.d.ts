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
