import compress from '@fastify/compress'
import Fastify, { LogController, type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { constants } from 'node:zlib'
import calculatorPages from './calculator/pages.js'
import calculatorRoutes from './calculator/routes.js'
import apiDocs from './plugins/api-docs.js'
import assets from './plugins/assets.js'
import config, { trustProxy } from './plugins/config.js'
import errors, { divertUndecodable } from './plugins/errors.js'
import gracefulClose from './plugins/graceful-close.js'
import hypermedia from './plugins/hypermedia.js'
import rateLimits from './plugins/rate-limits.js'
import security from './plugins/security.js'
import session from './plugins/session.js'
import telemetry, { genReqId, loggerOptions } from './plugins/telemetry.js'
import validation from './plugins/validation.js'
import { linkSigner } from './qr-code/link-signature.js'
import { prefillLinks, type PrefillLinks } from './qr-code/prefill-link.js'
import qrCode from './qr-code/qr-code.js'

declare module 'fastify' {
  interface FastifyInstance {
    prefillLinks: PrefillLinks
  }
}

interface Options {
  /** All configuration, by the names of `.env.example` */
  environment: NodeJS.ProcessEnv
  /** Where log entries go; standard output by default */
  logStream?: NonNullable<Exclude<FastifyServerOptions['logger'], boolean>>['stream']
}

/** A guest whose link is 100 kB long gets a page that says so, which takes a header this large. */
const MAX_HEADER_BYTES = 160 * 1024

/**
 * The whole service, put together and ready to listen: what every feature stands on, then the
 * features. Throws ConfigError where the environment does not do.
 */
export async function buildApp({ environment, logStream }: Options): Promise<FastifyInstance> {
  const app = Fastify({
    logger: { ...loggerOptions, ...(logStream ? { stream: logStream } : {}) },
    logController: new LogController({ disableRequestLogging: true }),
    genReqId,
    trustProxy: trustProxy(environment.TRUST_PROXY),
    http: { maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: 20_000 },
    requestTimeout: 30_000,
    return503OnClosing: false,
    rewriteUrl: divertUndecodable,
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
  })

  // JSON and forms are all we take; text would be refused as wrong JSON, not as no JSON.
  app.removeContentTypeParser('text/plain')
  await app.register(config, { environment })
  app.log.level = app.config.LOG_LEVEL
  await app.register(assets)
  await app.register(hypermedia)
  await app.register(rateLimits)
  await app.register(errors)
  await app.register(security)
  await app.register(telemetry)
  await app.register(gracefulClose)
  await app.register(compress, {
    encodings: ['br', 'gzip'],
    // Flushing at every write lets a page's first part out before the rest is there.
    brotliOptions: {
      flush: constants.BROTLI_OPERATION_FLUSH,
      params: { [constants.BROTLI_PARAM_QUALITY]: 4 },
    },
    zlibOptions: { flush: constants.Z_SYNC_FLUSH },
  })
  await app.register(validation)
  await app.register(session)
  await app.register(apiDocs)

  const signer = linkSigner(app.config.sessionSecrets)
  const links = prefillLinks(signer, app.publicBaseUrl)
  app.decorate('prefillLinks', links)
  await app.register(calculatorRoutes)
  await app.register(calculatorPages, { readPrefill: links.read })
  await app.register(qrCode, { links })

  return app
}
