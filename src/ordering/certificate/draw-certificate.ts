import { readFileSync } from 'node:fs'
import PDFDocument from 'pdfkit'
import { getNumberFormatter } from '../../formatting/number-formatter.js'
import { createQrMatrix } from '../../qr-code/qr-image.js'
import { formatMass } from '../order-form-view.js'
import type { CertificateContent } from './certificate.js'
import { getFeatures, type CertificateFonts, type FontName } from './certificate-fonts.js'
import { fitText, type TextBox } from './fit-text.js'

/** What the PDF of a certificate shows. */
export interface CertificateSheet {
  content: CertificateContent
  number: string
  /** ISO 8601 */
  issuedAt: string
  /** Formatted date */
  issuedOn: string
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

/** The built-in logo, in a square of 32 × 32 units. */
const LOGO = [
  'M3 20c4.5 0 4.5-3 9-3s4.5 3 9 3 4.5-3 8-3',
  'M3 26c4.5 0 4.5-3 9-3s4.5 3 9 3 4.5-3 8-3',
  'M7 12.5h18l-3 4.2M16 12V4l6 5',
]

type Doc = PDFKit.PDFDocument

interface TextStyle extends Omit<TextBox, 'sizes' | 'maxLines' | 'weight'> {
  sizes?: TextBox['sizes']
  maxLines?: number
  weight?: TextBox['weight']
  colour?: string
  isRightAligned?: boolean
}

/** Creates a function that writes a block of text and returns the top of the next block. */
function createWriter(doc: Doc, fonts: CertificateFonts) {
  for (const [name, font] of fonts.fonts) {
    // PDFKit accepts open fonts; its types do not say so.
    doc.registerFont(name, font as unknown as Uint8Array)
  }
  const writeRun = (text: string, font: FontName, size: number, x: number, baseline: number) =>
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

function drawBrand(
  doc: Doc,
  write: ReturnType<typeof createWriter>,
  { brandName, logoPath }: CertificateSheet,
): void {
  const size = 30
  let left = MARGIN
  if (logoPath === null) {
    doc
      .save()
      .translate(MARGIN, 44)
      .scale(size / 32)
    doc.lineWidth(2.2).lineCap('round').lineJoin('round')
    for (const path of LOGO) doc.path(path).stroke(COLOURS.accent)
    doc.restore()
    left += size + 10
  } else {
    try {
      doc.image(readFileSync(logoPath), MARGIN, 42, { fit: [120, 34], valign: 'center' })
      left += 132
    } catch {
      // The image is damaged. The name is enough.
    }
  }
  write(brandName, left, 49, { width: 380, weight: 'bold', sizes: [17, 14, 11, 9] })
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

/** A fact on a certificate: its label and its lines. */
type Fact = [label: string, lines: (string | null)[]]

const limit = (lines: string[], count: number): string[] =>
  lines.length <= count
    ? lines
    : [...lines.slice(0, count - 1), `and ${lines.length - count + 1} more`]

function listColumns({ content, issuedOn }: CertificateSheet): Fact[][] {
  const { provider, projects } = content
  const projectLines = projects.map(({ name, country }) =>
    country === null ? name : `${name}, ${country}`,
  )
  const imo = content.imoNumber === null ? null : `IMO ${content.imoNumber}`
  return [
    [
      ['Vessel', [content.vesselName, imo]],
      ['Trip', [content.trip]],
      ['Issued', [issuedOn]],
    ],
    [
      ['Portfolio', [content.portfolioName]],
      ['Projects', limit(projectLines, MAX_PROJECTS)],
    ],
    [
      ['Provider', [provider?.name ?? null]],
      ['Provider reference', [provider?.orderId ?? null]],
      ['Serial numbers', limit(provider?.serialNumbers ?? [], MAX_SERIALS)],
    ],
  ]
}

function drawFacts(write: ReturnType<typeof createWriter>, sheet: CertificateSheet): void {
  listColumns(sheet).forEach((facts, column) => {
    const left = MARGIN + column * (COLUMN_WIDTH + COLUMN_GAP)
    let top = COLUMN_TOP
    for (const [label, lines] of facts) {
      const texts = lines.filter((line) => line !== null)
      if (texts.length === 0) continue
      top = write(label, left, top, { width: COLUMN_WIDTH, sizes: [8.5], colour: COLOURS.muted })
      for (const text of texts) {
        top = write(text, left, top, { width: COLUMN_WIDTH, sizes: [11, 10, 9, 8], maxLines: 2 })
      }
      top += 9
    }
  })
}

/** Draws a certificate on an A4 page. Its text can be selected, copied and searched. */
export function drawCertificate(sheet: CertificateSheet, fonts: CertificateFonts): Promise<Buffer> {
  const { content, number, url, brandName } = sheet
  const doc = new PDFDocument({
    size: 'A4',
    layout: 'landscape',
    margin: 0,
    lang: 'en-GB',
    displayTitle: true,
    info: {
      Title: `Carbon offset certificate ${number}`,
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
  drawWaves(doc)
  drawBrand(doc, write, sheet)

  const right = { width: 260, isRightAligned: true }
  const rightLeft = WIDTH - MARGIN - right.width
  const belowLabel = write('Certificate number', rightLeft, 44, {
    ...right,
    sizes: [8.5],
    colour: COLOURS.muted,
  })
  write(number, rightLeft, belowLabel, { ...right, weight: 'bold', sizes: [14] })
  doc
    .moveTo(MARGIN, 94)
    .lineTo(WIDTH - MARGIN, 94)
    .lineWidth(0.75)
    .stroke(COLOURS.line)

  let top = write('Carbon offset certificate', MARGIN, 122, {
    width: INNER_WIDTH,
    weight: 'bold',
    sizes: [14],
    colour: COLOURS.accent,
  })
  const unnamed = { width: INNER_WIDTH, sizes: [30], colour: COLOURS.muted } as const
  top =
    content.beneficiary === null
      ? write('The holder of this certificate', MARGIN, top + 10, unnamed)
      : write(content.beneficiary, MARGIN, top + 10, {
          width: INNER_WIDTH,
          weight: 'bold',
          sizes: [44, 40, 36, 32, 28, 24, 21, 18],
          maxLines: 2,
        })
  top = write('has offset greenhouse gas emissions of', MARGIN, top + 8, {
    width: INNER_WIDTH,
    sizes: [15],
    colour: COLOURS.muted,
  })
  write(`${formatMass(content.co2eKg, getNumberFormatter('en-GB'))} CO₂e`, MARGIN, top, {
    width: INNER_WIDTH,
    weight: 'bold',
    sizes: [56, 48, 40],
    colour: COLOURS.accent,
  })

  drawFacts(write, sheet)
  const qrLeft = WIDTH - MARGIN - QR_SIZE
  drawQrCode(doc, url, qrLeft, COLUMN_TOP)
  doc.link(qrLeft, COLUMN_TOP, QR_SIZE, QR_SIZE, url)
  write('Scan to verify', qrLeft, COLUMN_TOP + QR_SIZE + 1, {
    width: QR_SIZE - 11,
    sizes: [9],
    colour: COLOURS.muted,
    isRightAligned: true,
  })
  write(`Verified by ${brandName}: ${url}`, MARGIN, 569, {
    width: INNER_WIDTH,
    sizes: [9, 8, 7],
    colour: COLOURS.onDeep,
  })
  doc.link(MARGIN, 566, INNER_WIDTH, 14, url)
  doc.end()
  return finished
}
