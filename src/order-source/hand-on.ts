import { finished, pipeline, type Readable, type Transform } from 'node:stream'

/** Bytes up to which an answer is read whole before any of it goes out. */
const SHORT = 64 * 1024

/** As much of a Fastify reply, of any server, as it takes. */
interface Answer {
  request: { method: string }
  getHeader(name: string): unknown
  send(payload: unknown): unknown
}

/**
 * Hands on the body of an answer whose head is set: a short one once it is there, so that one which
 * breaks off becomes an error and not half an answer; any other as it comes.
 *
 * @param cover what the body goes through on its way
 */
export function handOn(reply: Answer, given: Readable, cover: Transform): void {
  // Whoever reads what comes out is told of an error, too.
  const body = pipeline(given, cover, () => undefined)
  const length = Number(reply.getHeader('content-length') ?? Infinity)
  if (length > SHORT || reply.request.method === 'HEAD') {
    reply.send(body)
    return
  }
  const parts: Buffer[] = []
  body
    .on('data', (part: Buffer) => parts.push(part))
    .once('end', () => reply.send(Buffer.concat(parts)))
    .once('error', (error) => reply.send(error))
}

/** How long a body is read that is not wanted, ms. */
const MOST_READING_MS = 1_000

/** Sends something else in the place of a body, once that is read away, or too long or slow for it. */
export function replace(reply: Answer, body: Readable, other: Error): void {
  const timer = setTimeout(() => body.destroy(), MOST_READING_MS)
  let bytes = 0
  body.on('data', (part: Buffer) => {
    bytes += part.length
    if (bytes > SHORT) body.destroy()
  })
  finished(body, () => {
    clearTimeout(timer)
    reply.send(other)
  })
}
