import { isUtf8 } from 'node:buffer'
import fp from 'fastify-plugin'
import { Problem } from './problem.js'

const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]+)/i

/**
 * Reads JSON bodies, and only those. JSON is UTF-8 (RFC 8259, 8.1): any other encoding would
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
        const coding = request.headers['content-encoding'] ?? 'identity'
        const charset = CHARSET.exec(request.headers['content-type'] ?? '')?.[1]
        if (coding !== 'identity') {
          done(new Problem(415, 'Bodies are taken as they are, without a content coding.'))
        } else if (charset !== undefined && !/^(utf-?8|us-ascii)$/i.test(charset)) {
          done(new Problem(415, 'JSON must be encoded in UTF-8.'))
        } else if (!isUtf8(body)) {
          done(new Problem(400, 'The body is not valid UTF-8.'))
        } else {
          void parse(request, body.toString(), done)
        }
      },
    )
  },
  { name: 'json-body' },
)
