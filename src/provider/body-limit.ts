import type { IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import { Problem } from '../http/problem.js'

/** The most that is relayed to the order source in one request. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024

const tooLarge = (): Problem => new Problem(413, 'The body is larger than this address takes.')

/** Throws 413 where a body is announced that is too large. */
export function checkContentLength(announced: string | undefined): void {
  if (Number(announced ?? 0) > MAX_BODY_BYTES) throw tooLarge()
}

/**
 * A request's body as it comes, which fails with 413 once there is too much of it, and when its
 * sender goes. Whoever is done with it early leaves the sender's connection alone.
 */
export function limitBody(body: IncomingMessage): Transform {
  let bytes = 0
  const limited = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > MAX_BODY_BYTES) done(tooLarge())
      else done(null, chunk)
    },
  })
  const lose = () => {
    if (!body.complete) limited.destroy(new Problem(400, 'The body has broken off.'))
  }
  // They stay: an error that nobody listens to any more would end the process.
  body.on('close', lose).on('error', lose)
  // Nor does anybody listen to a body that still waits for a connection to the order source.
  limited.on('error', () => undefined)
  // What is not wanted any more is read away, so that the answer can be read.
  limited.once('close', () => body.unpipe(limited).resume())
  return body.pipe(limited)
}
