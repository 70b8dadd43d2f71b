import { finished, pipeline } from 'node:stream'
import { isBodiless } from './upstream-response.js'
import type { SecretRedactor } from './secret-redactor.js'
import {
  MAX_READ_MS,
  bufferBody,
  MAX_BUFFERED_BYTES,
  BufferedBody,
  type Body,
} from './buffered-body.js'

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
export function sendUpstreamBody(reply: Answer, body: Body, cover: SecretRedactor): void {
  if (isBodiless(reply)) {
    reply.send(undefined)
    return
  }
  if (body instanceof BufferedBody) {
    reply.send(body.error ?? cover.overBytes(body.bytes))
    return
  }
  const length = Number(reply.getHeader('content-length') ?? Infinity)
  if (length > MAX_BUFFERED_BYTES || reply.request.method === 'HEAD') {
    // Whoever reads what comes out is told of an error, too.
    reply.send(pipeline(body, cover.stream(), () => undefined))
    return
  }
  bufferBody(body, (error, bytes) => reply.send(error ?? cover.overBytes(bytes)))
}

/** Sends something else in the place of a body, once that is read away, or too long or slow for it. */
export function replaceBody(reply: Answer, body: Body, other: Error): void {
  if (body instanceof BufferedBody) {
    reply.send(other)
    return
  }
  const timer = setTimeout(() => body.destroy(), MAX_READ_MS)
  let bytes = 0
  body.on('data', (part: Buffer) => {
    bytes += part.length
    if (bytes > MAX_BUFFERED_BYTES) body.destroy()
  })
  finished(body, () => {
    clearTimeout(timer)
    reply.send(other)
  })
}
