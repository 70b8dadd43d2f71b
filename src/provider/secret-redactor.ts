import { Transform, type TransformCallback } from 'node:stream'

/** Some escape slashes in JSON; JSON within JSON has their backslashes escaped, too. */
const SLASHES = ['/', '\\/', '\\\\/', '\\\\\\/']

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

/** A token as it may be quoted: in plain text, in JSON, in JSON within JSON, and in an address. */
const spellingsOf = (token: string): string[] => [
  ...new Set([
    ...SLASHES.map((slash) => token.replaceAll('/', slash)),
    inJson(token),
    inJson(inJson(token)),
    encodeURIComponent(token),
  ]),
]

/** A token may be quoted in what the order source answers; nobody here gets to see it. */
export interface SecretRedactor {
  /** Whether a text quotes the token */
  isIn(text: string): boolean
  /** A text with asterisks over the token, as long as it was */
  over(text: string): string
  /** The same for all bytes of something, in their place */
  overBytes(bytes: Buffer): Buffer
  /** The same for bytes as they come; what could be the beginning of a token waits for the rest. */
  stream(): Transform
}

/** How many bytes at the end of some could be the beginning of a spelling. */
function begunAtEnd(bytes: Buffer, spelling: Buffer): number {
  for (let length = Math.min(bytes.length, spelling.length - 1); length > 0; length--) {
    if (bytes.subarray(-length).equals(spelling.subarray(0, length))) return length
  }
  return 0
}

function coverBytes(bytes: Buffer, spelling: Buffer): void {
  for (let at = bytes.indexOf(spelling); at >= 0; at = bytes.indexOf(spelling, at)) {
    bytes.fill('*', at, at + spelling.length)
    at += spelling.length
  }
}

/** Keeps the token that the order source is called with out of what it answers. */
export function createSecretRedactor(token: string): SecretRedactor {
  const spellings = spellingsOf(token)
  const inBytes = spellings.map((spelling) => Buffer.from(spelling))

  function overBytes(bytes: Buffer): Buffer {
    for (const spelling of inBytes) coverBytes(bytes, spelling)
    return bytes
  }

  function stream(): Transform {
    let held: Buffer = Buffer.alloc(0)
    return new Transform({
      transform(chunk: Buffer, _encoding, done: TransformCallback) {
        const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
        overBytes(bytes)
        const begun = inBytes.map((spelling) => begunAtEnd(bytes, spelling))
        const end = bytes.length - Math.max(...begun)
        held = bytes.subarray(end)
        done(null, bytes.subarray(0, end))
      },
      flush(done) {
        done(null, held)
      },
    })
  }

  return {
    isIn: (text) => spellings.some((spelling) => text.includes(spelling)),
    over: (text) =>
      spellings.reduce(
        (covered, spelling) => covered.replaceAll(spelling, '*'.repeat(spelling.length)),
        text,
      ),
    overBytes,
    stream,
  }
}
