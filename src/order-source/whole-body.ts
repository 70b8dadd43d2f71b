import { finished, Readable } from 'node:stream'

/** Bytes up to which a body is read whole before any of it goes on. */
export const SHORT = 64 * 1024

/** How long a body is read that may not be wanted, ms. */
export const MOST_READING_MS = 1_000

/**
 * A body that has been read already. Whoever knows it takes its bytes, whoever does not can read it;
 * one that broke off breaks off again.
 */
export class WholeBody extends Readable {
  readonly bytes: Buffer
  readonly error: Error | null

  constructor(bytes: Buffer, error: Error | null) {
    super()
    this.bytes = bytes
    this.error = error
  }

  override _read(): void {
    if (this.error !== null) {
      this.destroy(this.error)
      return
    }
    this.push(this.bytes)
    this.push(null)
  }
}

/** Reads a body whole, also one that has broken off already; its bytes come without an error. */
export function readWhole(
  body: Readable,
  done: (error: Error | null, bytes: Buffer) => void,
): void {
  const parts: Buffer[] = []
  body.on('data', (part: Buffer) => parts.push(part))
  finished(body, (error) => {
    done(error ?? null, Buffer.concat(parts))
  })
}
