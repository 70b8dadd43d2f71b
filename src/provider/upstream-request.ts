import { EventEmitter } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { isUnsafeMethod } from '../http/fetch-metadata.js'
import { Problem } from '../http/problem.js'
import type { CircuitBreaker } from './circuit-breaker.js'
import { toUpstreamFailure, isLostConnection, UpstreamFailure } from './upstream-failure.js'
import { MAX_BUFFERED_BYTES } from './buffered-body.js'

type Controller = Dispatcher.DispatchController
type Handler = Dispatcher.DispatchHandler

export interface UpstreamRequestOptions {
  breaker: CircuitBreaker
  /** How long the answer may take to begin */
  timeoutMs: number
  /** How long all of it may take, the request's body included */
  wholeTimeoutMs: number
  mostAnswerBytes: number
  /** Told once that it is decided what comes of it: its answer begins, or there is none */
  onOutcome: () => void
  /** Told once how it ended: a class of statuses such as 2xx, or why there was no whole answer */
  onEnd: (outcome: string, seconds: number) => void
}

const RETRIES = 1
const SHORTEST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 150

/** Names, among the headers of a call, who waits for its answer. */
const CALLER = Symbol('caller')

/**
 * Headers of a call that is given up as soon as its caller emits `close`. The relay hands on headers
 * and nothing else, so the caller travels with them, unseen: it is never sent.
 */
export const onBehalfOf = <H extends object>(caller: EventEmitter, headers: H): H =>
  Object.assign(headers, { [CALLER]: caller })

/** Who waits for the answer to a call, by its headers. */
export function callerIn(headers: unknown): EventEmitter | null {
  if (typeof headers !== 'object' || headers === null || !(CALLER in headers)) return null
  const caller = headers[CALLER]
  return caller instanceof EventEmitter ? caller : null
}

/** Ends that say nothing of whether the order source is well */
const SAYING_NOTHING = ['cancelled', 'refused', 'closed early']

/** Bytes that a body is said to have; without bound where nothing is said. */
function announcedLength(headers: unknown): number {
  const isNamed = typeof headers === 'object' && headers !== null && 'content-length' in headers
  return isNamed ? Number(headers['content-length']) : Infinity
}

const isRedirect = (status: number): boolean => status >= 300 && status < 400 && status !== 304

/**
 * One call of the order source and its answer. It stands between the HTTP client and whoever
 * called, as the one's handler and the other's controller, and sees to it that the call ends
 * within its time, is sent again only where that is harmless, and has no answer that must not be
 * handed on.
 */
export class UpstreamRequest implements Handler, Controller {
  readonly #settings: UpstreamRequestOptions
  readonly #send: (handler: Handler) => void
  readonly #handler: Handler
  readonly #mayRetry: boolean
  /** What is sent as it comes */
  readonly #body: Readable | null
  /** Whether an answer may begin, and the connection end, before all of the body is there */
  readonly #isLong: boolean
  readonly #startedAt = performance.now()
  #controller: Controller | null = null
  #timer: NodeJS.Timeout | undefined
  #retries = 0
  #wasSent = false
  #status = 0
  #failure: Problem | null = null
  #hasEnded = false

  /** @param send sends the request once, to a handler of what happens to it */
  constructor(
    settings: UpstreamRequestOptions,
    { method, headers, body }: Dispatcher.DispatchOptions,
    send: (handler: Handler) => void,
    handler: Handler,
  ) {
    this.#settings = settings
    this.#send = send
    this.#handler = handler
    this.#mayRetry = !isUnsafeMethod(method) && method !== 'OPTIONS'
    this.#body = body instanceof Readable ? body : null
    this.#isLong = this.#body !== null && announcedLength(headers) > MAX_BUFFERED_BYTES
    const { breaker, timeoutMs, wholeTimeoutMs } = settings
    if (!breaker.admits()) {
      const headers = { 'retry-after': String(breaker.retryAfter()) }
      queueMicrotask(() => this.#fail(new UpstreamFailure('resting', { headers })))
      return
    }
    // However long the caller takes to send a body, the order source has its time after that.
    this.#timeOutAfter(this.#body === null ? timeoutMs : wholeTimeoutMs)
    this.#body?.once('end', () => {
      if (this.#status === 0) this.#timeOutAfter(timeoutMs)
    })
    callerIn(headers)?.once('close', () => {
      if (this.#hasEnded) return
      this.#fail(new UpstreamFailure('cancelled', { wasSent: this.#wasSent }))
    })
    send(this)
  }

  // As controller, for the caller

  get aborted(): boolean {
    return this.#failure !== null
  }

  get reason(): Error | null {
    return this.#failure
  }

  get paused(): boolean {
    return this.#controller?.paused ?? false
  }

  abort(reason: Error): void {
    this.#fail(toUpstreamFailure(reason, this.#wasSent))
  }

  pause(): void {
    this.#controller?.pause()
  }

  resume(): void {
    this.#controller?.resume()
  }

  // As handler, for the HTTP client

  onRequestStart(controller: Controller, context: unknown): void {
    // It may have waited for a free connection until its time was over.
    if (this.#failure !== null) {
      controller.abort(this.#failure)
      return
    }
    this.#controller = controller
    this.#wasSent = true
    this.#handler.onRequestStart?.(this, context)
  }

  onResponseStart(
    _controller: Controller,
    status: number,
    headers: IncomingHttpHeaders,
    message?: string,
  ): void {
    if (this.#hasEnded || status < 200) return
    this.#settings.breaker.succeeded()
    this.#status = status
    this.#settings.onOutcome()
    const refusal = this.#refusalOf(status, headers)
    if (refusal !== null) {
      this.#fail(refusal)
      return
    }
    this.#handler.onResponseStart?.(this, status, headers, message)
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (!this.#hasEnded) this.#handler.onResponseData?.(this, chunk)
  }

  onResponseEnd(_controller: Controller, trailers: IncomingHttpHeaders): void {
    if (this.#hasEnded) return
    this.#end(`${Math.floor(this.#status / 100)}xx`)
    this.#handler.onResponseEnd?.(this, trailers)
  }

  onResponseError(_controller: Controller | undefined, error: Error): void {
    if (this.#hasEnded) return
    const known = toUpstreamFailure(error, this.#wasSent)
    const failure = isLostConnection(known) ? this.#lost(known) : known
    const { breaker } = this.#settings
    const again = this.#mayRetry && this.#status === 0 && this.#retries < RETRIES
    if (again && isLostConnection(failure) && !breaker.isOpen()) void this.#sendAgain()
    else this.#fail(failure)
  }

  /** What it means that the connection is lost. */
  #lost(known: Problem): Problem {
    const wasSent = this.#wasSent
    if (this.#status !== 0) return new UpstreamFailure('unusable', { wasSent })
    // Who refuses a long body by its head need not read it, and then a reset overtakes the refusal.
    return wasSent && this.#isLong ? new UpstreamFailure('closed early', { wasSent }) : known
  }

  async #sendAgain(): Promise<void> {
    this.#retries++
    this.#controller = null
    await sleep(SHORTEST_PAUSE_MS + Math.random() * (LONGEST_PAUSE_MS - SHORTEST_PAUSE_MS))
    if (!this.#hasEnded) this.#send(this)
  }

  /** Why an answer is not handed on, as far as its head tells. */
  #refusalOf(status: number, headers: IncomingHttpHeaders): UpstreamFailure | null {
    const { mostAnswerBytes } = this.#settings
    if (status === 401) return new UpstreamFailure('token refused', { wasSent: true })
    if (isRedirect(status) || status > 599) {
      return new UpstreamFailure('unusable', { code: String(status), wasSent: true })
    }
    return Number(headers['content-length'] ?? 0) > mostAnswerBytes
      ? new UpstreamFailure('too large', { wasSent: true })
      : null
  }

  #timeOutAfter(milliseconds: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#onTimeout, milliseconds)
  }

  readonly #onTimeout = (): void => {
    // The answer has begun in time; then the whole of it has its time too.
    const leftMs = this.#settings.wholeTimeoutMs - (performance.now() - this.#startedAt)
    if (this.#status !== 0 && leftMs > 0) this.#timeOutAfter(leftMs)
    else if (this.#waitsForCaller()) this.#fail(new Problem(408, 'The body comes too slowly.'))
    else this.#fail(new UpstreamFailure('slow', { wasSent: this.#wasSent }))
  }

  /** Whether the order source has taken all there is of the body, and it is not all. */
  #waitsForCaller(): boolean {
    const body = this.#body
    return this.#wasSent && body !== null && !body.readableEnded && body.readableLength === 0
  }

  #fail(failure: Problem): void {
    if (this.#hasEnded) return
    this.#failure = failure
    const kind = failure instanceof UpstreamFailure ? failure.kind : 'refused'
    if (this.#status === 0) {
      this.#tellBreaker(kind)
      this.#settings.onOutcome()
    }
    this.#end(this.#status === 0 || kind === 'cancelled' ? kind : 'cut')
    this.#controller?.abort(failure)
    this.#handler.onResponseError?.(this, failure)
  }

  #tellBreaker(kind: string): void {
    const { breaker } = this.#settings
    if (kind === 'resting') return
    if (SAYING_NOTHING.includes(kind)) breaker.ended()
    else breaker.failed()
  }

  #end(outcome: string): void {
    this.#hasEnded = true
    clearTimeout(this.#timer)
    this.#settings.onEnd(outcome, (performance.now() - this.#startedAt) / 1000)
  }
}
