import { Problem } from '../http/problem.js'

/** Why a call of the order source has no answer to hand on; none names its address. */
const FAILURES = {
  unreachable: [502, 'The order source cannot be reached.'],
  resting: [502, 'The order source has not answered lately: try again in a few seconds.'],
  slow: [504, 'The order source takes too long to answer.'],
  'closed early': [
    502,
    'The order source ended the connection without an answer: it may take no body of this length.',
  ],
  unusable: [502, 'The order source gave an answer that cannot be handed on.'],
  'too large': [502, 'The order source gave an answer that is too large to be handed on.'],
  'token refused': [502, 'The order source does not accept the token of this service.'],
  cancelled: [502, 'The call was cancelled.'],
} as const satisfies Record<string, readonly [status: number, detail: string]>

export type FailureKind = keyof typeof FAILURES

interface Circumstances {
  /** The code of the error underneath, for the log */
  code?: string | undefined
  /** Whether the request may have reached the order source */
  wasSent?: boolean
  headers?: Record<string, string>
}

/** A call of the order source failed; told to whoever asked, it says nothing of the other side. */
export class UpstreamFailure extends Problem {
  readonly kind: FailureKind
  readonly code: string | undefined
  readonly wasSent: boolean

  constructor(kind: FailureKind, { code, wasSent = false, headers = {} }: Circumstances = {}) {
    const [status, detail] = FAILURES[kind]
    super(status, detail, { headers: { 'cache-control': 'no-store', ...headers } })
    this.kind = kind
    this.code = code
    this.wasSent = wasSent
  }
}

const KINDS: Record<string, FailureKind> = {
  UND_ERR_CONNECT_TIMEOUT: 'slow',
  UND_ERR_HEADERS_TIMEOUT: 'slow',
  UND_ERR_BODY_TIMEOUT: 'slow',
  ETIMEDOUT: 'slow',
  UND_ERR_HEADERS_OVERFLOW: 'unusable',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'unusable',
  UND_ERR_ABORTED: 'cancelled',
}

/** Whether something was answered, but not by the rules of HTTP. */
const isNonsense = (error: unknown, code = ''): boolean =>
  error instanceof Error &&
  (error.name === 'HTTPParserError' ||
    code.startsWith('HPE_') ||
    (code === 'UND_ERR_SOCKET' && error.message === 'bad response'))

/** What an error of the HTTP client means. A Problem is the caller's own, and stays what it is. */
export function toUpstreamFailure(error: unknown, wasSent: boolean): Problem {
  if (error instanceof Problem) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  if (code === 'UND_ERR_INVALID_ARG') return new Problem(400, 'The address is malformed.')
  const kind = isNonsense(error, code) ? 'unusable' : (KINDS[code ?? ''] ?? 'unreachable')
  return new UpstreamFailure(kind, { code, wasSent })
}

/** Whether a call failed before anything was answered, and for a reason that may pass at once. */
export const isLostConnection = (failure: Problem): boolean =>
  failure instanceof UpstreamFailure && failure.kind === 'unreachable'
