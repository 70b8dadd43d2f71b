import PDFDocument from 'pdfkit'
import { createQrMatrix } from '../core/html/qr-image.js'
import { getFeatures, type CertificateFonts, type FontName } from './certificate-fonts.js'
import { fitText, type TextBox } from './fit-text.js'

/** Quiet zone, in modules (ISO/IEC 18004, section 9.1) */
const QR_MARGIN = 4

type TextStyle = Partial<TextBox> &
  Pick<TextBox, 'width'> & { colour?: string; isRightAligned?: boolean }

interface TagOptions {
  /** By default the document */
  parent?: PDFKit.PDFStructureElement
  /** Alternative text */
  alt?: string
}

/**
 * Creates a PDF whose text can be selected, searched and read aloud (ISO 32000-1, section 14.8), in
 * the fonts of certificates. Lengths are in points.
 */
export function createTaggedPdf(
  { info, ...options }: PDFKit.PDFDocumentOptions,
  fonts: CertificateFonts,
) {
  const doc = new PDFDocument({
    size: 'A4',
    margin: 0,
    pdfVersion: '1.7',
    lang: 'en-GB',
    tagged: true,
    displayTitle: true,
    info,
    ...options,
  })
  const chunks: Buffer[] = []
  doc.on('data', (chunk: Buffer) => chunks.push(chunk))
  const finished = new Promise<Buffer>((resolve, reject) => {
    doc.on('end', () => resolve(Buffer.concat(chunks)))
    doc.on('error', reject)
  })
  const root = doc.struct('Document')
  doc.addStructure(root)

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

  /** Adds an element of the structure; `draw` draws its content. */
  function tag(
    type: string,
    draw: (() => void) | null,
    { parent = root, alt }: TagOptions = {},
  ): PDFKit.PDFStructureElement {
    const element = doc.struct(type, alt === undefined ? {} : { alt })
    parent.add(element)
    if (draw) element.add(draw)
    return element
  }

  /** Draws content that assistive technology skips. */
  function drawArtifact(draw: () => void): void {
    doc.markContent('Artifact', { type: 'Layout' })
    draw()
    doc.endMarkedContent()
  }

  /** Writes a block of text; returns the top of the next block. */
  function write(text: string, x: number, top: number, style: TextStyle): number {
    const { sizes = [11], maxLines = 1, weight = 'regular', width } = style
    const { size, lines } = fitText(fonts, text, { weight, width, maxLines, sizes })
    doc.fillColor(style.colour ?? '#0b2530')
    let baseline = top + size
    for (const line of lines) {
      let left = style.isRightAligned ? x + width - line.width : x
      for (const run of line.runs) {
        writeRun(run.text, run.font, size, left, baseline)
        left += fonts.measure(run) * size
      }
      // So that the last word is not read together with the first one of the next line.
      writeRun(' ', weight, size, left, baseline)
      baseline += size * 1.3
    }
    return baseline - size
  }

  /** Draws a QR code with level M, as one path, so that viewers show no seams. */
  function drawQrCode(text: string, x: number, y: number, size: number): void {
    const matrix = createQrMatrix(text, 'M')
    const scale = size / (matrix.modules + 2 * QR_MARGIN)
    doc.rect(x, y, size, size).fill('#ffffff')
    for (let row = 0; row < matrix.modules; row++) {
      for (let column = 0; column < matrix.modules; column++) {
        if (!matrix.isDark(column, row)) continue
        const start = column
        while (column + 1 < matrix.modules && matrix.isDark(column + 1, row)) column++
        const left = x + (start + QR_MARGIN) * scale
        doc.rect(left, y + (row + QR_MARGIN) * scale, (column - start + 1) * scale, scale * 1.02)
      }
    }
    doc.fill('#000000')
  }

  /** Completes the PDF. */
  function finish(): Promise<Buffer> {
    doc.end()
    return finished
  }

  return { doc, tag, drawArtifact, write, drawQrCode, finish }
}

export type TaggedPdf = ReturnType<typeof createTaggedPdf>
