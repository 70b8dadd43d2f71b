import { EventEmitter } from 'node:events'
import { Problem } from '../core/http/problem.js'
import type { Readable, Writable } from 'node:stream'
import { UpstreamError } from './upstream-error.js'

interface Limits {
  /** Time limit for the response to start, counted from when the request body is sent */
  timeoutMs: number
  /** Time limit for the whole request */
  maxRequestMs: number
}

/** Emits `abort` once, as undici expects. This is far cheaper than an AbortSignal. */
export class RequestSignal extends EventEmitter {
  reason: Problem | undefined

  abort(reason: Problem): void {
    if (this.reason !== undefined) return
    this.reason = reason
    this.emit('abort')
  }
}

/** Starts the time limits of a request, and cancels the request when its caller disconnects. */
export function startTimeLimits(
  { body, caller }: { body?: Readable | undefined; caller?: Writable | undefined },
  { timeoutMs, maxRequestMs }: Limits,
) {
  const signal = new RequestSignal()

  const onTimeout = () => {
    const isCallerSlow = body !== undefined && !body.readableEnded && body.readableLength === 0
    const wasSent = body?.readableDidRead === true
    signal.abort(
      isCallerSlow
        ? new Problem(408, 'The body was sent too slowly.')
        : new UpstreamError('timeout', { wasSent }),
    )
  }
  const onDisconnect = () => signal.abort(new UpstreamError('cancelled'))

  let responseTimer: NodeJS.Timeout | undefined
  const startResponseTimer = () => {
    responseTimer = setTimeout(onTimeout, timeoutMs)
  }
  const requestTimer = setTimeout(onTimeout, maxRequestMs)
  if (body === undefined) startResponseTimer()
  else body.once('end', startResponseTimer)
  const exceeded = new Promise<never>((_resolve, reject) => {
    signal.once('abort', () => reject(signal.reason ?? new UpstreamError('cancelled')))
  })
  if (caller?.closed) onDisconnect()
  else caller?.once('close', onDisconnect)

  function responseStarted() {
    clearTimeout(responseTimer)
    body?.off('end', startResponseTimer)
  }

  return {
    signal,
    /** Rejects on a timeout or a disconnect, even while the request waits for a connection. */
    exceeded,
    responseStarted,
    stop() {
      responseStarted()
      clearTimeout(requestTimer)
      caller?.off('close', onDisconnect)
    },
  }
}
