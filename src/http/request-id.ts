import { randomBytes } from 'node:crypto'
import type { FastifyServerOptions } from 'fastify'

const GIVEN = /^[\w.-]{1,64}$/

const DIGITS = 16
/** So many are made at a time, for a fraction of what each would cost alone. */
const AT_ONCE = 256

let digits = ''
let taken = 0

/** An id for a request that brings none: 64 random bits, in hexadecimal digits. */
export function randomId(): string {
  if (taken === digits.length) {
    digits = randomBytes((AT_ONCE * DIGITS) / 2).toString('hex')
    taken = 0
  }
  taken += DIGITS
  return digits.slice(taken - DIGITS, taken)
}

/** Ids of requests: the one that came along, so that a call can be followed, else our own. */
export const genReqId: NonNullable<FastifyServerOptions['genReqId']> = ({ headers }) => {
  const given = headers['x-request-id']
  return typeof given === 'string' && GIVEN.test(given) ? given : randomId()
}
