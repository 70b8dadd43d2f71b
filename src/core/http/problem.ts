import { STATUS_CODES } from 'node:http'
import { Type, type Static, type TSchema } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { FieldError } from '../validation/field-errors.js'

/** RFC 9457 problem details: the body of every error under /api. */
export const ProblemDetails = Type.Object(
  {
    type: Type.String({ description: 'Always about:blank: the status identifies the problem' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    requestId: Type.String({ description: 'Quote it when you report the problem' }),
    errors: Type.Optional(
      Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
        description: 'Every invalid field',
      }),
    ),
  },
  { title: 'Problem', additionalProperties: true },
)
export type ProblemDetails = Static<typeof ProblemDetails>

/** An error response for a `response` schema, with its additional headers and members. */
export const problemResponse = (
  description: string,
  {
    headers = {},
    members = {},
  }: { headers?: Record<string, TSchema>; members?: Record<string, TSchema> } = {},
) => ({
  description,
  headers: {
    'X-Request-Id': Type.String({ description: 'The same as requestId' }),
    'Retry-After': Type.String({ description: 'Seconds to wait before a retry' }),
    ...headers,
  },
  content: {
    'application/problem+json': {
      schema: { ...ProblemDetails, properties: { ...ProblemDetails.properties, ...members } },
    },
  },
})

/** Error responses of every route under /api, for its `response` schema. */
export const problemResponses = {
  '4xx': problemResponse(
    'The request is invalid or not allowed; `errors` lists each invalid field',
    {
      headers: {
        'WWW-Authenticate': Type.String({
          description: 'With status 401: Bearer, with an error if a key or token was sent',
        }),
        Allow: Type.String({ description: 'With status 405: the allowed methods' }),
      },
    },
  ),
  '5xx': problemResponse('The service or one of its dependencies failed'),
}

/** Adds response headers to a schema, for the documentation. */
export const withHeaders = <S extends object>(schema: S, headers: Record<string, TSchema>): S => ({
  ...schema,
  headers,
})

/** Progress of a prerequisite, such as the first sync; 0 of 0 while it is unknown. */
interface Progress {
  done: number
  total: number
}

interface Extras {
  /** Title of the page, instead of that of the status */
  heading?: string
  errors?: FieldError[]
  headers?: Record<string, string>
  /** Extension members (RFC 9457, section 3.2) */
  members?: Record<string, unknown> & { progress?: Progress }
  /** Logged, but not shown */
  cause?: unknown
}

/** An error that is shown to the caller. Throw it anywhere; the error handler responds. */
export class Problem extends Error {
  override readonly name: string = 'Problem'
  readonly statusCode: number
  readonly title: string
  readonly heading: string | undefined
  readonly errors: FieldError[] | undefined
  readonly headers: Record<string, string>
  readonly members: NonNullable<Extras['members']>

  constructor(statusCode: number, detail: string, extras: Extras = {}) {
    const { heading, errors, headers = {}, members = {}, cause } = extras
    super(detail, cause === undefined ? {} : { cause })
    this.statusCode = statusCode
    this.title = STATUS_CODES[statusCode] ?? 'Error'
    this.heading = heading
    this.errors = errors
    this.headers = headers
    this.members = members
  }

  details(requestId: string): ProblemDetails {
    return {
      type: 'about:blank',
      title: this.title,
      status: this.statusCode,
      detail: this.message,
      requestId,
      ...(this.errors ? { errors: this.errors } : {}),
      ...this.members,
    }
  }
}

const MAX_ERRORS = 50
const MAX_ERRORS_IN_DETAIL = 5

/** 422 with the errors for each field. */
export function createValidationProblem(found: FieldError[]): Problem {
  const errors = found.slice(0, MAX_ERRORS)
  const named = found
    .slice(0, MAX_ERRORS_IN_DETAIL)
    .map(({ path, message }) => (path ? `${path} ${message}` : `The input ${message}`))
  const more = found.length - named.length
  return new Problem(422, `${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`, { errors })
}

/** 429: the client may try again after `waitMs`. */
export const createLimitProblem = (detail: string, waitMs: number): Problem =>
  new Problem(429, detail, { headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) } })

/** 500 without details. */
export const createUnexpectedProblem = (): Problem =>
  new Problem(500, 'Something went wrong. The error has been logged.')

/** Logs a Problem in one line, with its cause if it has one; any other error with its stack. */
export function logError(error: unknown, { log }: Pick<FastifyRequest, 'log'>): void {
  if (!(error instanceof Problem)) {
    log.error({ err: error }, 'request failed')
    return
  }
  const { statusCode, message: detail, cause } = error
  if (cause === undefined) log.warn({ statusCode, detail }, 'request rejected')
  else log.error({ statusCode, detail, err: cause }, 'request rejected')
}
