import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { UpstreamFailure } from './upstream-failure.js'
import type { TickBatcher } from './tick-batcher.js'
import { MAX_BUFFERED_BYTES, BufferedBody, type Body } from './buffered-body.js'

type Controller = Dispatcher.DispatchController

export interface ResponseHead {
  statusCode: number
  headers: IncomingHttpHeaders
}

/** An answer of the order source; its body is a WholeBody where it is short, and no error. */
export interface UpstreamResponse extends ResponseHead {
  body: Body
}

export interface ResponseConsumer {
  /** Is told of an answer as soon as it begins */
  begins?: (head: ResponseHead) => void
  /** Gets the answer; what breaks off after that, its body tells */
  answered: (answer: UpstreamResponse) => void
  /** Is told, in the place of an answer, why there is none */
  failed: (error: Error) => void
}

/** Whether an answer never has a body, whatever its headers say of one (RFC 9110, 6.4.1). */
export const isBodiless = ({ statusCode }: Pick<ResponseHead, 'statusCode'>): boolean =>
  statusCode === 204 || statusCode === 304

/** Whether the body of an answer is known to fit in the memory of many askers. */
export const isShort = (head: ResponseHead): boolean =>
  isBodiless(head) || Number(head.headers['content-length'] ?? Infinity) <= MAX_BUFFERED_BYTES

/** A body as it comes, at the pace of whoever reads it; who destroys it gives up the call. */
class ComingBody extends Readable {
  readonly #controller: Controller
  #isWhole = false

  constructor(controller: Controller) {
    super({ highWaterMark: MAX_BUFFERED_BYTES })
    this.#controller = controller
    // It may break off before anybody reads it; whoever then does is told.
    this.on('error', () => undefined)
  }

  comes(chunk: Buffer): void {
    if (!this.push(chunk)) this.#controller.pause()
  }

  ends(): void {
    this.#isWhole = true
    this.push(null)
  }

  override _read(): void {
    this.#controller.resume()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const reason = error ?? new UpstreamFailure('cancelled', { wasSent: true })
    if (!this.#isWhole) this.#controller.abort(reason)
    done(this.#isWhole ? error : reason)
  }
}

/**
 * Reads the answer to a call, which an Exchange hands it, for the one who asks. The HTTP client's own
 * reader turns every head back into what it was on the wire, and hands on every body as a stream.
 */
export class ResponseReader implements Dispatcher.DispatchHandler {
  readonly #asker: ResponseConsumer
  readonly #isHead: boolean
  readonly #turn: TickBatcher
  #isAnswered = false
  #begun: { head: ResponseHead; parts: Buffer[] } | null = null
  #body: ComingBody | null = null

  /** @param turn hands over answers of which nothing is missing any more */
  constructor({ method }: Dispatcher.DispatchOptions, asker: ResponseConsumer, turn: TickBatcher) {
    this.#asker = asker
    this.#isHead = method === 'HEAD'
    this.#turn = turn
    turn.begin()
  }

  onRequestStart(): void {
    // By this the HTTP client knows a handler that takes what follows.
  }

  onResponseStart(controller: Controller, statusCode: number, headers: IncomingHttpHeaders): void {
    const head = { statusCode, headers }
    this.#asker.begins?.(head)
    if (isBodiless(head)) {
      // Where it tells the length of the whole, the HTTP client takes it for cut.
      this.#answer(head, new BufferedBody(Buffer.alloc(0), null))
    } else if (isShort(head) && statusCode < 400 && !this.#isHead) {
      this.#begun = { head, parts: [] }
    } else {
      this.#body = new ComingBody(controller)
      this.#answer(head, this.#body)
    }
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    this.#begun?.parts.push(chunk)
    this.#body?.comes(chunk)
  }

  onResponseEnd(): void {
    this.#body?.ends()
    if (this.#begun === null) return
    const { head, parts } = this.#begun
    this.#answer(head, new BufferedBody(Buffer.concat(parts), null))
  }

  onResponseError(_controller: Controller | undefined, error: Error): void {
    this.#body?.destroy(error)
    if (this.#isAnswered) return
    this.#turn.end()
    this.#asker.failed(error)
  }

  #answer({ statusCode, headers }: ResponseHead, body: Body): void {
    this.#isAnswered = true
    const answer = { statusCode, headers, body }
    if (body instanceof BufferedBody) {
      this.#turn.ready(() => this.#handOver(answer))
    } else {
      this.#turn.end()
      this.#handOver(answer)
    }
  }

  #handOver(answer: UpstreamResponse): void {
    try {
      this.#asker.answered(answer)
    } catch (error) {
      this.#asker.failed(error instanceof Error ? error : new Error(String(error)))
    }
  }
}
