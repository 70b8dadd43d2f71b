import Fastify, { type FastifyInstance } from 'fastify'
import administrator from './administrator/administrator.js'
import calculator from './calculator/calculator.js'
import dashboard from './dashboard/dashboard.js'
import { offsetOrderSource } from './order-source/order-source.js'
import { arePortfoliosPublic } from './order-source/public-routes.js'
import relay from './order-source/relay.js'
import { openUpstream } from './order-source/upstream.js'
import orderExport from './orders/export/export.js'
import { openOrderStore } from './orders/open-order-store.js'
import orders from './orders/orders.js'
import { validators } from './orders/vocabulary.js'
import accounts, { type FirstAdministrator } from './plugins/accounts.js'
import apiDocs from './plugins/api-docs.js'
import assets from './plugins/assets.js'
import closedArea from './plugins/closed-area.js'
import compression from './plugins/compression.js'
import config from './plugins/config.js'
import errors from './plugins/errors.js'
import gracefulClose from './plugins/graceful-close.js'
import hypermedia from './plugins/hypermedia.js'
import jsonBody from './plugins/json-body.js'
import loadShedding from './plugins/load-shedding.js'
import messages from './plugins/messages.js'
import rateLimits from './plugins/rate-limits.js'
import security from './plugins/security.js'
import session from './plugins/session.js'
import sharedMemory from './plugins/shared-memory.js'
import telemetry from './plugins/telemetry.js'
import validation from './plugins/validation.js'
import { linkSigner } from './qr-code/link-signature.js'
import { prefillLinks } from './qr-code/prefill-link.js'
import { prefillReader } from './qr-code/prefill-reader.js'
import qrCode from './qr-code/qr-code.js'
import { serverOptions, type LogStream } from './server-options.js'

interface Options {
  /** All configuration, by the names of `.env.example` */
  environment: NodeJS.ProcessEnv
  logStream?: LogStream
  /** Is told of an administrator that this start makes, as soon as it is kept */
  showFirstAdministrator?: (made: FirstAdministrator) => void
}

/**
 * The whole service, put together and ready to listen: what every feature stands on, then the
 * features. Throws ConfigError where the environment does not do.
 */
export async function buildApp({
  environment,
  logStream,
  showFirstAdministrator,
}: Options): Promise<FastifyInstance> {
  const app: FastifyInstance = Fastify(serverOptions(environment, logStream))

  await app.register(config, { environment })
  await app.register(gracefulClose)
  await app.register(security)
  await app.register(loadShedding) // before whatever costs more than a refusal
  await app.register(assets) // before the limits: assets are not counted
  await app.register(hypermedia)
  await app.register(rateLimits)
  await app.register(errors)
  await app.register(telemetry)
  await app.register(compression)
  await app.register(jsonBody)
  await app.register(validation, { validators })
  await app.register(accounts, { showFirstAdministrator })
  await app.register(sharedMemory)
  await app.register(session)
  await app.register(messages)
  await app.register(closedArea) // before every feature: what it adds under /admin is closed
  await app.register(apiDocs)

  await app.register(administrator)

  const upstream = openUpstream(app.config, app.metrics)
  app.addHook('onClose', () => upstream?.close())
  await app.register(relay, { upstream })

  const links = prefillLinks(linkSigner(app.config.sessionSecrets), app.publicBaseUrl)
  await app.register(calculator, {
    readPrefill: prefillReader(links, app.config.TIME_ZONE),
    hasPortfolios: upstream !== null && arePortfoliosPublic(app.config),
  })
  await app.register(qrCode, { links })

  const book = openOrderStore(app.config, app.log)
  app.addHook('onClose', () => book.close())
  await app.register(orderExport, { book, timeZone: app.config.TIME_ZONE })
  await app.register(orders, { book, source: upstream && offsetOrderSource(upstream) })
  await app.register(dashboard, { book })

  return app
}
