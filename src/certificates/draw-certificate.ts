import { readFileSync } from 'node:fs'
import { DRAWING, SHORE, SKY, type Drawing } from './certificate-drawing.js'
import { openCertificateFonts } from './certificate-fonts.js'
import type { CertificateView, Fact } from './describe-certificate.js'
import { createTaggedPdf, type PdfElement, type TaggedPdf, type TextBlock } from './tagged-pdf.js'

/** What the PDF of a certificate shows. */
interface CertificateSheet {
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

type Doc = TaggedPdf['doc']
type Box = [x: number, y: number, width: number, height: number]

/** Content of a page that is not broken. */
interface Block {
  height: number
  draw: (top: number) => void
  /** Whether it stays with the block below */
  isHeading?: boolean
}

/** Adds an element when it is first drawn in, because elements are read in the order of addition. */
function deferElement(pdf: TaggedPdf, getParent: () => PdfElement, type: string): () => PdfElement {
  let element: PdfElement | null = null
  return () => (element ??= pdf.addElement(getParent(), type))
}

/** Writes text that links to an address. */
function drawLink(
  pdf: TaggedPdf,
  parent: PdfElement,
  block: TextBlock,
  box: Box,
  url: string,
): void {
  const link = pdf.drawElement(parent, 'Link', () => block.write(box[0], box[1]))
  // PDFKit's types lack the options. `Contents` is what assistive technology reads.
  const options = { structParent: link, Contents: new String(url) }
  pdf.doc.link(...box, url, options as unknown as PDFKit.Mixins.AnnotationOption)
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
function drawHeader(pdf: TaggedPdf, { brandName, logoPath, view }: CertificateSheet): void {
  let left = MARGIN
  pdf.drawArtifact(() => {
    left += drawLogo(pdf.doc, logoPath)
  })
  const brand = pdf.setText(brandName, {
    width: 400 - left,
    weight: 'bold',
    sizes: [15, 13, 11, 9],
    maxLines: 2,
    colour: COLOURS.ink,
  })
  const number = pdf.setText(`No. ${view.number}`, {
    width: 150,
    isRightAligned: true,
    colour: COLOURS.muted,
  })
  const centre = HEADER_HEIGHT / 2
  pdf.drawElement(pdf.root, 'P', () => brand.write(left, centre - brand.height / 2))
  pdf.drawElement(pdf.root, 'P', () =>
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

/** What the certificate certifies; a compact one leaves more of the page to the rest. */
function layOutStatement(pdf: TaggedPdf, view: CertificateView, isCompact: boolean): Block {
  const { setText } = pdf
  const plain = { width: INNER_WIDTH, colour: COLOURS.muted }
  const strong = { width: INNER_WIDTH, weight: 'bold', colour: COLOURS.accent } as const
  const title = setText(TITLE, { ...strong, sizes: [12] })
  const { beneficiary, claim, mass, ending } = view
  const setName = (name: string) =>
    setText(name, {
      ...strong,
      colour: COLOURS.ink,
      sizes: isCompact ? [22, 19, 17] : [36, 32, 28, 24, 20, 17],
      maxLines: 3,
    })
  const setWords = (words: string) => setText(words, { ...plain, sizes: [13] })
  const lines: [TextBlock, gap: number][] = [
    ...(beneficiary === null ? [] : [[setName(beneficiary), 5] as [TextBlock, number]]),
    [setWords(claim), 0],
    [setText(mass, { ...strong, sizes: [isCompact ? 32 : 42] }), 4],
    ...(ending === null ? [] : [[setWords(ending), 6] as [TextBlock, number]]),
  ]
  const note = setText(
    `The trip’s own emissions are unchanged. Exact amount: ${view.exactMass}.`,
    plain,
  )
  const height = lines.reduce((sum, [{ height }, gap]) => sum + height + gap, title.height + 8)
  return {
    height: height + note.height + 16,
    draw(top) {
      pdf.drawElement(pdf.root, 'H1', () => title.write(MARGIN, top))
      pdf.drawElement(pdf.root, 'P', () => {
        let y = top + title.height + 8
        for (const [line, gap] of lines) {
          line.write(MARGIN, y)
          y += line.height + gap
        }
      })
      pdf.drawElement(pdf.root, 'P', () => note.write(MARGIN, top + height))
    },
  }
}

/** The tinted background of the proof, with a line on its left. */
function drawPanel(pdf: TaggedPdf, top: number, height: number): void {
  pdf.drawArtifact(() => {
    // The parts of a panel overlap, so that viewers show no seams.
    const left = MARGIN - PANEL_PADDING
    pdf.doc.rect(left, top, INNER_WIDTH + 2 * PANEL_PADDING, height + 0.5).fill(COLOURS.panel)
    pdf.doc.rect(left, top, 3, height + 0.5).fill(COLOURS.accent)
  })
}

const LABEL = { sizes: [9], colour: COLOURS.muted } as const
const VALUE = { sizes: [10.5, 9.5, 8.5], colour: COLOURS.ink } as const
const LIST_LINE = { sizes: [9.5], colour: COLOURS.ink } as const

/** A fact with its text broken into lines. */
interface Cell {
  label: TextBlock
  values: TextBlock[]
  height: number
}

/** Lays out facts in rows of up to three; lists and long texts get rows of their own. */
function layOutFacts(pdf: TaggedPdf, getParent: () => PdfElement, facts: readonly Fact[]): Block[] {
  const { setText } = pdf
  const getList = deferElement(pdf, getParent, 'L')
  const setCell = ({ label, lines }: Fact, width: number): Cell => {
    const cell = {
      label: setText(label, { ...LABEL, width }),
      values: lines.map((line) => setText(line, { ...VALUE, width })),
    }
    const height = cell.values.reduce((sum, value) => sum + value.height, cell.label.height + 1)
    return { ...cell, height }
  }
  const drawCell = ({ label, values }: Cell, x: number, top: number): void => {
    const item = pdf.addElement(getList(), 'LI')
    pdf.drawElement(item, 'Lbl', () => label.write(x, top))
    pdf.drawElement(item, 'LBody', () => {
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
      return lines.every((line) => setText(line, { ...LIST_LINE, width }).lineCount === 1)
    })
    const count = Math.min(columns ?? 1, lines.length)
    const width = (INNER_WIDTH - (count - 1) * COLUMN_GAP) / count
    const heading = setText(label, { ...LABEL, width: INNER_WIDTH })
    const getItem = deferElement(pdf, getList, 'LI')
    const rows: Block[] = []
    for (let i = 0; i < lines.length; i += count) {
      const values = lines.slice(i, i + count).map((line) => setText(line, { ...LIST_LINE, width }))
      const isLast = i + count >= lines.length
      rows.push({
        height: Math.max(...values.map(({ height }) => height)) + (isLast ? ROW_GAP : 1),
        draw: (top) =>
          values.forEach((value, column) =>
            pdf.drawElement(getItem(), 'LBody', () =>
              value.write(MARGIN + column * (width + COLUMN_GAP), top),
            ),
          ),
      })
    }
    return [
      {
        height: heading.height + 1,
        draw: (top) => pdf.drawElement(getItem(), 'Lbl', () => heading.write(MARGIN, top)),
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
function layOutProof(pdf: TaggedPdf, view: CertificateView): Block[] {
  const { proofLinks, proofNote } = view
  const projects = view.projects.map(({ name, traits }) => [name, ...traits].join(' · '))
  const proof = [
    ...view.proof,
    ...(projects.length === 0 ? [] : [{ label: 'Projects', lines: projects, isList: true }]),
  ]
  const { setText, root } = pdf
  const getSection = deferElement(pdf, () => root, 'Sect')
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
        pdf.drawElement(getSection(), 'H2', () => heading.write(MARGIN, top + PANEL_PADDING - 2)),
      isHeading: true,
    },
  ]
  if (proofNote !== null) {
    const note = setText(proofNote, { width: INNER_WIDTH, colour: COLOURS.ink })
    blocks.push({
      height: note.height + ROW_GAP,
      draw: (top) => pdf.drawElement(getSection(), 'P', () => note.write(MARGIN, top)),
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
        const paragraph = pdf.addElement(getSection(), 'P')
        drawLink(pdf, paragraph, link, [MARGIN, top, INNER_WIDTH, link.height], url)
      },
    })
  })
  if (proof.length > 0) blocks.push(...layOutFacts(pdf, getSection, proof))
  return blocks.map((block) => ({
    ...block,
    draw(top) {
      drawPanel(pdf, top, block.height)
      block.draw(top)
    },
  }))
}

/** Draws how to check the certificate, at the end of the first page. */
function drawFooter(pdf: TaggedPdf, { url, brandName }: CertificateSheet): void {
  const left = MARGIN + QR_SIZE + 18
  const width = WIDTH - MARGIN - left
  const heading = pdf.setText('Check this certificate', {
    width,
    weight: 'bold',
    sizes: [11],
    colour: COLOURS.ink,
  })
  const text = pdf.setText(
    `Issued by ${brandName}. Scan the code, or open the address below. It must open this certificate at the issuer’s own address.`,
    { width, sizes: [9], colour: COLOURS.muted, maxLines: 3 },
  )
  const address = pdf.setText(url, { width, sizes: [9, 8], colour: COLOURS.accent })
  const top = FOOTER_TOP + 6
  pdf.drawFigure(`QR code of ${url}`, [MARGIN, FOOTER_TOP, QR_SIZE, QR_SIZE], () =>
    pdf.drawQrCode(url, MARGIN, FOOTER_TOP, QR_SIZE),
  )
  pdf.drawElement(pdf.root, 'P', () => heading.write(left, top))
  pdf.drawElement(pdf.root, 'P', () => text.write(left, top + heading.height + 2))
  const addressTop = top + heading.height + text.height + 5
  const paragraph = pdf.addElement(pdf.root, 'P')
  drawLink(pdf, paragraph, address, [left, addressTop, width, address.height], url)
}

/** Starts a page for what does not fit on the previous one; returns the top of its content. */
function startPage(pdf: TaggedPdf, { view, url }: CertificateSheet): number {
  pdf.doc.addPage()
  const text = pdf.setText(`Certificate ${view.number}, continued · ${url}`, {
    width: INNER_WIDTH,
    sizes: [9, 8],
    colour: COLOURS.muted,
  })
  pdf.drawArtifact(() => text.write(MARGIN, 36))
  return 64
}

export interface DrawTask {
  sheet: CertificateSheet
  /** CERTIFICATE_FONT */
  fontPath: string | undefined
}

/** Draws a certificate on A4. Its text can be selected, copied, searched and read aloud. */
export function drawCertificate({ sheet, fontPath }: DrawTask): Promise<Buffer> {
  const { view } = sheet
  const pdf = createTaggedPdf(
    {
      Title: `${TITLE} ${view.number}`,
      Author: sheet.brandName,
      CreationDate: new Date(sheet.issuedAt),
    },
    openCertificateFonts(fontPath),
  )
  const { doc, root } = pdf
  drawHeader(pdf, sheet)

  const proof = layOutProof(pdf, view)
  const facts = layOutFacts(pdf, () => root, view.facts)
  const gap: Block = { height: SECTION_GAP, draw: () => undefined }
  const rest = [...proof, gap, ...facts]
  let bottom = FOOTER_TOP - SECTION_GAP
  const getFree = (statement: Block): number =>
    [statement, ...rest].reduce((free, { height }) => free - height, bottom - HEADER_HEIGHT)
  const large = layOutStatement(pdf, view, false)
  const isCompact = getFree(large) < FULL_DRAWING_HEIGHT
  const statement = isCompact ? layOutStatement(pdf, view, true) : large
  const blocks = [statement, ...rest]
  // The drawing fills what the text leaves.
  const free = getFree(statement)
  const drawingHeight = Math.min(Math.max(free, MIN_DRAWING_HEIGHT), MAX_DRAWING_HEIGHT)
  pdf.drawFigure(`${view.drawing.description}.`, [0, HEADER_HEIGHT, WIDTH, drawingHeight], () =>
    drawScene(doc, view.drawing, HEADER_HEIGHT, drawingHeight),
  )

  let top = HEADER_HEIGHT + drawingHeight + Math.max(0, (free - drawingHeight) / 2)
  blocks.forEach((block, i) => {
    const needed = block.height + (block.isHeading ? (blocks[i + 1]?.height ?? 0) : 0)
    // The gap below the last row may be cut off.
    if (top + needed - ROW_GAP > bottom) {
      top = startPage(pdf, sheet)
      bottom = HEIGHT - 48
    }
    block.draw(top)
    top += block.height
  })
  doc.switchToPage(0)
  drawFooter(pdf, sheet)
  return pdf.finish()
}
