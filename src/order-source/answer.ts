import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { OrderSourceFailure } from './failure.js'
import { SHORT, WholeBody } from './whole-body.js'

type Controller = Dispatcher.DispatchController

export interface Head {
  statusCode: number
  headers: IncomingHttpHeaders
}

/** An answer of the order source; what is short, and no error, has a WholeBody. */
export interface Answer extends Head {
  body: Readable
}

export interface Asker {
  /** Is told of an answer as soon as it begins */
  begins?: (head: Head) => void
  /** Gets the answer; what breaks off after that, its body tells */
  answered: (answer: Answer) => void
  /** Is told instead why there is none */
  failed: (error: Error) => void
}

/** Whether the body of an answer is known to fit in the memory of many askers. */
export const isShort = ({ statusCode, headers }: Head): boolean =>
  statusCode === 204 || statusCode === 304 || Number(headers['content-length'] ?? Infinity) <= SHORT

/** A body as it comes, at the pace of whoever reads it; who destroys it gives up the call. */
class ComingBody extends Readable {
  readonly #controller: Controller
  #isWhole = false

  constructor(controller: Controller) {
    super()
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
    const reason = error ?? new OrderSourceFailure('cancelled', { wasSent: true })
    if (!this.#isWhole) this.#controller.abort(reason)
    done(this.#isWhole ? error : reason)
  }
}

/**
 * Reads the answer to a call for the one who asks. The HTTP client's own reader makes a stream of
 * every answer, which costs a short one more than all else.
 */
export class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #asker: Asker
  readonly #hasBody: boolean
  #head: Head | null = null
  #parts: Buffer[] = []
  #body: ComingBody | null = null

  constructor({ method }: Dispatcher.DispatchOptions, asker: Asker) {
    this.#asker = asker
    this.#hasBody = method !== 'HEAD'
  }

  onRequestStart(): void {
    // Nothing to do before there is an answer.
  }

  onResponseStart(controller: Controller, statusCode: number, headers: IncomingHttpHeaders): void {
    const head = { statusCode, headers }
    this.#head = head
    this.#asker.begins?.(head)
    if (this.#hasBody && statusCode < 400 && isShort(head)) return
    this.#body = new ComingBody(controller)
    this.#asker.answered({ ...head, body: this.#body })
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.#body === null) this.#parts.push(chunk)
    else this.#body.comes(chunk)
  }

  onResponseEnd(): void {
    if (this.#body !== null) this.#body.ends()
    else if (this.#head !== null) {
      const body = new WholeBody(Buffer.concat(this.#parts), null)
      this.#asker.answered({ ...this.#head, body })
    }
  }

  onResponseError(_controller: Controller | undefined, error: Error): void {
    if (this.#body === null) this.#asker.failed(error)
    else this.#body.destroy(error)
  }
}
