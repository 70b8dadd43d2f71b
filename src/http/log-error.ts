import type { FastifyRequest } from 'fastify'
import { Problem } from './problem.js'

/** A problem told on purpose is no fault of ours and takes one line; what is unexpected has its stack. */
export function logError(error: unknown, { log }: Pick<FastifyRequest, 'log'>): void {
  if (error instanceof Problem) {
    log.warn({ status: error.statusCode, detail: error.message }, 'request refused')
  } else log.error({ err: error }, 'request failed')
}
