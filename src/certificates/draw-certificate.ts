import { readFileSync } from 'node:fs'
import PDFDocument from 'pdfkit'
import {
  formatRoundedMass,
  getNumberFormatter,
  withUnit,
} from '../core/formatting/number-formatter.js'
import { createQrMatrix } from '../core/html/qr-image.js'
import { getFeatures, type CertificateFonts, type FontName } from './certificate-fonts.js'
import type { CertificateContent } from './certificate.js'
import { fitText, type TextBox } from './fit-text.js'

/** What the PDF of a certificate shows. */
export interface CertificateSheet {
  content: CertificateContent
  number: string
  /** ISO 8601 */
  issuedAt: string
  /** Formatted date */
  issuedOn: string
  /** Formatted date; `null` if it is not recorded */
  orderedOn: string | null
  /** Formatted date; `null` if the retirement is not recorded */
  retiredOn: string | null
  /** Address of the certificate's page */
  url: string
  brandName: string
  /** Path of a PNG or JPEG file; `null` for the built-in logo */
  logoPath: string | null
}

// A4 landscape, points
const WIDTH = 841.89
const HEIGHT = 595.28
const MARGIN = 54
const INNER_WIDTH = WIDTH - 2 * MARGIN

const COLOURS = {
  ink: '#0b2530',
  muted: '#486069',
  accent: '#00656a',
  line: '#9fb2b8',
  waves: ['#e9f4f3', '#cfe7e5', '#063844'],
  onDeep: '#f2fbfa',
}

const QR_SIZE = 104
const COLUMN_TOP = 380
const COLUMN_WIDTH = 190
const COLUMN_GAP = 16
const MAX_PROJECTS = 4
const MAX_SERIALS = 2

const TITLE = 'Carbon credit retirement certificate'

/** The built-in logo, in a square of 32 × 32 units. */
const LOGO = [
  'M3 20c4.5 0 4.5-3 9-3s4.5 3 9 3 4.5-3 8-3',
  'M3 26c4.5 0 4.5-3 9-3s4.5 3 9 3 4.5-3 8-3',
  'M7 12.5h18l-3 4.2M16 12V4l6 5',
]

type Doc = PDFKit.PDFDocument

/** Draws content that assistive technology reads as an element of this type. */
type Tag = (
  type: 'H1' | 'P' | 'Figure' | 'Link',
  draw: (element: PDFKit.PDFStructureElement) => void,
  alt?: string,
) => void

/** Creates the structure of the document (ISO 32000-1, section 14.7). */
function createTagger(doc: Doc): Tag {
  const root = doc.struct('Document')
  doc.addStructure(root)
  return (type, draw, alt) => {
    const element = doc.struct(type, alt === undefined ? {} : { alt })
    root.add(element)
    element.add(() => draw(element))
  }
}

/** Makes an area of an element a link. */
const addLink = (
  doc: Doc,
  structParent: PDFKit.PDFStructureElement,
  [x, y, width, height]: [number, number, number, number],
  url: string,
) =>
  // PDFKit's types lack the option.
  doc.link(x, y, width, height, url, { structParent } as PDFKit.Mixins.AnnotationOption)

/** Draws content that assistive technology skips. */
function drawArtifact(doc: Doc, draw: () => void): void {
  doc.markContent('Artifact', { type: 'Layout' })
  draw()
  doc.endMarkedContent()
}

type TextStyle = Partial<TextBox> &
  Pick<TextBox, 'width'> & { colour?: string; isRightAligned?: boolean }

type Write = ReturnType<typeof createWriter>

/** Creates a function that writes a block of text and returns the top of the next block. */
function createWriter(doc: Doc, fonts: CertificateFonts) {
  const registered = new Set<FontName>()
  const writeRun = (text: string, font: FontName, size: number, x: number, baseline: number) => {
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

  return (text: string, x: number, top: number, style: TextStyle): number => {
    const { sizes = [11], maxLines = 1, weight = 'regular', width } = style
    const { size, lines } = fitText(fonts, text, { weight, width, maxLines, sizes })
    doc.fillColor(style.colour ?? COLOURS.ink)
    let baseline = top + size
    for (const line of lines) {
      let left = style.isRightAligned ? x + width - line.width : x
      for (const run of line.runs) {
        writeRun(run.text, run.font, size, left, baseline)
        left += fonts.measure(run) * size
      }
      // So that the last word is not read together with the first one of the next line.
      writeRun(' ', weight, size, left, baseline)
      baseline += size * 1.25
    }
    return baseline - size
  }
}

function drawWaves(doc: Doc): void {
  COLOURS.waves.forEach((colour, i) => {
    const top = 518 + i * 19
    const length = WIDTH / 3
    const start = -length * (i * 0.31)
    let path = `M${start} ${top}`
    for (let x = start; x < WIDTH; x += length) {
      path += `q${length / 4} -16 ${length / 2} 0t${length / 2} 0`
    }
    doc.path(`${path}V${HEIGHT}H${start}Z`).fill(colour)
  })
}

/** Draws the logo; returns its width with the gap. */
function drawLogo(doc: Doc, logoPath: string | null): number {
  if (logoPath === null) {
    const size = 30
    doc
      .save()
      .translate(MARGIN, 44)
      .scale(size / 32)
    doc.lineWidth(2.2).lineCap('round').lineJoin('round')
    for (const path of LOGO) doc.path(path).stroke(COLOURS.accent)
    doc.restore()
    return size + 10
  }
  try {
    doc.image(readFileSync(logoPath), MARGIN, 42, { fit: [120, 34], valign: 'center' })
    return 132
  } catch {
    // The image is damaged. The name is enough.
    return 0
  }
}

function drawBrand(
  doc: Doc,
  write: Write,
  tag: Tag,
  { brandName, logoPath }: CertificateSheet,
): void {
  let left = MARGIN
  drawArtifact(doc, () => {
    left += drawLogo(doc, logoPath)
  })
  tag('P', () => write(brandName, left, 49, { width: 380, weight: 'bold', sizes: [17, 14, 11, 9] }))
}

/** Draws the modules as one path, so that viewers show no seams. */
function drawQrCode(doc: Doc, url: string, x: number, y: number): void {
  const matrix = createQrMatrix(url, 'M')
  const { modules } = matrix
  const quietZone = 4
  const scale = QR_SIZE / (modules + 2 * quietZone)
  doc.roundedRect(x, y, QR_SIZE, QR_SIZE, 4).fill('#ffffff')
  for (let row = 0; row < modules; row++) {
    for (let column = 0; column < modules; column++) {
      if (!matrix.isDark(column, row)) continue
      const start = column
      while (column + 1 < modules && matrix.isDark(column + 1, row)) column++
      const left = x + (start + quietZone) * scale
      const top = y + (row + quietZone) * scale
      doc.rect(left, top, (column - start + 1) * scale, scale * 1.02)
    }
  }
  doc.fill('#000000')
}

/** A fact on a certificate: its label and its lines, which can link to an address. */
type Fact = [label: string, lines: (string | null)[], url?: string | null]

const limit = (lines: string[], count: number): string[] =>
  lines.length <= count
    ? lines
    : [...lines.slice(0, count - 1), `and ${lines.length - count + 1} more`]

function listColumns({ content, issuedOn, orderedOn, retiredOn }: CertificateSheet): Fact[][] {
  const { provider, projects, retirement } = content
  const projectLines = projects.map(({ name, country }) =>
    country === null ? name : `${name}, ${country}`,
  )
  const imo = content.imoNumber === null ? null : `IMO ${content.imoNumber}`
  const standard = [retirement?.standard, retirement?.vintage].filter(Boolean).join(', ')
  return [
    [
      ['Vessel', [content.vesselName, imo]],
      ['Trip', [content.trip]],
      ['Ordered', [orderedOn]],
      ['Issued', [issuedOn]],
    ],
    [
      ['Portfolio', [content.portfolioName]],
      ['Projects', limit(projectLines, retirement ? 2 : MAX_PROJECTS)],
      ['Standard', [standard === '' ? null : standard]],
      ['Retired', [retiredOn]],
    ],
    [
      [
        'Registry',
        [retirement?.registry ?? null, retirement?.reference ?? null],
        retirement?.url ?? provider?.registryUrl ?? null,
      ],
      ['Provider', [provider?.name ?? null, provider?.orderId ?? null]],
      ['Serial numbers', limit(provider?.serialNumbers ?? [], MAX_SERIALS)],
    ],
  ]
}

function drawFacts(doc: Doc, write: Write, tag: Tag, sheet: CertificateSheet): void {
  listColumns(sheet).forEach((facts, column) => {
    const left = MARGIN + column * (COLUMN_WIDTH + COLUMN_GAP)
    let top = COLUMN_TOP
    for (const [label, lines, url] of facts) {
      const texts = lines.filter((line) => line !== null)
      if (texts.length === 0) continue
      const start = top
      tag(url ? 'Link' : 'P', (element) => {
        top = write(label, left, top, { width: COLUMN_WIDTH, sizes: [8.5], colour: COLOURS.muted })
        for (const text of texts) {
          top = write(text, left, top, { width: COLUMN_WIDTH, sizes: [11, 10, 9, 8], maxLines: 2 })
        }
        if (url) addLink(doc, element, [left, start, COLUMN_WIDTH, top - start], url)
      })
      top += 7
    }
  })
}

/** Draws what the certificate certifies. */
function drawStatement(write: Write, tag: Tag, { beneficiary, co2eKg }: CertificateContent): void {
  const numbers = getNumberFormatter('en-GB')
  const exact = withUnit(numbers.exact(co2eKg), 'kg')
  const plain = { width: INNER_WIDTH, colour: COLOURS.muted } as const
  const strong = { width: INNER_WIDTH, weight: 'bold', colour: COLOURS.accent } as const
  let top = 118
  tag('H1', () => {
    top = write(TITLE, MARGIN, top, { ...strong, sizes: [14] }) + 10
  })
  tag('P', () => {
    top =
      beneficiary === null
        ? write('The holder of this certificate', MARGIN, top, { ...plain, sizes: [30] })
        : write(beneficiary, MARGIN, top, {
            ...strong,
            colour: COLOURS.ink,
            sizes: [44, 40, 36, 32, 28, 24, 21, 18],
            maxLines: 2,
          })
    top = write('has funded the retirement of carbon credits for', MARGIN, top + 6, {
      ...plain,
      sizes: [15],
    })
    const mass = `${formatRoundedMass(co2eKg, numbers)} of CO₂e`
    top = write(mass, MARGIN, top, { ...strong, sizes: [52, 44, 36] })
  })
  tag('P', () =>
    write(`Exactly ${exact} of CO₂e. The trip’s own emissions are unchanged.`, MARGIN, top, {
      ...plain,
      sizes: [10],
    }),
  )
}

/** Draws a certificate on an A4 page. Its text can be selected, copied, searched and read aloud. */
export function drawCertificate(sheet: CertificateSheet, fonts: CertificateFonts): Promise<Buffer> {
  const { content, number, url, brandName } = sheet
  const doc = new PDFDocument({
    size: 'A4',
    layout: 'landscape',
    margin: 0,
    pdfVersion: '1.7',
    lang: 'en-GB',
    tagged: true,
    displayTitle: true,
    info: {
      Title: `${TITLE} ${number}`,
      Author: brandName,
      CreationDate: new Date(sheet.issuedAt),
    },
  })
  const chunks: Buffer[] = []
  doc.on('data', (chunk: Buffer) => chunks.push(chunk))
  const finished = new Promise<Buffer>((resolve, reject) => {
    doc.on('end', () => resolve(Buffer.concat(chunks)))
    doc.on('error', reject)
  })
  const write = createWriter(doc, fonts)
  const tag = createTagger(doc)
  drawArtifact(doc, () => drawWaves(doc))
  drawBrand(doc, write, tag, sheet)

  const right = { width: 260, isRightAligned: true }
  const rightLeft = WIDTH - MARGIN - right.width
  tag('P', () => {
    const belowLabel = write('Certificate number', rightLeft, 44, {
      ...right,
      sizes: [8.5],
      colour: COLOURS.muted,
    })
    write(number, rightLeft, belowLabel, { ...right, weight: 'bold', sizes: [14] })
  })
  drawArtifact(doc, () =>
    doc
      .moveTo(MARGIN, 94)
      .lineTo(WIDTH - MARGIN, 94)
      .lineWidth(0.75)
      .stroke(COLOURS.line),
  )
  drawStatement(write, tag, content)
  drawFacts(doc, write, tag, sheet)
  const qrLeft = WIDTH - MARGIN - QR_SIZE
  tag('Figure', () => drawQrCode(doc, url, qrLeft, COLUMN_TOP), `QR code of ${url}`)
  tag('Link', (element) => {
    write('Scan to check', qrLeft, COLUMN_TOP + QR_SIZE + 1, {
      width: QR_SIZE - 11,
      sizes: [9],
      colour: COLOURS.muted,
      isRightAligned: true,
    })
    addLink(doc, element, [qrLeft, COLUMN_TOP, QR_SIZE, QR_SIZE], url)
  })
  tag('Link', (element) => {
    write(`Issued by ${brandName} · check at ${url}`, MARGIN, 569, {
      width: INNER_WIDTH,
      sizes: [9, 8, 7],
      colour: COLOURS.onDeep,
    })
    addLink(doc, element, [MARGIN, 566, INNER_WIDTH, 14], url)
  })
  doc.end()
  return finished
}
