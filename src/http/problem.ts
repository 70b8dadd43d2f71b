import { STATUS_CODES } from 'node:http'
import { Type, type Static, type TSchema } from '@sinclair/typebox'
import type { FieldError } from '../validation/field-errors.js'

/** RFC 9457 problem details, as every error under /api is answered. */
export const ProblemDetails = Type.Object(
  {
    type: Type.String({ description: 'about:blank: the status says which problem it is' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    requestId: Type.String({ description: 'To quote when asking what happened' }),
    errors: Type.Optional(
      Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
        description: 'Each wrong field, all of them at once',
      }),
    ),
  },
  { title: 'Problem', additionalProperties: true },
)
export type ProblemDetails = Static<typeof ProblemDetails>

/** A refusal, or a kind of them, in a `response` schema, with what it has beyond every other. */
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
    'Retry-After': Type.String({ description: 'Seconds after which to try again, where it helps' }),
    ...headers,
  },
  content: {
    'application/problem+json': {
      schema: { ...ProblemDetails, properties: { ...ProblemDetails.properties, ...members } },
    },
  },
})

/** What any route under /api may answer besides its result, for its `response` schema. */
export const problemResponses = {
  '4xx': problemResponse('The request cannot be served; `errors` names each wrong field', {
    headers: {
      'WWW-Authenticate': Type.String({ description: 'Of 401: Bearer' }),
      Allow: Type.String({ description: 'Of 405: the methods that there are' }),
    },
  }),
  '5xx': problemResponse('Something behind the service failed'),
}

/** An answer's schema with the headers that go along, for the documentation. */
export const withHeaders = <S extends object>(schema: S, headers: Record<string, TSchema>): S => ({
  ...schema,
  headers,
})

/** How much is done of what has to be done first; nothing of nothing where that is not known yet. */
export interface Progress {
  done: number
  total: number
}

interface Extras {
  errors?: FieldError[]
  headers?: Record<string, string>
  /** Members of this kind of problem alone (RFC 9457, 3.2) */
  members?: Record<string, unknown> & { progress?: Progress }
}

/** An error that may be told to whoever asked. Throw it from anywhere; one place answers it. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly statusCode: number
  readonly title: string
  readonly errors: FieldError[] | undefined
  readonly headers: Record<string, string>
  readonly members: NonNullable<Extras['members']>

  constructor(statusCode: number, detail: string, extras: Extras = {}) {
    const { errors, headers = {}, members = {} } = extras
    super(detail)
    this.statusCode = statusCode
    this.title = STATUS_CODES[statusCode] ?? 'Error'
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

/** More wrong fields than a person mends, and few enough for a small answer. */
const MOST_ERRORS = 50
const MOST_IN_DETAIL = 5

/** 422, with what is wrong with each field. */
export function createValidationProblem(found: FieldError[]): Problem {
  const errors = found.slice(0, MOST_ERRORS)
  const named = found
    .slice(0, MOST_IN_DETAIL)
    .map(({ path, message }) => (path ? `${path} ${message}` : `The input ${message}`))
  const more = found.length - named.length
  return new Problem(422, `${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`, { errors })
}

/** 500, which tells nothing of what went wrong. */
export const createUnexpectedProblem = (): Problem =>
  new Problem(500, 'Something went wrong on our side. It has been noted.')
