import type { MailContent } from './mail-content.js'

interface Options {
  content: MailContent
  /** URL of the certificate or of the order's page */
  url: string
  orderUrl: string
  brandName: string
}

/** Writes the plain text of an email; its HTML is in templates/mail. */
export function formatMailText({ content, url, orderUrl, brandName }: Options): string {
  const { title, paragraphs, payment, link, receipt, total, details } = content
  const toLine = ({ label, value }: { label: string; value: string }) => `${label}: ${value}`
  const blocks = [
    [title],
    ...paragraphs.map((paragraph) => [paragraph]),
    payment === null
      ? []
      : [
          `How to pay ${payment.total}:`,
          ...payment.lines,
          toLine({ label: 'Payment reference', value: payment.reference }),
        ],
    [`${link}:`, url],
    url === orderUrl ? [] : ['Your order, with the PDF of the certificate:', orderUrl],
    [...receipt, { label: 'Total', value: total }].map(toLine),
    details.map(toLine),
    [
      'Anyone who has the link in this email can see the order. You received this email because your address was given for this order.',
    ],
    ['-- ', brandName],
  ]
  const texts = blocks.filter((lines) => lines.length > 0).map((lines) => lines.join('\n'))
  return `${texts.join('\n\n')}\n`
}
