import { randomBytes } from 'node:crypto'
import type { FastifyServerOptions } from 'fastify'

const GIVEN = /^[\w.-]{1,64}$/

const DIGITS = 16
/** Random ids are made so many at a time: one by one, they cost some percent of a short answer. */
const AT_ONCE = 256

let digits = ''
let taken = 0

function randomId(): string {
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
