import { finished, Readable } from 'node:stream'

/** Bytes up to which a body is read whole before any of it goes on. */
export const SHORT = 64 * 1024

/** A body that is there already. Whoever knows it takes its bytes, whoever does not can read it. */
export class WholeBody extends Readable {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    super()
    this.bytes = bytes
  }

  override _read(): void {
    this.push(this.bytes)
    this.push(null)
  }
}

/** Reads a body whole, also one that has broken off already; its bytes come without an error. */
export function readWhole(
  body: Readable,
  done: (error: Error | null | undefined, bytes: Buffer) => void,
): void {
  const parts: Buffer[] = []
  body.on('data', (part: Buffer) => parts.push(part))
  finished(body, (error) => {
    done(error, Buffer.concat(parts))
  })
}
