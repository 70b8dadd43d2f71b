import rateLimit from '@fastify/rate-limit'
import fp from 'fastify-plugin'
import { getClientAddress } from '../http/client-address.js'
import { Problem } from '../http/problem.js'
import { RequestCounts } from '../http/rate-limit-store.js'

/**
 * Bounds how many requests one client makes a minute. Routes that cost more name a bound of
 * their own (`config.rateLimit`).
 */
export default fp(
  async (app) => {
    await app.register(rateLimit, {
      global: true,
      max: app.config.RATE_LIMIT_PER_MINUTE,
      timeWindow: '1 minute',
      keyGenerator: getClientAddress,
      store: RequestCounts,
      errorResponseBuilder: (_request, { after }) =>
        new Problem(429, `Too many requests from your address: try again in ${after}.`),
    })
  },
  { name: 'rate-limits', dependencies: ['config'] },
)
