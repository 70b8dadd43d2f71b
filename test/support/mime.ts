/** A part of a MIME message (RFC 2045) that has no parts itself. */
export interface MimePart {
  /** Such as text/html */
  type: string
  headers: Map<string, string>
  content: Buffer
}

/** Decodes encoded words (RFC 2047). */
const decodeWords = (text: string): string =>
  text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, encoding: string, word: string) =>
      encoding.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64').toString()
        : decodeQuotedPrintable(word.replaceAll('_', ' ')).toString(),
    )

const decodeQuotedPrintable = (text: string): Buffer =>
  Buffer.from(
    text
      .replace(/=\r\n/g, '')
      .replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    'latin1',
  )

function parseHeaders(text: string): Map<string, string> {
  const headers = new Map<string, string>()
  for (const line of text.replace(/\r\n[ \t]+/g, ' ').split('\r\n')) {
    const [, name = '', value = ''] = /^([^:]+): ?(.*)$/.exec(line) ?? []
    const key = name.toLowerCase()
    if (headers.has(key)) throw new Error(`two headers ${name}`)
    headers.set(key, decodeWords(value))
  }
  return headers
}

/** Parses a message into its headers and its leaves. Throws if a header is repeated. */
export function parseMime(raw: string): { headers: Map<string, string>; parts: MimePart[] } {
  const [head = ''] = raw.split('\r\n\r\n', 1)
  const body = raw.slice(head.length + 4)
  const headers = parseHeaders(head)
  const type = headers.get('content-type') ?? 'text/plain'
  const boundary = /boundary="?([^";]+)"?/.exec(type)?.[1]
  if (boundary !== undefined) {
    const inner = body.split(`--${boundary}`).slice(1, -1)
    const parts = inner.flatMap((part) => parseMime(part.replace(/^\r\n|\r\n$/g, '')).parts)
    return { headers, parts }
  }
  const encoding = headers.get('content-transfer-encoding')
  const content =
    encoding === 'base64'
      ? Buffer.from(body, 'base64')
      : encoding === 'quoted-printable'
        ? decodeQuotedPrintable(body)
        : Buffer.from(body)
  return { headers, parts: [{ type: type.split(';')[0] ?? '', headers, content }] }
}
