import type { IncomingHttpHeaders } from 'node:http'
import httpProxy from '@fastify/http-proxy'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply } from 'fastify'
import type { Dispatcher } from 'undici'
import { Problem } from '../http/problem.js'
import { API_POLICY } from '../plugins/security-headers.js'
import { isBodiless } from './upstream-response.js'
import { documentedRoutes, type DocumentedRoute } from './documented-routes.js'
import { onBehalfOf } from './upstream-request.js'
import { UpstreamFailure } from './upstream-failure.js'
import { addProxyGuard } from './proxy-guard.js'
import { sendUpstreamBody, replaceBody } from './send-upstream-body.js'
import { RELAYED_METHODS, type PublicRoutes } from './public-routes.js'
import {
  toClientHeaders,
  toUpstreamHeaders,
  hasContentEncoding,
  RESPONSE_ONLY_HEADERS,
} from './proxy-headers.js'
import { toRequestKey } from './request-coalescing.js'
import { createSecretRedactor } from './secret-redactor.js'
import type { Upstream } from './upstream.js'
import { MOUNT } from './upstream-path.js'
import type { Body } from './buffered-body.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Where the answer goes of a call that is relayed */
    relayedTo: FastifyReply | null
  }
}

export interface ProxyOptions {
  upstream: Upstream
  publicRoutes: PublicRoutes
}

/** What is relayed without being named in the documentation: everything. */
const CATCH_ALL = ['/', '/*']

/**
 * What an answer has set goes, where the answer then fails before any of it went out. Who has left
 * gets no answer.
 */
function forgetFailedAnswers(scope: FastifyInstance): void {
  scope.setErrorHandler((error, _request, reply) => {
    if (error instanceof UpstreamFailure && error.kind === 'cancelled') return reply.hijack()
    for (const name of RESPONSE_ONLY_HEADERS) reply.removeHeader(name)
    reply.header('content-security-policy', API_POLICY)
    throw error
  })
}

/** What an error of the order source says of itself is for those who run the service. */
function errorForStrangers(status: number, retryAfter: unknown): Problem {
  const mayBeTold = typeof retryAfter === 'string' && /^\d{1,9}$/.test(retryAfter)
  return new Problem(status, 'The order source answered with an error.', {
    headers: {
      'cache-control': 'no-store',
      ...(mayBeTold ? { 'retry-after': retryAfter } : {}),
    },
  })
}

function proxyOptions(
  scope: FastifyInstance,
  { baseUrl, token, request }: Upstream,
): httpProxy.FastifyHttpProxyOptions {
  const cover = createSecretRedactor(token)

  function headersOf({ request, raw }: FastifyReply, given: IncomingHttpHeaders) {
    const { id, body, method, isForEverybody } = request
    const headers = toUpstreamHeaders(given, { id, token, hasBody: body !== undefined })
    // Of what only some may see, each asks for himself.
    return onBehalfOf(raw, method === 'GET' && isForEverybody ? toRequestKey(headers) : headers)
  }

  /** Everybody may make a public call, so of those nobody has found out who asks. */
  const isAdministrator = async (reply: FastifyReply): Promise<boolean> =>
    reply.request.knownAdministrator !== null ||
    scope.requireAdministrator.call(scope, reply.request, reply).then(
      () => true,
      () => false,
    )

  /** Hands an answer on whose head is set, or what is answered in its place. */
  async function handOnOrReplace(reply: FastifyReply, body: Body) {
    if (isBodiless(reply)) {
      // Without a type it could not be shown; what it confirms keeps the type it has.
      reply.removeHeader('content-disposition').header('content-security-policy', API_POLICY)
    }
    // Nobody can tell what is in it.
    if (hasContentEncoding(reply.getHeader('content-encoding'))) {
      replaceBody(reply, body, new UpstreamFailure('unusable', { wasSent: true }))
    } else if (reply.statusCode < 400 || (await isAdministrator(reply))) {
      sendUpstreamBody(reply, body, cover)
    } else {
      const other = errorForStrangers(reply.statusCode, reply.getHeader('retry-after'))
      replaceBody(reply, body, other)
    }
  }

  return {
    upstream: baseUrl,
    prefix: MOUNT,
    // It is called with a callback, and what that gets only handed on.
    undici: { request: request as Dispatcher['request'] },
    disableRequestLogging: true,
    // Its own handler would check the address a third time, by three URLs made for each call, which
    // is up to a tenth of it. The gate has let through no address with two readings; fromParameters
    // refuses what leaves the base by dots, and reply.from what does not begin with it.
    preHandler(request, reply) {
      request.relayedTo = reply
      const [path = ''] = request.url.split('?', 1)
      const { url, options } = reply.fromParameters(path, {}, MOUNT)
      reply.from(url, options as httpProxy.FastifyHttpProxyOptions['replyOptions'])
    },
    // The same for every request: made anew for each, they would cost as much as the log does.
    replyOptions: {
      rewriteRequestHeaders: ({ relayedTo }, headers) =>
        relayedTo === null ? {} : headersOf(relayedTo, headers),
      onResponse({ relayedTo }, reply, { stream }) {
        if (relayedTo === null) return
        handOnOrReplace(relayedTo, stream).catch((error: unknown) => reply.send(error))
      },
      // Sending again is decided where it is known whether anything was sent.
      retryDelay: () => null,
      rewriteHeaders: (headers, request) =>
        toClientHeaders(headers, request ?? { headers: {} }, cover),
      onError: (reply, { error }) => void reply.send(error.cause ?? error),
    },
  }
}

/** Relays with @fastify/http-proxy what its gate lets through. */
const routes: FastifyPluginAsync<ProxyOptions> = async (scope, { upstream, publicRoutes }) => {
  const options = proxyOptions(scope, upstream)
  const proxy = async (routes: string[], httpMethods: string[], call?: DocumentedRoute) => {
    await scope.register(async (inner) => {
      if (call) {
        inner.addHook('onRoute', (route) => {
          route.schema = call.schema
        })
      }
      await inner.register(httpProxy, { ...options, routes, httpMethods })
    })
  }

  scope.decorateRequest('relayedTo', null)
  scope.removeAllContentTypeParsers()
  // The schemas document: what they describe is the order source's to validate.
  scope.setValidatorCompiler(() => () => true)
  scope.setSerializerCompiler(() => JSON.stringify)
  forgetFailedAnswers(scope)
  addProxyGuard(scope, publicRoutes)
  scope.addHook('onRequest', (_request, _reply, done) => {
    done(upstream.restingFailure() ?? undefined)
  })

  for (const call of documentedRoutes(publicRoutes)) await proxy([call.url], [call.method], call)
  await proxy(CATCH_ALL, RELAYED_METHODS)
}

export default routes
