import { Transform, type TransformCallback } from 'node:stream'

/** A slash as JSON serialisers write it, plain or escaped, even in JSON within JSON. */
const SLASHES = ['/', '\\/', '\\\\/', '\\\\\\/']

const escapeJson = (text: string): string => JSON.stringify(text).slice(1, -1)

/** The token as a response can contain it: plain, in JSON, in JSON within JSON, and in a URL. */
const getSpellings = (token: string): string[] => [
  ...new Set([
    ...SLASHES.map((slash) => token.replaceAll('/', slash)),
    escapeJson(token),
    escapeJson(escapeJson(token)),
    encodeURIComponent(token),
  ]),
]

/** Length of the longest suffix of `bytes` that is a prefix of `spelling`. */
function getPartialLength(bytes: Buffer, spelling: Buffer): number {
  for (let length = Math.min(bytes.length, spelling.length - 1); length > 0; length--) {
    if (bytes.subarray(-length).equals(spelling.subarray(0, length))) return length
  }
  return 0
}

/**
 * Replaces each character of the API token with an asterisk in everything that the provider
 * returns. The length does not change, so Content-Length stays correct.
 */
export function createSecretRedactor(token: string) {
  const spellings = getSpellings(token)
  const patterns = spellings.map((spelling) => Buffer.from(spelling))

  /** Overwrites the token in place. */
  function redactBytes(bytes: Buffer): Buffer {
    for (const pattern of patterns) {
      for (let start = bytes.indexOf(pattern); start >= 0; start = bytes.indexOf(pattern, start)) {
        const end = start + pattern.length
        bytes.fill('*', start, end)
        start = end
      }
    }
    return bytes
  }

  /** Returns a stream that redacts the token, even if it is split between chunks. */
  function createStream(): Transform {
    let pending: Buffer = Buffer.alloc(0)
    return new Transform({
      transform(chunk: Buffer, _encoding, done: TransformCallback) {
        const bytes = redactBytes(pending.length === 0 ? chunk : Buffer.concat([pending, chunk]))
        const partial = patterns.map((pattern) => getPartialLength(bytes, pattern))
        const end = bytes.length - Math.max(...partial)
        pending = bytes.subarray(end)
        done(null, bytes.subarray(0, end))
      },
      flush(done) {
        done(null, pending)
      },
    })
  }

  return {
    isIn: (text: string): boolean => spellings.some((spelling) => text.includes(spelling)),
    redactText: (text: string): string =>
      spellings.reduce(
        (redacted, spelling) => redacted.replaceAll(spelling, '*'.repeat(spelling.length)),
        text,
      ),
    redactBytes,
    createStream,
  }
}

export type SecretRedactor = ReturnType<typeof createSecretRedactor>
