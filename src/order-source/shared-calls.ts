import { EventEmitter } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { callerIn, onBehalfOf } from './exchange.js'
import { OrderSourceFailure } from './failure.js'
import { MOST_READING_MS, readWhole, SHORT, WholeBody } from './whole-body.js'

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

/** Questions remembered at most, of those whose answers are for one asker each */
const MOST_UNSHARED = 100

const QUESTION = Symbol('question')

/** Marks the headers of a call that asks what anybody may ask, and changes nothing. */
export const asQuestion = <H extends object>(headers: H): H =>
  Object.assign(headers, { [QUESTION]: true })

const isQuestion = ({ headers }: Call): boolean =>
  typeof headers === 'object' && headers !== null && QUESTION in headers

/** All that goes up but the id of the request, so what has the same text has the same answer. */
const textOf = ({ path, headers }: Call): string =>
  JSON.stringify({ path, ...(headers as IncomingHttpHeaders), 'x-request-id': undefined })

/** Directives of Cache-Control that give seconds; of both, the first is what holds for many. */
const AGES = [/(?:^|,)\s*s-maxage\s*=\s*"?([^",\s]*)/i, /(?:^|,)\s*max-age\s*=\s*"?([^",\s]*)/i]

/** Whether nothing says that an answer is for one asker, or must be asked for anew (RFC 9111, 5.2.2). */
function isForAll({ vary = '', 'cache-control': control = '' }: IncomingHttpHeaders): boolean {
  if (vary.includes('*') || /no-store|no-cache|private/i.test(control)) return false
  const [seconds = Infinity] = AGES.flatMap((age) => age.exec(control)?.slice(1) ?? [])
  return Number(seconds) > 0
}

const isShort = ({ statusCode, headers }: Answer): boolean =>
  statusCode === 204 || statusCode === 304 || Number(headers['content-length'] ?? Infinity) <= SHORT

const mayBeShared = (answer: Answer): boolean => isForAll(answer.headers) && isShort(answer)

/** Those who wait for one call; it emits `close` when the last of them has gone. */
class Callers extends EventEmitter {
  readonly #waiting = new Set<Waiting>()

  join(one: Waiting): void {
    this.#waiting.add(one)
    callerIn(one.call.headers)?.once('close', () => {
      if (this.#waiting.delete(one) && this.#waiting.size === 0) this.emit('close')
    })
  }

  answer(error: Error | null, answer?: () => Answer): void {
    for (const { done } of this.#waiting) done(error, answer?.())
  }

  /** Gives the answer to the first alone, for whom the call stays; the others are let go. */
  answerFirst(answer: Answer): Waiting[] {
    const [first, ...others] = this.#waiting
    for (const other of others) this.#waiting.delete(other)
    first?.done(null, answer)
    return others
  }
}

export interface SharedCalls {
  /** Makes a call, or joins the same one under way; `done` is told once, unless its caller leaves. */
  request: (call: Call, done: Done) => void
  /** Lets nobody join what is under way: something has changed since it was asked. */
  forget: () => void
}

/**
 * Makes calls, and of questions that are the same at the same moment one: many guests who open the
 * calculators together are no more to the order source than one of them. Who joins a call that is
 * under way has its answer, or its failure; the call goes on until the last has left.
 *
 * Nobody joins once an answer has begun. Answers that are long, or say that they are for one, go to
 * one; the others ask for themselves, and so does from then on everybody with the same question.
 */
export function sharedCalls(dispatcher: Dispatcher): SharedCalls {
  const underWay = new Map<string, Callers>()
  /** Questions, the newest last */
  const unshared = new Set<string>()

  /** Whether an answer may be shared, which is remembered of its question. */
  function learnFrom(text: string, answer: Answer): boolean {
    unshared.delete(text)
    if (mayBeShared(answer)) return true
    unshared.add(text)
    const [oldest] = unshared
    if (oldest !== undefined && unshared.size > MOST_UNSHARED) unshared.delete(oldest)
    return false
  }

  function askAlone({ call, done }: Waiting, text: string): void {
    dispatcher.request(call, (error, answer) => {
      if (error === null) learnFrom(text, answer)
      done(error, answer)
    })
  }

  function handToAll(callers: Callers, answer: Answer): void {
    const { statusCode, body } = answer
    // Not everybody gets to see what an error says, so nobody is kept waiting for it.
    const slow = () => body.destroy(new OrderSourceFailure('slow', { wasSent: true }))
    const timer = statusCode < 400 ? undefined : setTimeout(slow, MOST_READING_MS)
    readWhole(body, (error, bytes) => {
      clearTimeout(timer)
      callers.answer(null, () => ({ ...answer, body: new WholeBody(bytes, error) }))
    })
  }

  function ask(call: Call, text: string, callers: Callers): void {
    const close = () => {
      if (underWay.get(text) === callers) underWay.delete(text)
    }
    underWay.set(text, callers)
    // At once: who joined a call that is being given up would never be answered.
    callers.once('close', close)
    const headers = onBehalfOf(callers, { ...(call.headers as IncomingHttpHeaders) })
    dispatcher.request({ ...call, headers }, (error, answer) => {
      close()
      if (error !== null) {
        callers.answer(error)
        return
      }
      if (learnFrom(text, answer)) handToAll(callers, answer)
      else for (const other of callers.answerFirst(answer)) askAlone(other, text)
    })
  }

  function request(call: Call, done: Done): void {
    if (!isQuestion(call)) {
      dispatcher.request(call, done)
      return
    }
    const text = textOf(call)
    if (unshared.has(text)) {
      askAlone({ call, done }, text)
      return
    }
    const others = underWay.get(text)
    const callers = others ?? new Callers()
    callers.join({ call, done })
    if (others === undefined) ask(call, text, callers)
  }

  return {
    request,
    forget() {
      underWay.clear()
    },
  }
}
