import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { ErrorObject } from 'ajv'
import type {
  ConnectionError,
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
} from 'fastify'
import fp from 'fastify-plugin'
import FindMyWay, { type HTTPMethod } from 'find-my-way'
import { buildErrorPage } from '../html/views.js'
import {
  createUnexpectedProblem,
  createValidationProblem,
  logError,
  Problem,
} from '../http/problem.js'
import { isApiPath, isDecodable } from '../http/request-path.js'
import { toFieldErrors, toParameterErrors } from '../validation/field-errors.js'
import { API_POLICY } from './security-headers.js'

const METHODS: HTTPMethod[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Messages for Fastify's own client errors. */
const CLIENT_ERRORS: Record<string, string> = {
  FST_ERR_CTP_INVALID_JSON_BODY:
    'The body is not valid JSON, or has a forbidden key such as __proto__.',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'The body is empty, but its content type is JSON.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body does not match its Content-Length.',
  FST_ERR_CTP_BODY_TOO_LARGE: 'The body is too large.',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'The content type is not supported.',
}

/** Whether the client disconnected before the body was complete. */
const isIncompleteBody = ({ code }: Partial<FastifyError>, { raw }: FastifyRequest): boolean =>
  code === 'ECONNRESET' && !raw.complete

/**
 * Converts any error to a Problem: the one that it has, as DatabaseUnavailableError does, or a plain
 * 500 for internal errors.
 */
function toProblem(error: FastifyError | Problem, request: FastifyRequest): Problem {
  if (error instanceof Problem) return error
  const { problem } = error as { problem?: unknown }
  if (problem instanceof Problem) return problem
  if (isIncompleteBody(error, request)) return new Problem(400, 'The body is incomplete.')
  if (error.validation) {
    const convert = error.validationContext === 'body' ? toFieldErrors : toParameterErrors
    return createValidationProblem(convert(error.validation as ErrorObject[]))
  }
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>
  // Only Fastify's own errors concern the request. A library may throw a 401 of its own, and the
  // message of a JSON parser may quote the input, so neither is shown.
  const isClientError = code.startsWith('FST_') && statusCode >= 400 && statusCode < 500
  return isClientError
    ? new Problem(statusCode, CLIENT_ERRORS[code] ?? 'The request is malformed.')
    : createUnexpectedProblem()
}

async function sendProblem(problem: Problem, request: FastifyRequest, reply: FastifyReply) {
  reply.code(problem.statusCode).headers(problem.headers)
  if (isApiPath(request.url)) {
    return reply
      .type('application/problem+json')
      .serializer(JSON.stringify)
      .send(problem.details(request.id))
  }
  const { views, data } = buildErrorPage(problem, request)
  // Keep the URL, because the page is unchanged.
  if (request.wantsFragment) reply.header('hx-push-url', 'false')
  return reply.renderView(views, data)
}

const PARSE_ERRORS: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
}

/**
 * The server's `clientErrorHandler`: responds to requests that Node cannot parse. Their URL is
 * unknown, so the response is always problem+json.
 */
export function handleClientError(
  this: FastifyInstance,
  error: ConnectionError,
  socket: Socket,
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const status = PARSE_ERRORS[error.code] ?? 400
  const problem = new Problem(status, 'The request is malformed.')
  const id = randomUUID()
  this.log.info({ reqId: id, statusCode: status, code: error.code }, 'malformed request')
  const body = JSON.stringify(problem.details(id))
  if (socket.writable) {
    socket.end(
      [
        `HTTP/1.1 ${status} ${problem.title}`,
        'content-type: application/problem+json',
        `content-length: ${Buffer.byteLength(body)}`,
        'cache-control: no-store',
        `content-security-policy: ${API_POLICY}`,
        'x-content-type-options: nosniff',
        `x-request-id: ${id}`,
        'connection: close',
        '',
        body,
      ].join('\r\n'),
    )
  }
  socket.destroySoon()
}

/**
 * Turns every error into a response: problem+json under /api, a page or a fragment elsewhere. An
 * unknown path gets status 404; a known path with another method gets 405.
 */
export default fp(
  async (app) => {
    const routes = FindMyWay({ maxParamLength: Infinity })
    app.addHook('onRoute', ({ method, url }) => {
      for (const verb of [method].flat()) {
        if (routes.findRoute(verb as HTTPMethod, url) === null)
          routes.on(verb as HTTPMethod, url, () => {})
      }
    })

    app.setErrorHandler<FastifyError | Problem>(async (error, request, reply) => {
      const problem = toProblem(error, request)
      if (problem.statusCode >= 500) logError(error, request)
      return sendProblem(problem, request, reply)
    })

    const createNotFoundProblem = (request: FastifyRequest): Problem => {
      if (!isDecodable(request.originalUrl)) return new Problem(400, 'The URL is malformed.')
      const allowed = METHODS.filter((method) => routes.find(method, request.url) !== null)
      if (allowed.length === 0) {
        const isApi = isApiPath(request.originalUrl)
        return new Problem(
          404,
          isApi
            ? 'This path does not exist. All paths are listed in /docs.'
            : 'This page does not exist. Check the address.',
        )
      }
      return new Problem(405, `The method ${request.method} is not allowed here.`, {
        headers: { allow: allowed.join(', ') },
      })
    }
    const limit = app.rateLimit()
    // Before the body is parsed, so that errors in the body do not hide the 404.
    app.addHook('preParsing', (request, reply, _payload, done) => {
      if (!request.is404) done()
      else limit.call(app, request, reply).then(() => done(createNotFoundProblem(request)), done)
    })
    // Called by routes that find nothing, for example because an asset is missing.
    app.setNotFoundHandler(async (request) => {
      throw createNotFoundProblem(request)
    })
  },
  { name: 'error-handler', dependencies: ['views', 'rate-limits'] },
)
