import fp from 'fastify-plugin'
import { Problem } from '../http/problem.js'

const isHost = (name: string, index: number): boolean =>
  index % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host'

/**
 * Rejects requests with more than one Host header (RFC 9112, section 3.2). Node rejects requests
 * without a Host header, but accepts several and keeps only the first.
 */
export default fp(
  async (app) => {
    app.addHook('onRequest', (request, _reply, done) => {
      if (request.raw.rawHeaders.filter(isHost).length > 1) {
        done(new Problem(400, 'The request has more than one Host header.'))
      } else done()
    })
  },
  { name: 'host-header' },
)
