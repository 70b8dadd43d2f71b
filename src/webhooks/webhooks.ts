import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { ConfigPart, Values } from '../core/config/config-part.js'
import { isPublic } from '../core/config/core-config.js'
import pages from './endpoint-pages.js'
import routes from './endpoint-routes.js'
import { createEndpoints, type Webhooks } from './endpoints.js'
import { eraseDeliveries } from './webhook-message.js'

declare module '../core/config/config.js' {
  interface Config extends Values<typeof variables> {}
}

const variables = {
  WEBHOOK_ALLOW_LOOPBACK: Type.Boolean({
    default: false,
    description: 'Permit webhooks to http://127.0.0.1 and http://localhost, for development',
  }),
}

const findErrors = (environment: NodeJS.ProcessEnv): string[] =>
  isPublic(environment) && environment.WEBHOOK_ALLOW_LOOPBACK === 'true'
    ? ['WEBHOOK_ALLOW_LOOPBACK must not be true unless HOST is a loopback address']
    : []

/** Webhooks. */
export const webhookConfig = { variables, findErrors } satisfies ConfigPart

declare module 'fastify' {
  interface FastifyInstance {
    /** Webhook endpoints of integrations, and their deliveries */
    webhooks: Webhooks
  }
}

const POLL_MS = 500

/** Webhooks about orders and QR codes. */
export default fp(
  async (app) => {
    const { database, config, log, metrics } = app
    const webhooks = createEndpoints({ database, config, log, metrics })
    app.decorate('webhooks', webhooks)
    app.events.addConsumer('webhooks', webhooks.consume, 'Webhooks')
    app.outbox.addSender(webhooks.sender)
    app.eraser.add({ eraseFormerCustomer: eraseDeliveries })
    app.onQrCode((code) => webhooks.qrCodes.add(code))
    app.schedule('queue webhooks of QR codes', POLL_MS, () => webhooks.qrCodes.flush())
    app.addHook('onReady', () => webhooks.encryptSecretsAgain())
    app.addHook('onClose', () => webhooks.close())
    await app.register(routes)
    app.portalPages.push(pages)
  },
  { name: 'webhooks', dependencies: ['events', 'erasure', 'qr-code', 'scheduler'] },
)
