import { finished, type Readable } from 'node:stream'

/** Bytes up to which a body is read whole before any of it goes on. */
export const MAX_BUFFERED_BYTES = 64 * 1024

/** How long a body is read that may not be wanted, ms. */
export const MAX_READ_MS = 1_000

/** A body that has been read already, or has broken off; being no stream, it costs next to nothing. */
export class BufferedBody {
  readonly bytes: Buffer
  readonly error: Error | null

  constructor(bytes: Buffer, error: Error | null) {
    this.bytes = bytes
    this.error = error
  }

  /** The relay destroys the bodies that nobody waits for any more. */
  destroy(): void {
    // Nothing is left to be given up.
  }
}

export type Body = Readable | BufferedBody

/** Reads a body whole, also one that has broken off already; its bytes come without an error. */
export function bufferBody(
  body: Readable,
  done: (error: Error | null, bytes: Buffer) => void,
): void {
  const parts: Buffer[] = []
  body.on('data', (part: Buffer) => parts.push(part))
  finished(body, (error) => {
    done(error ?? null, Buffer.concat(parts))
  })
}
