import type { IncomingMessage } from 'node:http'
import FindMyWay, { type HTTPMethod } from 'find-my-way'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { fieldErrors } from '../validation/field-errors.js'
import { isApi } from './is-api.js'
import { invalidInput, Problem } from './problem.js'

const METHODS: HTTPMethod[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

const isDecodable = (url: string): boolean => {
  try {
    decodeURI(url.split('?', 1)[0] ?? '')
    return true
  } catch {
    return false
  }
}

/**
 * Leads an address that cannot be decoded to where nothing is, for the application's
 * `rewriteUrl`. The router would answer it by itself otherwise, past every hook.
 */
export function divertUndecodable({ url = '/' }: Pick<IncomingMessage, 'url'>): string {
  if (!url.includes('%') || isDecodable(url)) return url
  return isApi(url) ? '/api/%25' : '/%25'
}

/** What Fastify's own refusals mean to whoever sent the request. */
const REFUSALS: Record<string, string> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'The body is not valid JSON.',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'The body is empty; JSON was announced.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body is not as long as announced.',
  FST_ERR_CTP_BODY_TOO_LARGE: 'The body is larger than this address takes.',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'The content type is not one that this address takes.',
}

const isValidationError = (error: FastifyError): boolean => Array.isArray(error.validation)

/** Any error as one that may be told; what is not meant for the outside becomes a plain 500. */
function toProblem(error: FastifyError | Problem): Problem {
  if (error instanceof Problem) return error
  if (isValidationError(error)) return invalidInput(fieldErrors(error.validation as never))
  const status = error.statusCode ?? 500
  if (status === 429) return new Problem(429, 'Too many requests: wait a little and try again.')
  if (status >= 400 && status < 500) {
    // Messages of a JSON parser and the like may quote the input or name internals.
    return new Problem(status, REFUSALS[error.code] ?? 'The request is malformed.')
  }
  return new Problem(500, 'Something went wrong on our side. It has been noted.')
}

async function answer(problem: Problem, request: FastifyRequest, reply: FastifyReply) {
  reply.code(problem.statusCode).headers(problem.headers)
  if (isApi(request.url)) {
    return reply
      .type('application/problem+json')
      .serializer(JSON.stringify)
      .send(problem.toJSON(request.id))
  }
  return reply.hypermedia(
    { page: 'errors/error', fragment: 'errors/_error' },
    { problem, requestId: request.id },
  )
}

/**
 * Turns every error into its answer, in this one place: problem+json under /api, a page or a
 * fragment elsewhere. Unknown addresses are 404, known ones with another method 405.
 */
export default fp(
  async (app) => {
    const known = FindMyWay()
    app.addHook('onRoute', ({ method, url }) => {
      for (const verb of [method].flat()) {
        if (known.findRoute(verb as HTTPMethod, url) === null)
          known.on(verb as HTTPMethod, url, () => {})
      }
    })

    app.setErrorHandler<FastifyError | Problem>(async (error, request, reply) => {
      const problem = toProblem(error)
      if (problem.statusCode >= 500) request.log.error({ err: error }, 'request failed')
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
    app.setNotFoundHandler({ preHandler: app.rateLimit() }, async (request, reply) =>
      answer(nothingThere(request), request, reply),
    )
  },
  { name: 'errors', dependencies: ['hypermedia', 'rate-limits'] },
)
