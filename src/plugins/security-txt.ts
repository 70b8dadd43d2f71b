import fp from 'fastify-plugin'
import { Problem } from '../http/problem.js'

/** RFC 9116 recommends less than a year. */
const EXPIRES_MS = 180 * 24 * 60 * 60 * 1000

const toUri = (contact: string): string =>
  /^(?:https|mailto):/i.test(contact) ? contact : `mailto:${contact}`

/** `/.well-known/security.txt` (RFC 9116): where to report vulnerabilities of this service. */
export default fp(
  async (app) => {
    const { SECURITY_CONTACT: contact } = app.config

    app.get('/.well-known/security.txt', async (_request, reply) => {
      if (contact === undefined) throw new Problem(404, 'Page not found.')
      // A cached file would expire before its date.
      const expires = new Date(Date.now() + EXPIRES_MS).toISOString()
      return reply
        .type('text/plain; charset=utf-8')
        .send(
          `Contact: ${toUri(contact)}\nExpires: ${expires}\nPreferred-Languages: en\n` +
            `Canonical: ${app.publicBaseUrl()}/.well-known/security.txt\n`,
        )
    })
  },
  { name: 'security-txt', dependencies: ['config', 'error-handler'] },
)
