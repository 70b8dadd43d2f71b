import { EventEmitter } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import {
  ResponseReader,
  isShort,
  type UpstreamResponse,
  type ResponseConsumer,
  type ResponseHead,
} from './upstream-response.js'
import { callerIn, onBehalfOf } from './upstream-request.js'
import { UpstreamFailure } from './upstream-failure.js'
import { TickBatcher } from './tick-batcher.js'
import { MAX_READ_MS, bufferBody, BufferedBody } from './buffered-body.js'

type Call = Dispatcher.RequestOptions
type Done = (error: Error | null, answer?: UpstreamResponse) => void

interface Waiting {
  call: Call
  done: Done
}

/**
 * Questions known at most: of those under way, and of those whose answers are for one asker each.
 * They are kept in lists, and looked through. A map or set replaces its table also where as much
 * goes as comes, and each table refers to the next (V8): once one is in the old generation, all
 * that follow it get there, and the calls in them, long after they have ended.
 */
const MOST_KNOWN = 100

const QUESTION = Symbol('question')

/** Marks the headers of a call that asks what anybody may ask, and changes nothing. */
export const toRequestKey = <H extends object>(headers: H): H =>
  Object.assign(headers, { [QUESTION]: true })

const isQuestion = ({ headers }: Call): boolean =>
  typeof headers === 'object' && headers !== null && QUESTION in headers

/** All that goes up but the id of the request, so what has the same text has the same answer. */
function textOf({ path, headers }: Call): string {
  let text = path
  for (const [name, value] of Object.entries(headers as IncomingHttpHeaders)) {
    if (name !== 'x-request-id') text += `\n${name}: ${String(value)}`
  }
  return text
}

/** Directives of Cache-Control that give seconds; of both, the first is what holds for many. */
const AGES = [/(?:^|,)\s*s-maxage\s*=\s*"?([^",\s]*)/i, /(?:^|,)\s*max-age\s*=\s*"?([^",\s]*)/i]

/** Whether nothing says that an answer is for one asker, or must be asked for anew (RFC 9111, 5.2.2). */
function isForAll(headers: NodeJS.Dict<string | string[]>): boolean {
  const { 'cache-control': cacheControl, vary } = headers
  if (cacheControl === undefined && vary === undefined) return true
  const control = String(cacheControl ?? '')
  if (String(vary ?? '').includes('*') || /no-store|no-cache|private/i.test(control)) return false
  const [seconds = Infinity] = AGES.flatMap((age) => age.exec(control)?.slice(1) ?? [])
  return Number(seconds) > 0
}

const mayBeShared = (head: ResponseHead): boolean => isForAll(head.headers) && isShort(head)

/** Those who wait for one call; it emits `close` when the last of them has gone. */
class Callers extends EventEmitter {
  readonly question: string
  readonly #waiting = new Set<Waiting>()

  constructor(question: string) {
    super()
    this.question = question
  }

  join(one: Waiting): void {
    this.#waiting.add(one)
    callerIn(one.call.headers)?.once('close', () => {
      if (this.#waiting.delete(one) && this.#waiting.size === 0) this.emit('close')
    })
  }

  /** Keeps the first alone, for whom the call goes on; the others are let go. */
  letGo(): Waiting[] {
    const [, ...others] = this.#waiting
    for (const other of others) this.#waiting.delete(other)
    return others
  }

  fail(error: Error): void {
    for (const { done } of this.#waiting) done(error)
  }

  answer(answer: UpstreamResponse): void {
    const [first] = this.#waiting
    if (this.#waiting.size === 1) first?.done(null, answer)
    else if (answer.body instanceof BufferedBody) this.#answerAll(answer, answer.body)
    else this.#answerOnceRead(answer, answer.body)
  }

  #answerAll({ statusCode, headers }: ResponseHead, body: BufferedBody): void {
    for (const { done } of this.#waiting) done(null, { statusCode, headers, body })
  }

  /** Of a short error. Not everybody gets to see what it says, so nobody is kept waiting for that. */
  #answerOnceRead(head: ResponseHead, body: Readable): void {
    const slow = () => body.destroy(new UpstreamFailure('slow', { wasSent: true }))
    const timer = setTimeout(slow, MAX_READ_MS)
    bufferBody(body, (error, bytes) => {
      clearTimeout(timer)
      this.#answerAll(head, new BufferedBody(bytes, error))
    })
  }
}

export interface RequestCoalescer {
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
export function createRequestCoalescer(dispatcher: Dispatcher): RequestCoalescer {
  let underWay: Callers[] = []
  /** Questions, the newest last */
  const unshared: string[] = []

  function close(callers: Callers): void {
    const index = underWay.indexOf(callers)
    if (index !== -1) underWay.splice(index, 1)
  }

  /** Whether an answer may be shared, which is remembered of its question. */
  function learnFrom(question: string, head: ResponseHead): boolean {
    const index = unshared.indexOf(question)
    if (index !== -1) unshared.splice(index, 1)
    if (mayBeShared(head)) return true
    if (unshared.push(question) > MOST_KNOWN) unshared.shift()
    return false
  }

  const turn = new TickBatcher()

  const send = (call: Call, asker: ResponseConsumer): unknown =>
    dispatcher.dispatch(call, new ResponseReader(call, asker, turn))

  function askAlone({ call, done }: Waiting, question: string): void {
    send(call, {
      begins: (head) => learnFrom(question, head),
      answered: (answer) => done(null, answer),
      failed: done,
    })
  }

  function ask(call: Call, callers: Callers): void {
    // Who is no longer known is answered, and joined by nobody.
    if (underWay.push(callers) > MOST_KNOWN) underWay.shift()
    // At once: who joined a call that is being given up would never be answered.
    callers.once('close', () => close(callers))
    const headers = onBehalfOf(callers, { ...(call.headers as IncomingHttpHeaders) })
    send(
      { ...call, headers },
      {
        begins(head) {
          close(callers)
          if (learnFrom(callers.question, head)) return
          for (const other of callers.letGo()) askAlone(other, callers.question)
        },
        answered: (answer) => callers.answer(answer),
        failed(error) {
          close(callers)
          callers.fail(error)
        },
      },
    )
  }

  function request(call: Call, done: Done): void {
    if (!isQuestion(call)) {
      send(call, { answered: (answer) => done(null, answer), failed: done })
      return
    }
    const question = textOf(call)
    if (unshared.includes(question)) {
      askAlone({ call, done }, question)
      return
    }
    const others = underWay.find((callers) => callers.question === question)
    const callers = others ?? new Callers(question)
    callers.join({ call, done })
    if (others === undefined) ask(call, callers)
  }

  return {
    request,
    forget() {
      underWay = []
    },
  }
}
