import { Transform, type TransformCallback } from 'node:stream'

/** An escaped ASCII character in JSON, a URL or HTML. */
const ESCAPE =
  /\\u00([0-9a-f]{2})|%([0-9a-f]{2})|&#x0{0,6}([0-9a-f]{2});?|&#0{0,6}(\d{2,3});?|\\([\\/"])|&(amp|lt|gt|quot|apos|sol|plus|equals|lowbar|period);/gi

/** The start of an escaped character, at the end of a text. */
const INCOMPLETE_ESCAPE = /(?:\\{1,8}(?:u[0-9a-f]{0,3})?|%[0-9a-f]?|&[#\w]{0,10})$/i

const ENTITIES: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  sol: '/',
  plus: '+',
  equals: '=',
  lowbar: '_',
  period: '.',
}

/** Escapes within escapes, such as JSON in JSON in a URL */
const MAX_DEPTH = 3

/** Shorter parts of Base64 could match by chance. */
const MIN_BASE64_LENGTH = 8

function decode(text: string): string {
  return text.replace(
    ESCAPE,
    (_, json?: string, url?: string, hex?: string, decimal?: string, plain?: string, name = '') => {
      const digits = json ?? url ?? hex
      if (digits !== undefined) return String.fromCharCode(parseInt(digits, 16))
      if (decimal !== undefined) return String.fromCharCode(Number(decimal))
      return plain ?? ENTITIES[String(name).toLowerCase()] ?? ''
    },
  )
}

/** The characters of Base64 that a token determines, wherever it starts in what is encoded. */
function getBase64Parts(token: string): string[] {
  const parts = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(token)])
    const start = Math.ceil((before * 8) / 6)
    return bytes.toString('base64').slice(start, Math.floor((bytes.length * 8) / 6))
  })
  return parts
    .filter(({ length }) => length >= MIN_BASE64_LENGTH)
    .flatMap((part) => [part, part.replaceAll('+', '-').replaceAll('/', '_')])
}

/** Length of the longest suffix of a text that is a prefix of another, but not all of it. */
function getPartialLength(text: string, whole: string): number {
  for (let length = Math.min(text.length, whole.length - 1); length > 0; length--) {
    if (text.endsWith(whole.slice(0, length))) return length
  }
  return 0
}

/** The index in a text of the character at an index of its decoded text. */
function toSourceIndex(text: string, index: number): number {
  let shift = 0
  for (const match of text.matchAll(ESCAPE)) {
    if (match.index - shift >= index) break
    shift += match[0].length - 1
  }
  return index + shift
}

/**
 * Replaces each character of the API token with an asterisk in everything that the provider
 * returns: the token as it is, in Base64, and with any of its characters escaped. The length does
 * not change, so Content-Length stays correct.
 */
export function createSecretRedactor(token: string) {
  const spellings = [...new Set([token, ...getBase64Parts(token)])]
  /** Longer than a token in which every character is escaped twice */
  const maxPendingBytes = Math.max(...spellings.map(({ length }) => length)) * 40

  function redact(text: string, depth = 0): string {
    const plain = spellings.reduce(
      (redacted, spelling) => redacted.replaceAll(spelling, '*'.repeat(spelling.length)),
      text,
    )
    const decoded = depth === MAX_DEPTH ? plain : decode(plain)
    // An escape is longer than its character.
    if (decoded.length === plain.length) return plain
    const redacted = redact(decoded, depth + 1)
    return redacted === decoded ? plain : encodeAgain(plain, decoded, redacted)
  }

  /** Copies what was redacted in a decoded text to its source. */
  function encodeAgain(source: string, decoded: string, redacted: string): string {
    let result = ''
    let end = 0
    for (const { index, 0: escape } of source.matchAll(ESCAPE)) {
      const at = index - result.length + end
      const isRedacted = redacted[at] !== decoded[at]
      result += redacted.slice(end, at) + (isRedacted ? '*'.repeat(escape.length) : escape)
      end = at + 1
    }
    return result + redacted.slice(end)
  }

  /** The index at which a token may start that continues in the next chunk; otherwise the end. */
  function findPending(text: string, depth = 0): number {
    const complete = text.replace(INCOMPLETE_ESCAPE, '')
    const partial = spellings.map((spelling) => getPartialLength(complete, spelling))
    const start = complete.length - Math.max(...partial)
    const decoded = depth === MAX_DEPTH ? complete : decode(complete)
    return decoded.length === complete.length
      ? start
      : Math.min(start, toSourceIndex(complete, findPending(decoded, depth + 1)))
  }

  /** Overwrites the token in place. */
  function redactBytes(bytes: Buffer): Buffer {
    const text = bytes.toString('latin1')
    const redacted = redact(text)
    if (redacted !== text) bytes.write(redacted, 'latin1')
    return bytes
  }

  /** Returns a stream that redacts the token, even if it is split between chunks. */
  function createStream(): Transform {
    let pending: Buffer = Buffer.alloc(0)
    return new Transform({
      transform(chunk: Buffer, _encoding, done: TransformCallback) {
        const bytes = redactBytes(pending.length === 0 ? chunk : Buffer.concat([pending, chunk]))
        const tail = bytes.subarray(-maxPendingBytes).toString('latin1')
        const end = bytes.length - tail.length + findPending(tail)
        pending = bytes.subarray(end)
        done(null, bytes.subarray(0, end))
      },
      flush(done) {
        done(null, pending)
      },
    })
  }

  return {
    isIn: (text: string): boolean => redact(text) !== text,
    redactText: (text: string): string => redact(text),
    redactBytes,
    createStream,
  }
}

export type SecretRedactor = ReturnType<typeof createSecretRedactor>
