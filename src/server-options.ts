import type { Server } from 'node:http'
import { LogController, type FastifyHttpOptions, type FastifyServerOptions } from 'fastify'
import { parseTrustProxy } from './core/http/client-address.js'
import { normalizeUrl } from './core/http/request-path.js'
import { handleClientError } from './core/server/error-handler.js'
import { genReqId, loggerOptions } from './core/server/telemetry.js'

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
    // Requests on open connections are served during shutdown.
    return503OnClosing: false,
  }) satisfies FastifyHttpOptions<Server>
