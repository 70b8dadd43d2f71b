import { finished, pipeline } from 'node:stream'
import { isBodiless } from './answer.js'
import type { TokenCover } from './token-cover.js'
import { MOST_READING_MS, readWhole, SHORT, WholeBody, type Body } from './whole-body.js'

/** As much of a Fastify reply, of any server, as it takes. */
interface Answer {
  request: { method: string }
  statusCode: number
  getHeader(name: string): unknown
  send(payload: unknown): unknown
}

/**
 * Hands on the body of an answer whose head is set: a short one once it is there, so that one which
 * breaks off becomes an error and not half an answer; any other as it comes.
 */
export function handOn(reply: Answer, body: Body, cover: TokenCover): void {
  if (isBodiless(reply)) {
    reply.send(undefined)
    return
  }
  if (body instanceof WholeBody) {
    reply.send(body.error ?? cover.overBytes(body.bytes))
    return
  }
  const length = Number(reply.getHeader('content-length') ?? Infinity)
  if (length > SHORT || reply.request.method === 'HEAD') {
    // Whoever reads what comes out is told of an error, too.
    reply.send(pipeline(body, cover.stream(), () => undefined))
    return
  }
  readWhole(body, (error, bytes) => reply.send(error ?? cover.overBytes(bytes)))
}

/** Sends something else in the place of a body, once that is read away, or too long or slow for it. */
export function replace(reply: Answer, body: Body, other: Error): void {
  if (body instanceof WholeBody) {
    reply.send(other)
    return
  }
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
