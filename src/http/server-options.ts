import { LogController, type FastifyHttpOptions, type FastifyServerOptions } from 'fastify'
import type { Server } from 'node:http'
import { normalizeUrl } from './request-path.js'
import { handleClientError } from '../plugins/error-handler.js'
import { genReqId } from './request-id.js'
import { loggerOptions } from '../plugins/telemetry.js'
import { parseTrustProxy } from '../config/trust-proxy.js'

/** Where log entries go; standard output by default. */
export type LogStream = NonNullable<Exclude<FastifyServerOptions['logger'], boolean>>['stream']

/**
 * A guest whose link is 100 kB long gets a page that says so, which takes a header and a router
 * that take such an address.
 */
const LONGEST_ADDRESS = 160 * 1024

/** What must be known before any plugin is: all of it holds for the whole server. */
export const serverOptions = (environment: NodeJS.ProcessEnv, logStream?: LogStream) =>
  ({
    logger: { ...loggerOptions, ...(logStream ? { stream: logStream } : {}) },
    // The telemetry plugin writes one entry for each request instead of two.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId,
    trustProxy: parseTrustProxy(environment.TRUST_PROXY),
    rewriteUrl: normalizeUrl,
    clientErrorHandler: handleClientError,
    routerOptions: { maxParamLength: LONGEST_ADDRESS },
    http: { maxHeaderSize: LONGEST_ADDRESS, headersTimeout: 20_000 },
    requestTimeout: 30_000,
    // What arrives on an open connection while the service stops is served still.
    return503OnClosing: false,
  }) satisfies FastifyHttpOptions<Server>
