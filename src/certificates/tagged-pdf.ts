import PDFDocument from 'pdfkit'
import { createQrMatrix } from '../core/html/qr-image.js'
import {
  getDirection,
  getFeatures,
  splitGraphemes,
  type CertificateFonts,
  type FontName,
  type TextRun,
} from './certificate-fonts.js'

interface TextBox {
  weight: 'regular' | 'bold'
  /** Points */
  width: number
  maxLines: number
  /** Sizes to try, in points, largest first */
  sizes: readonly [number, ...number[]]
}

interface FittedText {
  /** Points */
  size: number
  lines: { runs: TextRun[]; width: number }[]
}

/** Splits text after spaces and CJK characters, where a line may end. */
const splitWords = (text: string): string[] =>
  text.match(
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]\s*|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+\s*/gu,
  ) ?? []

/** Fonts stack accents, so more than two would cover the text above. */
const STACKED_ACCENTS = /((?:(?=\p{M})\p{Script=Inherited}){2})(?:(?=\p{M})\p{Script=Inherited})+/gu

/**
 * Breaks text into lines, at the largest size at which it fits. If the text does not fit at any
 * size, uses the smallest size and cuts off the last line with an ellipsis.
 */
export function fitText(fonts: CertificateFonts, text: string, box: TextBox): FittedText {
  const { weight, width: maxWidth, maxLines, sizes } = box
  const direction = getDirection(text)
  // Shaping is slow, and its result is the same at every size.
  const shaped = new Map<string, FittedText['lines'][number]>()
  const shape = (text: string) => {
    const known = shaped.get(text)
    if (known !== undefined) return known
    const runs = fonts.split(text, weight, direction)
    const line = { runs, width: runs.reduce((sum, run) => sum + fonts.measure(run), 0) }
    shaped.set(text, line)
    return line
  }
  const toLine = (text: string, size: number) => {
    const { runs, width } = shape(text.trim())
    return { runs, width: width * size }
  }
  const fits = (line: string, size: number): boolean => toLine(line, size).width <= maxWidth

  /** @param parts pieces of text that are not broken */
  function breakLines(parts: readonly string[], size: number): string[] {
    const lines: string[] = []
    let line = ''
    for (const part of parts) {
      if (line !== '' && !fits(line + part, size)) {
        lines.push(line)
        line = ''
      }
      line += part
    }
    return line === '' ? lines : [...lines, line]
  }

  const words = splitWords(text.normalize('NFC').replace(STACKED_ACCENTS, '$1'))
  for (const size of sizes) {
    if (!words.every((word) => fits(word, size))) continue
    const lines = breakLines(words, size)
    if (lines.length <= maxLines) return { size, lines: lines.map((line) => toLine(line, size)) }
  }
  const size = sizes.at(-1) ?? sizes[0]
  const parts = words.flatMap((word) => (fits(word, size) ? [word] : splitGraphemes(word)))
  const lines = breakLines(parts, size)
  if (lines.length > maxLines) {
    const last = splitGraphemes(lines.slice(maxLines - 1).join(''))
    while (last.length > 0 && !fits(`${last.join('').trimEnd()}…`, size)) last.pop()
    lines.splice(maxLines - 1, Infinity, `${last.join('').trimEnd()}…`)
  }
  return { size, lines: lines.map((line) => toLine(line, size)) }
}

type Doc = PDFKit.PDFDocument
export type PdfElement = PDFKit.PDFStructureElement

type TextStyle = Pick<TextBox, 'width'> &
  Partial<TextBox> & { colour?: string; isRightAligned?: boolean }

/** Text that is broken into lines, and not yet written. */
export interface TextBlock {
  /** Points */
  height: number
  lineCount: number
  write: (x: number, top: number) => void
}

const LINE_HEIGHT = 1.25
const DEFAULT_SIZES = [10] as const

/** Creates a function that breaks text into lines, to be written later. */
function createTextSetter(doc: Doc, fonts: CertificateFonts) {
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

/**
 * Creates an A4 document whose text can be selected, searched and read aloud (ISO 32000-1, section
 * 14.8), in the fonts of certificates. Lengths are in points.
 */
export function createTaggedPdf(info: PDFKit.DocumentInfo, fonts: CertificateFonts) {
  const doc = new PDFDocument({
    size: 'A4',
    margin: 0,
    pdfVersion: '1.7',
    lang: 'en-GB',
    tagged: true,
    displayTitle: true,
    bufferPages: true,
    info,
  })
  const chunks: Buffer[] = []
  doc.on('data', (chunk: Buffer) => chunks.push(chunk))
  const finished = new Promise<Buffer>((resolve, reject) => {
    doc.on('end', () => resolve(Buffer.concat(chunks)))
    doc.on('error', reject)
  })
  const root = doc.struct('Document')
  doc.addStructure(root)

  /** Adds an element of the structure. */
  function addElement(
    parent: PdfElement,
    type: string,
    options: PDFKit.Mixins.StructureElementOptions = {},
  ): PdfElement {
    const element = doc.struct(type, options)
    parent.add(element)
    return element
  }

  return {
    doc,
    root,
    setText: createTextSetter(doc, fonts),
    addElement,

    /** Draws content that assistive technology reads as an element of this type. */
    drawElement: (parent: PdfElement, type: string, draw: () => void): PdfElement => {
      const element = addElement(parent, type)
      element.add(draw)
      return element
    },

    /** Draws a picture that assistive technology describes. */
    drawFigure: (
      alt: string,
      [x, y, width, height]: [x: number, y: number, width: number, height: number],
      draw: () => void,
    ): void => {
      // PDFKit's types lack `bbox`.
      const options: object = { alt, bbox: [x, y, x + width, y + height] }
      addElement(root, 'Figure', options).add(draw)
    },

    /** Draws content that assistive technology skips. */
    drawArtifact: (draw: () => void): void => {
      doc.markContent('Artifact', { type: 'Layout' })
      draw()
      doc.endMarkedContent()
    },

    /** Draws a QR code with level M, as one path, so that viewers show no seams. */
    drawQrCode: (text: string, x: number, y: number, size: number): void => {
      const matrix = createQrMatrix(text, 'M')
      const scale = size / matrix.modules
      for (let row = 0; row < matrix.modules; row++) {
        for (let column = 0; column < matrix.modules; column++) {
          if (!matrix.isDark(column, row)) continue
          const start = column
          while (column + 1 < matrix.modules && matrix.isDark(column + 1, row)) column++
          doc.rect(x + start * scale, y + row * scale, (column - start + 1) * scale, scale * 1.02)
        }
      }
      doc.fill('#000000')
    },

    /** Completes the document. */
    finish: (): Promise<Buffer> => {
      doc.end()
      return finished
    },
  }
}

export type TaggedPdf = ReturnType<typeof createTaggedPdf>
