import type { Readable } from 'node:stream'
import { Problem } from '../http/problem.js'
import { toUpstreamError, UpstreamError } from './upstream-error.js'

interface Limits {
  /** For the response to start, after the request body is sent */
  timeoutMs: number
  /** For the whole request */
  maxRequestMs: number
}

/** Starts the time limits of a request, and cancels it when its caller does. */
export function startTimeLimits(
  { body, signal: callerSignal }: { body?: Readable | undefined; signal?: AbortSignal | undefined },
  { timeoutMs, maxRequestMs }: Limits,
) {
  const controller = new AbortController()
  const { signal } = controller

  const onTimeout = () => {
    const isCallerSlow = body !== undefined && !body.readableEnded && body.readableLength === 0
    const wasSent = body?.readableDidRead === true
    controller.abort(
      isCallerSlow
        ? new Problem(408, 'The body was sent too slowly.')
        : new UpstreamError('timeout', { wasSent }),
    )
  }
  const onCancel = () => controller.abort(new UpstreamError('cancelled'))

  let responseTimer: NodeJS.Timeout | undefined
  const startResponseTimer = () => {
    responseTimer = setTimeout(onTimeout, timeoutMs)
  }
  const requestTimer = setTimeout(onTimeout, maxRequestMs)
  if (body === undefined) startResponseTimer()
  else body.once('end', startResponseTimer)
  callerSignal?.addEventListener('abort', onCancel, { once: true })
  if (callerSignal?.aborted) onCancel()

  function responseStarted() {
    clearTimeout(responseTimer)
    body?.off('end', startResponseTimer)
  }

  return {
    signal,
    /** Rejects when a limit is exceeded, also while the request waits for a connection. */
    exceeded: new Promise<never>((_resolve, reject) => {
      const onAbort = () => reject(toUpstreamError(signal.reason, false))
      if (signal.aborted) onAbort()
      else signal.addEventListener('abort', onAbort, { once: true })
    }),
    responseStarted,
    stop() {
      responseStarted()
      clearTimeout(requestTimer)
      callerSignal?.removeEventListener('abort', onCancel)
    },
  }
}
