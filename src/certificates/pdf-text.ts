import { getFeatures, type CertificateFonts, type FontName } from './certificate-fonts.js'
import { fitText, type TextBox } from './fit-text.js'

export type TextStyle = Pick<TextBox, 'width'> &
  Partial<TextBox> & { colour?: string; isRightAligned?: boolean }

/** Text that is broken into lines, and not yet written. */
export interface TextBlock {
  /** Points */
  height: number
  lineCount: number
  write(x: number, top: number): void
}

const LINE_HEIGHT = 1.25
const DEFAULT_SIZES = [10] as const

/** Creates a function that breaks text into lines, to be written to a PDF later. */
export function createTextSetter(doc: PDFKit.PDFDocument, fonts: CertificateFonts) {
  const registered = new Set<FontName>()
  function writeRun(text: string, font: FontName, size: number, x: number, baseline: number) {
    // PDFKit accepts open fonts; its types do not say so.
    if (!registered.has(font)) doc.registerFont(font, fonts.get(font) as unknown as Uint8Array)
    registered.add(font)
    doc
      .font(font)
      .fontSize(size)
      .text(text, x, baseline, {
        lineBreak: false,
        baseline: 'alphabetic',
        // Without `features`, PDFKit splits the text, which puts right-to-left words in the wrong
        // order. Its types do not allow an object.
        features: getFeatures(font) as unknown as [],
      })
  }

  return (text: string, style: TextStyle): TextBlock => {
    const { sizes = DEFAULT_SIZES, maxLines = Infinity, weight = 'regular', width } = style
    const { size, lines } = fitText(fonts, text, { weight, width, maxLines, sizes })
    return {
      height: lines.length * size * LINE_HEIGHT,
      lineCount: lines.length,
      write(x, top) {
        doc.fillColor(style.colour ?? '#000000')
        let baseline = top + size
        for (const line of lines) {
          let left = style.isRightAligned ? x + width - line.width : x
          for (const run of line.runs) {
            writeRun(run.text, run.font, size, left, baseline)
            left += fonts.measure(run) * size
          }
          // So that the last word is not read together with the first one of the next line.
          writeRun(' ', weight, size, left, baseline)
          baseline += size * LINE_HEIGHT
        }
      },
    }
  }
}

export type SetText = ReturnType<typeof createTextSetter>
