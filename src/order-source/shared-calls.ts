import { EventEmitter } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { isUnsafe } from '../plugins/provenance.js'
import { callerIn, onBehalfOf } from './exchange.js'
import { OrderSourceFailure } from './failure.js'
import { readWhole, SHORT, WholeBody } from './whole-body.js'

type Call = Dispatcher.RequestOptions

interface Answer {
  statusCode: number
  headers: IncomingHttpHeaders
  body: Readable
}

type Done = (error: Error | null, answer?: Answer) => void

interface Waiting {
  call: Call
  done: Done
}

/** Paths remembered at most, of those whose answers are for one asker each */
const MOST_PATHS = 100

const QUESTION = Symbol('question')

/** Marks the headers of a call that asks what anybody may ask, and changes nothing. */
export const asQuestion = <H extends object>(headers: H): H =>
  Object.assign(headers, { [QUESTION]: true })

const isQuestion = ({ headers }: Call): boolean =>
  typeof headers === 'object' && headers !== null && QUESTION in headers

/** All that goes up but the id of the request, so what has the same text has the same answer. */
const textOf = ({ path, headers }: Call): string =>
  JSON.stringify({ path, ...(headers as IncomingHttpHeaders), 'x-request-id': undefined })

const pathOf = ({ path }: Call): string => path.split('?', 1)[0] ?? path

/** Whether nothing says that an answer is for one asker, or must be asked for anew (RFC 9111, 5.2.2). */
function isForAll(headers: IncomingHttpHeaders): boolean {
  const control = headers['cache-control'] ?? ''
  if (headers.vary === '*' || /no-store|no-cache|private/i.test(control)) return false
  const [, seconds] = /s-maxage *= *"?(\d+)/i.exec(control) ??
    /max-age *= *"?(\d+)/i.exec(control) ?? ['', '1']
  return Number(seconds) > 0
}

const isShort = ({ statusCode, headers }: Answer): boolean =>
  statusCode === 204 || statusCode === 304 || Number(headers['content-length'] ?? Infinity) <= SHORT

const mayBeShared = (answer: Answer): boolean => isForAll(answer.headers) && isShort(answer)

/** Those who wait for one call; it emits `close` when the last of them has gone. */
class Callers extends EventEmitter {
  readonly #waiting = new Set<Waiting>()
  #isAnswered = false

  get size(): number {
    return this.#waiting.size
  }

  join(one: Waiting): void {
    this.#waiting.add(one)
    callerIn(one.call.headers)?.once('close', () => {
      if (!this.#waiting.delete(one)) return
      if (!this.#isAnswered) one.done(new OrderSourceFailure('cancelled', { wasSent: true }))
      if (this.#waiting.size === 0) this.emit('close')
    })
  }

  /** Answers each, once. */
  answer(give: (done: Done) => void): void {
    this.#isAnswered = true
    for (const { done } of this.#waiting) give(done)
  }

  /** Gives the answer to the first alone, for whom the call stays; the others are let go. */
  answerFirst(answer: Answer): Waiting[] {
    this.#isAnswered = true
    const [first, ...others] = this.#waiting
    for (const other of others) this.#waiting.delete(other)
    first?.done(null, answer)
    return others
  }
}

/**
 * Makes calls, and of questions that are the same at the same moment one: many guests who open the
 * calculators together are no more to the order source than one of them. Who joins a call that is
 * under way has its answer, or its failure; the call goes on until the last has left.
 *
 * Nobody joins once an answer has begun, or after a change that has been answered since. Answers
 * that are long, or say that they are for one, go to one; the others ask for themselves, and so does
 * from then on everybody who asks at that path.
 */
export function sharedCalls(dispatcher: Dispatcher) {
  const underWay = new Map<string, Callers>()
  const unshared = new Set<string>()

  function learnFrom(call: Call, answer: Answer): void {
    if (mayBeShared(answer)) {
      unshared.delete(pathOf(call))
      return
    }
    if (unshared.size >= MOST_PATHS) unshared.clear()
    unshared.add(pathOf(call))
  }

  function callAlone({ call, done }: Waiting): void {
    dispatcher.request(call, (error, answer) => {
      if (isUnsafe(call.method)) underWay.clear()
      else if (error === null && isQuestion(call)) learnFrom(call, answer)
      done(error, answer)
    })
  }

  function hand(callers: Callers, answer: Answer): void {
    if (callers.size === 1 || !mayBeShared(answer)) {
      for (const other of callers.answerFirst(answer)) callAlone(other)
      return
    }
    readWhole(answer.body, (error, bytes) => {
      callers.answer((done) => {
        if (error) done(error)
        else done(null, { ...answer, body: new WholeBody(bytes) })
      })
    })
  }

  function ask(call: Call, text: string, callers: Callers): void {
    const close = () => {
      if (underWay.get(text) === callers) underWay.delete(text)
    }
    underWay.set(text, callers)
    callers.once('close', close)
    const headers = onBehalfOf(callers, { ...(call.headers as IncomingHttpHeaders) })
    dispatcher.request({ ...call, headers }, (error, answer) => {
      close()
      if (error !== null) {
        callers.answer((done) => {
          done(error)
        })
        return
      }
      learnFrom(call, answer)
      hand(callers, answer)
    })
  }

  return (call: Call, done: Done): void => {
    if (!isQuestion(call) || unshared.has(pathOf(call))) {
      callAlone({ call, done })
      return
    }
    const text = textOf(call)
    const others = underWay.get(text)
    const callers = others ?? new Callers()
    callers.join({ call, done })
    if (others === undefined) ask(call, text, callers)
  }
}
