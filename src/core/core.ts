import type { Server } from 'node:http'
import { constants } from 'node:zlib'
import compress, { type FastifyCompressOptions } from '@fastify/compress'
import {
  LogController,
  type FastifyHttpOptions,
  type FastifyServerOptions,
  type onRequestHookHandler,
} from 'fastify'
import fp from 'fastify-plugin'
import type { ConfigPart } from './config/config-part.js'
import config from './config/config.js'
import brand from './html/brand.js'
import staticFiles from './html/static-files.js'
import views from './html/views.js'
import { parseTrustProxy } from './http/client-address.js'
import { Problem } from './http/problem.js'
import { normalizeUrl } from './http/request-path.js'
import errorHandler, { handleClientError } from './server/error-handler.js'
import gracefulShutdown from './server/graceful-shutdown.js'
import health from './server/health.js'
import loadShedding from './server/load-shedding.js'
import rateLimits from './server/rate-limits.js'
import scheduler from './server/scheduler.js'
import securityHeaders from './server/security-headers.js'
import telemetry, { genReqId, loggerOptions } from './server/telemetry.js'
import validation from './server/validation.js'
import type { Validators } from './validation/field-errors.js'

/** Destination of the log; standard output by default. */
export type LogStream = NonNullable<Exclude<FastifyServerOptions['logger'], boolean>>['stream']

/**
 * Enough for the longest scanned link, which is also sent as HX-Current-URL and Referer. Unfinished
 * headers are kept in memory.
 */
const MAX_HEADER_BYTES = 32 * 1024

/** Further connections are closed at once. */
export const MAX_CONNECTIONS = 10_000

/** Fastify options, which must be known before any plugin is registered. */
export const serverOptions = (environment: NodeJS.ProcessEnv, logStream?: LogStream) =>
  ({
    logger: { ...loggerOptions, ...(logStream ? { stream: logStream } : {}) },
    // The telemetry plugin writes one entry per request instead of two.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId,
    trustProxy: parseTrustProxy(environment.TRUST_PROXY),
    rewriteUrl: normalizeUrl,
    clientErrorHandler: handleClientError,
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: 20_000,
      // How often connections are checked for the time-outs
      connectionsCheckingInterval: 5_000,
    },
    requestTimeout: 30_000,
    // After an upgrade or a change of TIME_ZONE, a start reads all orders, which can take minutes.
    pluginTimeout: 0,
    // Requests on open connections are served during shutdown.
    return503OnClosing: false,
  }) satisfies FastifyHttpOptions<Server>

interface Options {
  /** Environment variables, as listed in `.env.example` */
  environment: NodeJS.ProcessEnv
  /** The variables of the features */
  configParts: readonly ConfigPart[]
  validators: Validators
}

export const COMPRESSION: FastifyCompressOptions = {
  globalDecompression: false,
  encodings: ['br', 'gzip'],
  // Flush every write, so that the first part of a streamed page is sent immediately.
  brotliOptions: {
    flush: constants.BROTLI_OPERATION_FLUSH,
    params: { [constants.BROTLI_PARAM_QUALITY]: 4 },
  },
  zlibOptions: { flush: constants.Z_SYNC_FLUSH },
}

const isHost = (name: string, index: number): boolean =>
  index % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host'

/**
 * Rejects requests with more than one Host header (RFC 9112, section 3.2). Node rejects requests
 * without a Host header, but accepts several and keeps only the first.
 */
const rejectSeveralHosts: onRequestHookHandler = ({ raw }, _reply, done) => {
  if (raw.rawHeaders.filter(isHost).length > 1) {
    done(new Problem(400, 'The request has more than one Host header.'))
  } else done()
}

/** What every web service needs, in the order of its hooks. */
export default fp<Options>(async (app, { environment, configParts, validators }) => {
  await app.register(config, { environment, parts: configParts })
  await app.register(gracefulShutdown)
  await app.register(securityHeaders)
  // Before any hook that can reject a request, so that rejected requests are counted.
  await app.register(telemetry)
  app.addHook('onRequest', rejectSeveralHosts)
  await app.register(loadShedding) // before everything that costs more than a rejected request
  await app.register(staticFiles) // before the rate limits, which do not count assets
  await app.register(brand)
  await app.register(views)
  await app.register(rateLimits)
  await app.register(errorHandler)
  await app.register(health)
  await app.register(compress, COMPRESSION)
  await app.register(validation, { validators })
  await app.register(scheduler)
})
