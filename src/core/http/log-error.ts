import type { FastifyRequest } from 'fastify'
import { Problem } from './problem.js'

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
