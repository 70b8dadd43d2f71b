import type { Socket } from 'node:net'
import type { ErrorObject } from 'ajv'
import FindMyWay, { type HTTPMethod } from 'find-my-way'
import type {
  ConnectionError,
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
} from 'fastify'
import fp from 'fastify-plugin'
import { toFieldErrors, toParameterErrors } from '../validation/field-errors.js'
import { isApiPath, isDecodable } from '../http/request-path.js'
import { buildErrorPage } from '../http/error-page.js'
import { logError } from '../http/log-error.js'
import { createValidationProblem, Problem, createUnexpectedProblem } from '../http/problem.js'
import { randomId } from '../http/request-id.js'

const METHODS: HTTPMethod[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** What Fastify's own refusals mean to whoever sent the request. */
const REFUSALS: Record<string, string> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'The body is not valid JSON.',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'The body is empty; JSON was announced.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body is not as long as announced.',
  FST_ERR_CTP_BODY_TOO_LARGE: 'The body is larger than this address takes.',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'The content type is not one that this address takes.',
}

/** Whoever sent the request has gone before all of it was there. */
const hasBrokenOff = ({ code }: Partial<FastifyError>, { raw }: FastifyRequest): boolean =>
  code === 'ECONNRESET' && !raw.complete

/** Any error as one that may be told; what is not meant for the outside becomes a plain 500. */
function toProblem(error: FastifyError | Problem, request: FastifyRequest): Problem {
  if (error instanceof Problem) return error
  if (hasBrokenOff(error, request)) return new Problem(400, 'The body is not there to its end.')
  if (error.validation) {
    const read = error.validationContext === 'body' ? toFieldErrors : toParameterErrors
    return createValidationProblem(read(error.validation as ErrorObject[]))
  }
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>
  // Only Fastify's own refusals are about the request. A library may throw a 401 of its own,
  // and messages of a JSON parser may quote the input: neither is the client's business.
  const isRefusal = code.startsWith('FST_') && statusCode >= 400 && statusCode < 500
  return isRefusal
    ? new Problem(statusCode, REFUSALS[code] ?? 'The request is malformed.')
    : createUnexpectedProblem()
}

async function answer(problem: Problem, request: FastifyRequest, reply: FastifyReply) {
  reply.code(problem.statusCode).headers(problem.headers)
  if (isApiPath(request.url)) {
    return reply
      .type('application/problem+json')
      .serializer(JSON.stringify)
      .send(problem.details(request.id))
  }
  const { views, data } = buildErrorPage(problem, request)
  // The address goes into no history: the page stays the one it was.
  if (request.wantsFragment) reply.header('hx-push-url', 'false')
  return reply.hypermedia(views, data)
}

const UNREADABLE: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
}

/**
 * Answers what Node cannot read as a request (for the server's `clientErrorHandler`). There is
 * no address then, so the answer is problem+json whatever was asked for.
 */
export function handleClientError(
  this: FastifyInstance,
  error: ConnectionError,
  socket: Socket,
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const status = UNREADABLE[error.code] ?? 400
  const problem = new Problem(status, 'The request cannot be read.')
  const id = randomId()
  this.log.info({ reqId: id, status, code: error.code }, 'unreadable request')
  const body = JSON.stringify(problem.details(id))
  if (socket.writable) {
    socket.end(
      [
        `HTTP/1.1 ${status} ${problem.title}`,
        'content-type: application/problem+json',
        `content-length: ${Buffer.byteLength(body)}`,
        'cache-control: no-store',
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
 * Turns every error into its answer, in this one place: problem+json under /api, a page or a
 * fragment elsewhere. Unknown addresses are 404, known ones with another method 405.
 */
export default fp(
  async (app) => {
    const known = FindMyWay({ maxParamLength: Infinity })
    app.addHook('onRoute', ({ method, url }) => {
      for (const verb of [method].flat()) {
        if (known.findRoute(verb as HTTPMethod, url) === null)
          known.on(verb as HTTPMethod, url, () => {})
      }
    })

    app.setErrorHandler<FastifyError | Problem>(async (error, request, reply) => {
      const problem = toProblem(error, request)
      if (problem.statusCode >= 500) logError(error, request)
      return answer(problem, request, reply)
    })

    const nothingThere = (request: FastifyRequest): Problem => {
      if (!isDecodable(request.originalUrl)) return new Problem(400, 'The address is malformed.')
      const allowed = METHODS.filter((method) => known.find(method, request.url) !== null)
      if (allowed.length === 0) return new Problem(404, 'There is nothing at this address.')
      return new Problem(405, `This address does not take ${request.method}.`, {
        headers: { allow: allowed.join(', ') },
      })
    }
    const limit = app.rateLimit()
    // Before the body is looked at: what is not there takes none, good or bad.
    app.addHook('preParsing', (request, reply, _payload, done) => {
      if (!request.is404) done()
      else limit.call(app, request, reply).then(() => done(nothingThere(request)), done)
    })
    // What a route finds not to be there, such as an asset.
    app.setNotFoundHandler(async (request) => {
      throw nothingThere(request)
    })
  },
  { name: 'errors', dependencies: ['htmx', 'rate-limits'] },
)
