import type { FastifyPluginAsync } from 'fastify'
import { Counter } from 'prom-client'
import { Problem } from '../core/http/problem.js'
import { StripeUnavailableError } from './stripe-error.js'

/** Enough for the events that are read. Anyone can send a part of a body, which is kept in memory. */
const MAX_BODY_BYTES = 64 * 1024

/** Receives Stripe webhooks. */
const routes: FastifyPluginAsync = async (app) => {
  const { service: payments } = app.payments
  const received = new Counter({
    name: 'clearwake_stripe_webhooks_total',
    help: 'Webhooks from Stripe, by outcome',
    labelNames: ['outcome'] as const,
    registers: [app.metrics],
  })
  // The signature covers the raw bytes.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )

  app.post<{ Body: Buffer | undefined }>(
    '/api/payments/stripe/webhook',
    {
      bodyLimit: MAX_BODY_BYTES,
      // Only Stripe calls this route.
      schema: { hide: true },
    },
    async (request, reply) => {
      if (payments === null) throw new Problem(404, 'Stripe payments are not enabled.')
      const { body, headers } = request
      const signature = headers['stripe-signature']
      const event =
        Buffer.isBuffer(body) && typeof signature === 'string'
          ? payments.readEvent(body, signature)
          : null
      if (event === null) {
        received.inc({ outcome: 'rejected' })
        throw new Problem(400, 'The signature is missing, wrong, too old or from the future.')
      }
      try {
        await payments.processEvent(event)
      } catch (error) {
        received.inc({ outcome: 'failed' })
        if (!(error instanceof StripeUnavailableError)) throw error
        request.log.warn({ event: event.id, type: event.type }, `Stripe: ${error.message}`)
        throw new Problem(503, 'Stripe is not responding. Send the event again later.', {
          headers: { 'retry-after': '60' },
        })
      }
      received.inc({ outcome: 'processed' })
      return reply.code(204).send()
    },
  )
}

export default routes
