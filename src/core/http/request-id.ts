import { randomUUID } from 'node:crypto'
import type { FastifyServerOptions } from 'fastify'

const VALID_ID = /^[\w.-]{1,64}$/

/**
 * Returns the caller's `x-request-id`, so that a request can be traced across services. If it is
 * missing or invalid, returns a new UUID.
 */
export const genReqId: NonNullable<FastifyServerOptions['genReqId']> = ({ headers }) => {
  const id = headers['x-request-id']
  return typeof id === 'string' && VALID_ID.test(id) ? id : randomUUID()
}
