import { openCertificateFonts } from '../../certificates/certificate-fonts.js'
import { createTaggedPdf, type PdfElement, type TaggedPdf } from '../../certificates/tagged-pdf.js'

/** What the PDF of a payment request shows; texts are formatted. */
export interface PaymentRequest {
  seller: { name: string; contact: string | null }
  /** Name, company, VAT ID and email, as far as they are known */
  customer: string[]
  orderNumber: string
  /** ISO 8601 */
  orderedAt: string
  orderedOn: string
  dueOn: string
  lines: { label: string; amount: string }[]
  total: string
  /** Labels and values of the account; empty if it is not configured */
  account: { label: string; value: string }[]
  /** Content of the code for banking apps */
  epcPayload: string | null
  /** Paragraphs */
  instructions: string[]
}

// A4, points
const WIDTH = 595.28
const HEIGHT = 841.89
const MARGIN = 56
const INNER_WIDTH = WIDTH - 2 * MARGIN
const RIGHT = WIDTH - MARGIN
const BOTTOM = HEIGHT - 96
const HALF = INNER_WIDTH / 2 - 12
const AMOUNT_WIDTH = 130
const QR_SIZE = 128
/** Enough for the largest code: 4 modules of 45, with its margins */
const QUIET_ZONE = 12
const BOX_PADDING = 18

const COLOURS = {
  ink: '#0b2530',
  muted: '#486069',
  accent: '#00656a',
  line: '#d5dfe1',
  box: '#eef5f5',
}
const TITLE = 'Payment request'
const SMALL = { sizes: [9] as [number], colour: COLOURS.muted }

function createPen(pdf: TaggedPdf) {
  const { root, addElement, drawElement, setText } = pdf
  return {
    ...pdf,
    /** Adds an element of the structure; `draw` draws its content. */
    tag: (type: string, draw: (() => void) | null, parent: PdfElement = root): PdfElement =>
      draw === null ? addElement(parent, type) : drawElement(parent, type, draw),
    /** Writes a block of text; returns the top of the next one. */
    write: (text: string, x: number, top: number, style: Parameters<typeof setText>[1]): number => {
      const block = setText(text, { colour: COLOURS.ink, sizes: [11], maxLines: 1, ...style })
      block.write(x, top)
      return top + block.height
    },
  }
}
type Pen = ReturnType<typeof createPen>

type Draw = (pdf: Pen, request: PaymentRequest, top: number) => number

const drawLine = ({ doc, drawArtifact }: Pen, y: number, colour = COLOURS.line): void =>
  drawArtifact(() => doc.moveTo(MARGIN, y).lineTo(RIGHT, y).lineWidth(0.75).stroke(colour))

const drawHead: Draw = ({ doc, drawArtifact, tag, write }, request, top) => {
  drawArtifact(() => doc.rect(0, 0, WIDTH, 8).fill(COLOURS.accent))
  tag('P', () =>
    write(request.seller.name, MARGIN, top, {
      width: HALF,
      weight: 'bold',
      sizes: [15, 13, 11],
      maxLines: 3,
      colour: COLOURS.accent,
    }),
  )
  const style = { width: HALF, isRightAligned: true }
  let next = top
  tag('H1', () => {
    next = write(TITLE, RIGHT - HALF, top - 5, { ...style, weight: 'bold', sizes: [22] })
  })
  tag('P', () => {
    next = write(request.orderNumber, RIGHT - HALF, next, {
      ...style,
      sizes: [11, 9],
      maxLines: 2,
      colour: COLOURS.muted,
    })
  })
  return next
}

const drawParties: Draw = ({ tag, write }, { seller, customer }, top) => {
  const parties = [
    { label: 'From', lines: [seller.name, ...(seller.contact === null ? [] : [seller.contact])] },
    { label: 'To', lines: customer },
  ]
  const ends = parties.map(({ label, lines }, column) => {
    const left = MARGIN + column * (INNER_WIDTH - HALF)
    let next = top
    tag('P', () => {
      next = write(label, left, next, { width: HALF, ...SMALL }) + 2
      for (const line of lines) {
        next = write(line, left, next, { width: HALF, sizes: [11, 10], maxLines: 3 })
      }
    })
    return next
  })
  return Math.max(...ends)
}

const drawDates: Draw = ({ tag, write }, { orderedOn, dueOn, total }, top) => {
  const facts = [
    ['Date', orderedOn],
    ['Due date', dueOn],
    ['Amount due', total],
  ] as const
  const width = INNER_WIDTH / facts.length
  const ends = facts.map(([label, value], column) => {
    const left = MARGIN + column * width
    let next = top
    tag('P', () => {
      next = write(label, left, top, { width, ...SMALL }) + 2
      next = write(value, left, next, {
        width: width - 8,
        weight: 'bold',
        sizes: [13, 11, 9],
      })
    })
    return next
  })
  return Math.max(...ends)
}

const drawLines: Draw = (pdf, { lines, total }, top) => {
  const { tag, write } = pdf
  const table = tag('Table', null)
  const labelWidth = INNER_WIDTH - AMOUNT_WIDTH
  let next = top
  const drawRow = (label: string, amount: string, kind: 'head' | 'line' | 'total') => {
    const row = tag('TR', null, table)
    const cell = kind === 'head' ? 'TH' : 'TD'
    const start = next + 8
    const style =
      kind === 'head'
        ? SMALL
        : ({
            sizes: [kind === 'total' ? 13 : 11, 9],
            weight: kind === 'total' ? 'bold' : 'regular',
          } as const)
    tag(
      kind === 'line' ? 'TD' : 'TH',
      () => {
        next = write(label, MARGIN, start, { width: labelWidth - 12, maxLines: 3, ...style })
      },
      row,
    )
    tag(
      cell,
      () =>
        write(amount, RIGHT - AMOUNT_WIDTH, start, {
          width: AMOUNT_WIDTH,
          isRightAligned: true,
          ...style,
        }),
      row,
    )
    next += 4
    if (kind !== 'total') drawLine(pdf, next, kind === 'head' ? COLOURS.accent : COLOURS.line)
  }
  drawRow('Description', 'Amount', 'head')
  for (const { label, amount } of lines) drawRow(label, amount, 'line')
  drawRow('Total', total, 'total')
  return next
}

const drawAccount: Draw = (pdf, { account, epcPayload, total, orderNumber, seller }, top) => {
  const { doc, tag, write, drawArtifact, drawFigure, drawQrCode } = pdf
  if (account.length === 0) return top
  const hasCode = epcPayload !== null
  const height = Math.max(36 * account.length + 40, hasCode ? QR_SIZE + 50 : 0)
  drawArtifact(() => doc.roundedRect(MARGIN, top, INNER_WIDTH, height, 8).fill(COLOURS.box))
  const left = MARGIN + BOX_PADDING
  const width = INNER_WIDTH - 2 * BOX_PADDING - (hasCode ? QR_SIZE + BOX_PADDING : 0)
  let next = top + BOX_PADDING - 4
  tag('H2', () => {
    next = write('Pay by bank transfer', left, next, { width, weight: 'bold', sizes: [12] }) + 4
  })
  for (const { label, value } of account) {
    tag('P', () => {
      next = write(label, left, next, { width, ...SMALL, sizes: [8.5] })
      next = write(value, left, next, { width, weight: 'bold', sizes: [11, 10, 9, 8, 7] }) + 6
    })
  }
  if (!hasCode) return top + height
  const qrLeft = RIGHT - BOX_PADDING - QR_SIZE
  const qrTop = top + BOX_PADDING
  const alt = `QR code for a transfer of ${total} to ${seller.name}, with the reference ${orderNumber}`
  drawFigure(alt, [qrLeft, qrTop, QR_SIZE, QR_SIZE], () => {
    // Its quiet zone is four modules wide (ISO/IEC 18004, section 9.1).
    doc.rect(qrLeft, qrTop, QR_SIZE, QR_SIZE).fill('#ffffff')
    drawQrCode(epcPayload, qrLeft + QUIET_ZONE, qrTop + QUIET_ZONE, QR_SIZE - 2 * QUIET_ZONE)
  })
  tag('P', () =>
    write('Scan with your banking app', qrLeft, qrTop + QR_SIZE + 6, {
      width: QR_SIZE,
      sizes: [9],
      colour: COLOURS.muted,
    }),
  )
  return top + height
}

const drawInstructions: Draw = ({ doc, tag, write }, { instructions }, top) => {
  let next = top
  for (const paragraph of instructions) {
    if (next > BOTTOM) {
      doc.addPage()
      next = MARGIN
    }
    tag('P', () => {
      next = write(paragraph, MARGIN, next, { width: INNER_WIDTH, sizes: [10], maxLines: 6 }) + 3
    })
  }
  return next
}

const drawFoot = (pdf: Pen, { seller }: PaymentRequest): void => {
  const { tag, write } = pdf
  drawLine(pdf, HEIGHT - 72)
  const texts = [
    'This is a request for payment, not an invoice for tax purposes. The trip’s own emissions are unchanged.',
    seller.contact === null ? null : `Questions? ${seller.contact}`,
  ]
  let next = HEIGHT - 62
  for (const text of texts.filter((text) => text !== null)) {
    tag('P', () => {
      next = write(text, MARGIN, next, { width: INNER_WIDTH, ...SMALL, maxLines: 2 })
    })
  }
}

export interface PaymentRequestTask {
  request: PaymentRequest
  /** CERTIFICATE_FONT */
  fontPath: string | undefined
}

/**
 * Draws a payment request on an A4 page; long instructions continue on others. Leaves out what the
 * fonts cannot show of the customer.
 */
export function drawPaymentRequest(task: PaymentRequestTask): Promise<Buffer> {
  const fonts = openCertificateFonts(task.fontPath)
  const isPrintable = (text: string): boolean => fonts.findMissingScripts(text).length === 0
  const request = { ...task.request, customer: task.request.customer.filter(isPrintable) }
  const pdf = createPen(
    createTaggedPdf(
      {
        Title: `${TITLE} ${request.orderNumber}`,
        Author: request.seller.name,
        CreationDate: new Date(request.orderedAt),
      },
      fonts,
    ),
  )
  let top = drawHead(pdf, request, 56)
  top = drawParties(pdf, request, top + 30)
  top = drawDates(pdf, request, top + 26)
  top = drawLines(pdf, request, top + 24)
  top = drawAccount(pdf, request, top + 24)
  drawInstructions(pdf, request, top + 18)
  drawFoot(pdf, request)
  return pdf.finish()
}
