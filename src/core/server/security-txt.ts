import fp from 'fastify-plugin'
import { toContactUrl } from '../config/core-config.js'
import { Problem } from '../http/problem.js'

/** RFC 9116 recommends less than a year. */
const EXPIRES_MS = 180 * 24 * 60 * 60 * 1000

/** `/.well-known/security.txt` (RFC 9116): where to report vulnerabilities of this service. */
export default fp(
  async (app) => {
    const { SECURITY_CONTACT: contact } = app.config

    app.get('/.well-known/security.txt', async (_request, reply) => {
      if (contact === undefined) throw new Problem(404, 'Page not found.')
      const expires = new Date(Date.now() + EXPIRES_MS).toISOString()
      return reply
        .type('text/plain; charset=utf-8')
        .send(`Contact: ${toContactUrl(contact)}\nExpires: ${expires}\n`)
    })
  },
  { name: 'security-txt', dependencies: ['config', 'error-handler'] },
)
