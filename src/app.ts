import Fastify, { type FastifyInstance } from 'fastify'
import administrator from './accounts/accounts.js'
import calculator from './calculator/calculator.js'
import dashboard from './portal/dashboard/dashboard.js'
import { createOffsetOrderSource } from './provider/offset-order-source.js'
import { arePortfoliosPublic } from './provider/public-routes.js'
import relay from './provider/proxy.js'
import { openUpstream } from './provider/upstream.js'
import orderExport from './orders/export/export.js'
import { openOrderStore } from './order-store/open-order-store.js'
import orders from './orders/orders.js'
import { validators } from './orders/validators.js'
import accounts, { type FirstAdministrator } from './plugins/accounts.js'
import apiDocs from './plugins/api-docs.js'
import assets from './plugins/assets.js'
import closedArea from './plugins/auth-guard.js'
import compression from './plugins/compression.js'
import config from './config/config.js'
import errors from './plugins/error-handler.js'
import gracefulClose from './plugins/graceful-shutdown.js'
import hypermedia from './plugins/htmx.js'
import jsonBody from './plugins/json-parser.js'
import loadShedding from './plugins/load-shedding.js'
import messages from './plugins/flash.js'
import rateLimits from './plugins/rate-limits.js'
import security from './plugins/security-headers.js'
import session from './plugins/session.js'
import sharedMemory from './plugins/state-store.js'
import telemetry from './plugins/telemetry.js'
import validation from './plugins/validation.js'
import { createLinkSigner } from './qr-code/link-signature.js'
import { createPrefillLinks } from './qr-code/prefill-link.js'
import { createPrefillReader } from './qr-code/prefill-reader.js'
import qrCode from './qr-code/qr-code.js'
import { serverOptions, type LogStream } from './http/server-options.js'

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

  const links = createPrefillLinks(createLinkSigner(app.config.sessionSecrets), app.publicBaseUrl)
  await app.register(calculator, {
    readPrefill: createPrefillReader(links, app.config.TIME_ZONE),
    hasPortfolios: upstream !== null && arePortfoliosPublic(app.config),
  })
  await app.register(qrCode, { links })

  const book = openOrderStore(app.config, app.log)
  app.addHook('onClose', () => book.close())
  await app.register(orderExport, { book, timeZone: app.config.TIME_ZONE })
  await app.register(orders, { book, source: upstream && createOffsetOrderSource(upstream) })
  await app.register(dashboard, { book })

  return app
}
