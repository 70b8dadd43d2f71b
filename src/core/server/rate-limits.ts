import rateLimit from '@fastify/rate-limit'
import fp from 'fastify-plugin'
import { getClientAddress, normalizeForwardedFor } from '../http/client-address.js'
import { Problem } from '../http/problem.js'

/**
 * Limits the requests per client per minute. More expensive routes have their own limit
 * (`config.rateLimit`).
 */
export default fp(
  async (app) => {
    // Fastify takes any text in this header for the address of the client.
    app.addHook('onRequest', ({ raw: { headers } }, _reply, done) => {
      const forwardedFor = headers['x-forwarded-for']
      if (forwardedFor !== undefined) {
        headers['x-forwarded-for'] = normalizeForwardedFor(String(forwardedFor))
      }
      done()
    })
    await app.register(rateLimit, {
      global: true,
      max: app.config.RATE_LIMIT_PER_MINUTE,
      timeWindow: '1 minute',
      keyGenerator: getClientAddress,
      errorResponseBuilder: (_request, { after }) =>
        new Problem(429, `Too many requests from your address. Try again in ${after}.`),
    })
  },
  { name: 'rate-limits', dependencies: ['config'] },
)
