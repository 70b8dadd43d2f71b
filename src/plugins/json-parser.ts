import { isUtf8 } from 'node:buffer'
import fp from 'fastify-plugin'
import { Problem } from '../http/problem.js'

const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]+)/i

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** What a body of JSON is refused for although it is valid: it would reach into every object. */
const FORBIDDEN_KEY =
  'The body has a key that is not allowed: __proto__, or constructor with a prototype.'

/**
 * Reads JSON bodies, and only those. JSON is UTF-8 (RFC 8259, 8.1); another encoding would
 * silently turn a vessel's name into another, so it is refused.
 */
export default fp(
  async (app) => {
    const parse = app.getDefaultJsonParser('error', 'error')
    app.removeAllContentTypeParsers()
    app.addContentTypeParser<Buffer>(
      'application/json',
      { parseAs: 'buffer' },
      (request, body, done) => {
        const isDescribed = request.routeOptions.schema?.body !== undefined
        const coding = request.headers['content-encoding'] ?? 'identity'
        const charset = CHARSET.exec(request.headers['content-type'] ?? '')?.[1]
        if (coding !== 'identity') {
          done(new Problem(415, 'Bodies are taken as they are, without a content coding.'))
        } else if (charset !== undefined && !/^(utf-?8|us-ascii)$/i.test(charset)) {
          done(new Problem(415, 'JSON must be encoded in UTF-8.'))
        } else if (!isUtf8(body)) {
          done(new Problem(400, 'The body is not valid UTF-8.'))
        } else if (body.length === 0 && !isDescribed) {
          // Some clients announce JSON with every request, also where there is nothing to send.
          done(null)
        } else {
          const text = body.toString()
          void parse(request, text, (error: Error | null, value?: unknown) => {
            // The parser gives one error for both; what JSON.parse takes was refused for a key.
            const fault = error !== null && isJson(text) ? new Problem(400, FORBIDDEN_KEY) : error
            // Forms of pages describe no body: they read what may be there, and null is nothing.
            done(fault, value === null && !isDescribed ? undefined : value)
          })
        }
      },
    )
  },
  { name: 'json-body' },
)
