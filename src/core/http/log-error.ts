import type { FastifyRequest } from 'fastify'
import { Problem } from './problem.js'

/** Logs a Problem in one line, and any other error with its stack. */
export function logError(error: unknown, { log }: Pick<FastifyRequest, 'log'>): void {
  if (error instanceof Problem) {
    log.warn({ statusCode: error.statusCode, detail: error.message }, 'request rejected')
  } else log.error({ err: error }, 'request failed')
}
