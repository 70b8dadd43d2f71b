import { readFileSync } from 'node:fs'
import PDFDocument from 'pdfkit'
import { createQrMatrix } from '../core/html/qr-image.js'
import { DRAWING, SHORE, SKY, type Drawing } from './certificate-drawing.js'
import type { CertificateFonts } from './certificate-fonts.js'
import type { CertificateView, Fact } from './describe-certificate.js'
import { createTextSetter, type SetText, type TextBlock } from './pdf-text.js'

/** What the PDF of a certificate shows. */
export interface CertificateSheet {
  view: CertificateView
  /** ISO 8601 */
  issuedAt: string
  /** Address of the certificate's page */
  url: string
  brandName: string
  /** Path of a PNG or JPEG file; `null` for the built-in logo */
  logoPath: string | null
}

// A4 portrait, points
const WIDTH = 595.28
const HEIGHT = 841.89
const MARGIN = 48
const INNER_WIDTH = WIDTH - 2 * MARGIN

const HEADER_HEIGHT = 58
/** Below this height, the boat and the landmarks are drawn flatter. */
const FULL_DRAWING_HEIGHT = 128
const MIN_DRAWING_HEIGHT = 104
const MAX_DRAWING_HEIGHT = 400
const QR_SIZE = 76
const FOOTER_TOP = HEIGHT - 34 - QR_SIZE
const COLUMNS = 3
const COLUMN_GAP = 16
const COLUMN_WIDTH = (INNER_WIDTH - (COLUMNS - 1) * COLUMN_GAP) / COLUMNS
/** Texts with more lines in a column get the whole width. */
const MAX_COLUMN_LINES = 3
const PANEL_PADDING = 14
const ROW_GAP = 8
const SECTION_GAP = 14

const COLOURS = {
  ink: '#0b2530',
  muted: '#486069',
  accent: '#00656a',
  line: '#c3d2d5',
  panel: '#eef6f5',
}

const TITLE = 'Carbon credit retirement certificate'

/** The built-in logo, in a square of 32 × 32 units. */
const LOGO = [
  'M3 20c4.5 0 4.5-3 9-3s4.5 3 9 3 4.5-3 8-3',
  'M3 26c4.5 0 4.5-3 9-3s4.5 3 9 3 4.5-3 8-3',
  'M7 12.5h18l-3 4.2M16 12V4l6 5',
]

type Doc = PDFKit.PDFDocument
type Element = PDFKit.PDFStructureElement
type Box = [x: number, y: number, width: number, height: number]

/** Content of a page that is not broken. */
interface Block {
  height: number
  draw: (top: number) => void
  /** Whether it stays with the block below */
  isHeading?: boolean
}

/** What the parts of a certificate are drawn with. */
interface Pen {
  doc: Doc
  root: Element
  setText: SetText
}

/** Adds an element to the structure of the document (ISO 32000-1, section 14.7). */
function addElement(
  { doc }: Pen,
  parent: Element,
  type: string,
  options: PDFKit.Mixins.StructureElementOptions = {},
): Element {
  const element = doc.struct(type, options)
  parent.add(element)
  return element
}

/** Adds an element when it is first drawn in, because elements are read in the order of addition. */
function deferElement(pen: Pen, getParent: () => Element, type: string): () => Element {
  let element: Element | null = null
  return () => (element ??= addElement(pen, getParent(), type))
}

/** Draws content that assistive technology reads as an element of this type. */
function drawElement(pen: Pen, parent: Element, type: string, draw: () => void): Element {
  const element = addElement(pen, parent, type)
  element.add(draw)
  return element
}

/** Draws a picture that assistive technology describes. */
function drawFigure(pen: Pen, alt: string, [x, y, width, height]: Box, draw: () => void): void {
  // PDFKit's types lack `bbox`.
  const options: object = { alt, bbox: [x, y, x + width, y + height] }
  addElement(pen, pen.root, 'Figure', options).add(draw)
}

/** Draws content that assistive technology skips. */
function drawArtifact({ doc }: Pen, draw: () => void): void {
  doc.markContent('Artifact', { type: 'Layout' })
  draw()
  doc.endMarkedContent()
}

/** Writes text that links to an address. */
function drawLink(pen: Pen, parent: Element, block: TextBlock, box: Box, url: string): void {
  const link = drawElement(pen, parent, 'Link', () => block.write(box[0], box[1]))
  // PDFKit's types lack the options. `Contents` is what assistive technology reads.
  const options = { structParent: link, Contents: new String(url) }
  pen.doc.link(...box, url, options as unknown as PDFKit.Mixins.AnnotationOption)
}

/** Draws the logo; returns its width with the gap. */
function drawLogo(doc: Doc, logoPath: string | null): number {
  const size = 26
  if (logoPath === null) {
    doc
      .save()
      .translate(MARGIN, (HEADER_HEIGHT - size) / 2)
      .scale(size / 32)
    doc.lineWidth(2.2).lineCap('round').lineJoin('round')
    for (const path of LOGO) doc.path(path).stroke(COLOURS.accent)
    doc.restore()
    return size + 9
  }
  try {
    const height = 34
    const top = (HEADER_HEIGHT - height) / 2
    doc.image(readFileSync(logoPath), MARGIN, top, { fit: [110, height], valign: 'center' })
    return 122
  } catch {
    // The image is damaged. The name is enough.
    return 0
  }
}

/** Draws who issued the certificate, and its number. */
function drawHeader(pen: Pen, { brandName, logoPath, view }: CertificateSheet): void {
  let left = MARGIN
  drawArtifact(pen, () => {
    left += drawLogo(pen.doc, logoPath)
  })
  const brand = pen.setText(brandName, {
    width: 400 - left,
    weight: 'bold',
    sizes: [15, 13, 11, 9],
    maxLines: 2,
    colour: COLOURS.ink,
  })
  const number = pen.setText(`No. ${view.number}`, {
    width: 150,
    isRightAligned: true,
    colour: COLOURS.muted,
  })
  const centre = HEADER_HEIGHT / 2
  drawElement(pen, pen.root, 'P', () => brand.write(left, centre - brand.height / 2))
  drawElement(pen, pen.root, 'P', () =>
    number.write(WIDTH - MARGIN - 150, centre - number.height / 2),
  )
}

/** Draws the sea and the coast across the page; their sky fills the height. */
function drawScene(doc: Doc, { shapes }: Drawing, top: number, height: number): void {
  const scale = WIDTH / DRAWING.width
  const scaleY = scale * Math.min(1, height / FULL_DRAWING_HEIGHT)
  const skyTop = DRAWING.height - height / scaleY
  // One point wider than the page, so that viewers show no line at its edges.
  doc
    .save()
    .rect(-1, top, WIDTH + 2, height)
    .clip()
  doc.translate(0, top - skyTop * scaleY).scale(scale, scaleY)
  const sky = doc.linearGradient(0, skyTop, 0, DRAWING.horizon)
  SKY.forEach((colour, i) => sky.stop(i / (SKY.length - 1), colour))
  doc.rect(-4, skyTop, DRAWING.width + 8, height / scaleY).fill(sky)
  doc.lineCap('round').lineJoin('round')
  for (const { d, colour, lineWidth } of shapes) {
    if (lineWidth === undefined) doc.path(d).fill(colour)
    else doc.lineWidth(lineWidth).path(d).stroke(colour)
  }
  doc.path(SHORE).fill('#ffffff').restore()
  // The edge of the clipped area would be a thin line.
  doc.rect(0, top + height - 1, WIDTH, 2).fill('#ffffff')
}

/** Draws the modules as one path, so that viewers show no seams. */
function drawQrCode(doc: Doc, url: string, x: number, y: number): void {
  const matrix = createQrMatrix(url, 'M')
  const scale = QR_SIZE / matrix.modules
  for (let row = 0; row < matrix.modules; row++) {
    for (let column = 0; column < matrix.modules; column++) {
      if (!matrix.isDark(column, row)) continue
      const start = column
      while (column + 1 < matrix.modules && matrix.isDark(column + 1, row)) column++
      doc.rect(x + start * scale, y + row * scale, (column - start + 1) * scale, scale * 1.02)
    }
  }
  doc.fill('#000000')
}

/** What the certificate certifies; a compact one leaves more of the page to the rest. */
function layOutStatement(pen: Pen, view: CertificateView, isCompact: boolean): Block {
  const { setText } = pen
  const plain = { width: INNER_WIDTH, colour: COLOURS.muted }
  const strong = { width: INNER_WIDTH, weight: 'bold', colour: COLOURS.accent } as const
  const title = setText(TITLE, { ...strong, sizes: [12] })
  const name =
    view.beneficiary === null
      ? setText('The holder of this certificate', { ...plain, sizes: [26] })
      : setText(view.beneficiary, {
          ...strong,
          colour: COLOURS.ink,
          sizes: isCompact ? [22, 19, 17] : [36, 32, 28, 24, 20, 17],
          maxLines: 3,
        })
  const lines: [TextBlock, gap: number][] = [
    [name, 5],
    [setText('has funded the retirement of carbon credits for', { ...plain, sizes: [13] }), 0],
    [setText(view.mass, { ...strong, sizes: [isCompact ? 32 : 42] }), 4],
  ]
  const note = setText(
    `The trip’s own emissions are unchanged. Exact amount: ${view.exactMass}.`,
    plain,
  )
  const height = lines.reduce((sum, [{ height }, gap]) => sum + height + gap, title.height + 8)
  return {
    height: height + note.height + 16,
    draw(top) {
      drawElement(pen, pen.root, 'H1', () => title.write(MARGIN, top))
      drawElement(pen, pen.root, 'P', () => {
        let y = top + title.height + 8
        for (const [line, gap] of lines) {
          line.write(MARGIN, y)
          y += line.height + gap
        }
      })
      drawElement(pen, pen.root, 'P', () => note.write(MARGIN, top + height))
    },
  }
}

/** The tinted background of the proof, with a line on its left. */
function drawPanel(pen: Pen, top: number, height: number): void {
  drawArtifact(pen, () => {
    // The parts of a panel overlap, so that viewers show no seams.
    const left = MARGIN - PANEL_PADDING
    pen.doc.rect(left, top, INNER_WIDTH + 2 * PANEL_PADDING, height + 0.5).fill(COLOURS.panel)
    pen.doc.rect(left, top, 3, height + 0.5).fill(COLOURS.accent)
  })
}

const LABEL = { sizes: [8], colour: COLOURS.muted } as const
const VALUE = { sizes: [10.5, 9.5, 8.5], colour: COLOURS.ink } as const

/** A fact with its text broken into lines. */
interface Cell {
  label: TextBlock
  values: TextBlock[]
  height: number
}

/** Lays out facts in rows of up to three; lists and long texts get rows of their own. */
function layOutFacts(pen: Pen, getParent: () => Element, facts: readonly Fact[]): Block[] {
  const { setText } = pen
  const getList = deferElement(pen, getParent, 'L')
  const setCell = ({ label, lines }: Fact, width: number): Cell => {
    const cell = {
      label: setText(label, { ...LABEL, width }),
      values: lines.map((line) => setText(line, { ...VALUE, width })),
    }
    const height = cell.values.reduce((sum, value) => sum + value.height, cell.label.height + 1)
    return { ...cell, height }
  }
  const drawCell = ({ label, values }: Cell, x: number, top: number): void => {
    const item = addElement(pen, getList(), 'LI')
    drawElement(pen, item, 'Lbl', () => label.write(x, top))
    drawElement(pen, item, 'LBody', () => {
      let y = top + label.height + 1
      for (const value of values) {
        value.write(x, y)
        y += value.height
      }
    })
  }
  const toRow = (cells: Cell[]): Block => ({
    height: Math.max(...cells.map(({ height }) => height)) + ROW_GAP,
    draw: (top) =>
      cells.forEach((cell, i) => drawCell(cell, MARGIN + i * (COLUMN_WIDTH + COLUMN_GAP), top)),
  })

  /** A list in as many columns as its longest line permits; its rows may continue on the next page. */
  function layOutList({ label, lines }: Fact): Block[] {
    const columns = [3, 2].find((count) => {
      const width = (INNER_WIDTH - (count - 1) * COLUMN_GAP) / count
      return lines.every((line) => setText(line, { ...VALUE, width, sizes: [8.5] }).lineCount === 1)
    })
    const count = Math.min(columns ?? 1, lines.length)
    const width = (INNER_WIDTH - (count - 1) * COLUMN_GAP) / count
    const heading = setText(label, { ...LABEL, width: INNER_WIDTH })
    const getItem = deferElement(pen, getList, 'LI')
    const rows: Block[] = []
    for (let i = 0; i < lines.length; i += count) {
      const values = lines
        .slice(i, i + count)
        .map((line) => setText(line, { ...VALUE, width, sizes: [8.5] }))
      const isLast = i + count >= lines.length
      rows.push({
        height: Math.max(...values.map(({ height }) => height)) + (isLast ? ROW_GAP : 1),
        draw: (top) =>
          values.forEach((value, column) =>
            drawElement(pen, getItem(), 'LBody', () =>
              value.write(MARGIN + column * (width + COLUMN_GAP), top),
            ),
          ),
      })
    }
    return [
      {
        height: heading.height + 1,
        draw: (top) => drawElement(pen, getItem(), 'Lbl', () => heading.write(MARGIN, top)),
        isHeading: true,
      },
      ...rows,
    ]
  }

  const blocks: Block[] = []
  let cells: Cell[] = []
  const endRow = (): void => {
    if (cells.length > 0) blocks.push(toRow(cells))
    cells = []
  }
  for (const fact of facts) {
    const cell = setCell(fact, COLUMN_WIDTH)
    const isLong = cell.values.some(({ lineCount }) => lineCount > MAX_COLUMN_LINES)
    if (fact.isList === true && fact.lines.length > 1) {
      endRow()
      blocks.push(...layOutList(fact))
    } else if (isLong) {
      endRow()
      blocks.push(toRow([setCell(fact, INNER_WIDTH)]))
    } else {
      if (cells.length === COLUMNS) endRow()
      cells.push(cell)
    }
  }
  endRow()
  return blocks
}

/** The evidence that carbon credits were retired, on a tinted background. */
function layOutProof(pen: Pen, { proof, proofLinks, proofNote }: CertificateView): Block[] {
  const { setText, root } = pen
  const getSection = deferElement(pen, () => root, 'Sect')
  const heading = setText('Proof of retirement', {
    width: INNER_WIDTH,
    weight: 'bold',
    sizes: [12],
    colour: COLOURS.ink,
  })
  const blocks: Block[] = [
    {
      height: heading.height + PANEL_PADDING + 4,
      draw: (top) =>
        drawElement(pen, getSection(), 'H2', () => heading.write(MARGIN, top + PANEL_PADDING - 2)),
      isHeading: true,
    },
  ]
  if (proofNote !== null) {
    const note = setText(proofNote, { width: INNER_WIDTH, colour: COLOURS.ink })
    blocks.push({
      height: note.height + ROW_GAP,
      draw: (top) => drawElement(pen, getSection(), 'P', () => note.write(MARGIN, top)),
    })
  }
  proofLinks.forEach(({ text, url }, i) => {
    const link = setText(`${text}: ${url}`, {
      width: INNER_WIDTH,
      sizes: [10, 9, 8],
      colour: COLOURS.accent,
    })
    blocks.push({
      height: link.height + (i < proofLinks.length - 1 ? 3 : ROW_GAP),
      draw: (top) => {
        const paragraph = addElement(pen, getSection(), 'P')
        drawLink(pen, paragraph, link, [MARGIN, top, INNER_WIDTH, link.height], url)
      },
    })
  })
  if (proof.length > 0) blocks.push(...layOutFacts(pen, getSection, proof))
  return blocks.map((block) => ({
    ...block,
    draw(top) {
      drawPanel(pen, top, block.height)
      block.draw(top)
    },
  }))
}

/** Draws how to check the certificate, at the end of the first page. */
function drawFooter(pen: Pen, { url, brandName }: CertificateSheet): void {
  const left = MARGIN + QR_SIZE + 18
  const width = WIDTH - MARGIN - left
  const heading = pen.setText('Check this certificate', {
    width,
    weight: 'bold',
    sizes: [11],
    colour: COLOURS.ink,
  })
  const text = pen.setText(
    `Issued by ${brandName}. Scan the code, or open the address below. It must open this certificate at the issuer’s own address.`,
    { width, sizes: [9], colour: COLOURS.muted, maxLines: 3 },
  )
  const address = pen.setText(url, { width, sizes: [9, 8], colour: COLOURS.accent })
  const top = FOOTER_TOP + 6
  drawFigure(pen, `QR code of ${url}`, [MARGIN, FOOTER_TOP, QR_SIZE, QR_SIZE], () =>
    drawQrCode(pen.doc, url, MARGIN, FOOTER_TOP),
  )
  drawElement(pen, pen.root, 'P', () => heading.write(left, top))
  drawElement(pen, pen.root, 'P', () => text.write(left, top + heading.height + 2))
  const addressTop = top + heading.height + text.height + 5
  const paragraph = addElement(pen, pen.root, 'P')
  drawLink(pen, paragraph, address, [left, addressTop, width, address.height], url)
}

/** Starts a page for what does not fit on the previous one; returns the top of its content. */
function startPage(pen: Pen, { view, url }: CertificateSheet): number {
  pen.doc.addPage()
  const text = pen.setText(`Certificate ${view.number}, continued · ${url}`, {
    width: INNER_WIDTH,
    sizes: [9, 8],
    colour: COLOURS.muted,
  })
  drawArtifact(pen, () => text.write(MARGIN, 36))
  return 64
}

/** Draws a certificate on A4. Its text can be selected, copied, searched and read aloud. */
export function drawCertificate(sheet: CertificateSheet, fonts: CertificateFonts): Promise<Buffer> {
  const { view } = sheet
  const doc = new PDFDocument({
    size: 'A4',
    margin: 0,
    pdfVersion: '1.7',
    lang: 'en-GB',
    tagged: true,
    displayTitle: true,
    bufferPages: true,
    info: {
      Title: `${TITLE} ${view.number}`,
      Author: sheet.brandName,
      CreationDate: new Date(sheet.issuedAt),
    },
  })
  const chunks: Buffer[] = []
  doc.on('data', (chunk: Buffer) => chunks.push(chunk))
  const finished = new Promise<Buffer>((resolve, reject) => {
    doc.on('end', () => resolve(Buffer.concat(chunks)))
    doc.on('error', reject)
  })
  const root = doc.struct('Document')
  doc.addStructure(root)
  const pen: Pen = { doc, root, setText: createTextSetter(doc, fonts) }
  drawHeader(pen, sheet)

  const proof = layOutProof(pen, view)
  const facts = layOutFacts(pen, () => root, view.facts)
  const gap: Block = { height: SECTION_GAP, draw: () => undefined }
  const rest = [...proof, gap, ...facts]
  let bottom = FOOTER_TOP - SECTION_GAP
  const getFree = (statement: Block): number =>
    [statement, ...rest].reduce((free, { height }) => free - height, bottom - HEADER_HEIGHT)
  const large = layOutStatement(pen, view, false)
  const isCompact = getFree(large) < FULL_DRAWING_HEIGHT
  const statement = isCompact ? layOutStatement(pen, view, true) : large
  const blocks = [statement, ...rest]
  // The drawing fills what the text leaves.
  const free = getFree(statement)
  const drawingHeight = Math.min(Math.max(free, MIN_DRAWING_HEIGHT), MAX_DRAWING_HEIGHT)
  drawFigure(pen, `${view.drawing.description}.`, [0, HEADER_HEIGHT, WIDTH, drawingHeight], () =>
    drawScene(doc, view.drawing, HEADER_HEIGHT, drawingHeight),
  )

  let top = HEADER_HEIGHT + drawingHeight + Math.max(0, (free - drawingHeight) / 2)
  blocks.forEach((block, i) => {
    const needed = block.height + (block.isHeading ? (blocks[i + 1]?.height ?? 0) : 0)
    // The gap below the last row may be cut off.
    if (top + needed - ROW_GAP > bottom) {
      top = startPage(pen, sheet)
      bottom = HEIGHT - 48
    }
    block.draw(top)
    top += block.height
  })
  doc.switchToPage(0)
  drawFooter(pen, sheet)
  doc.end()
  return finished
}
