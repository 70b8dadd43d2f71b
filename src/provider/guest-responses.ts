import { Readable } from 'node:stream'
import { createUpstreamHeaders } from './headers.js'
import { readBody, type UpstreamResponse } from './response-body.js'
import type { Upstream } from './upstream.js'

const CACHE_MS = 5_000
const MAX_ENTRIES = 100
const MAX_BODY_BYTES = 2 * 1024 * 1024

/** A response that was read completely, so that several callers can share it. */
export type SharedResponse = Pick<UpstreamResponse, 'statusCode' | 'headers'> & {
  body: Buffer | undefined
}

/**
 * Reads from the provider for guests. Guests who request the same path within five seconds share
 * one response, so that they cannot flood the provider. Failed requests are not kept. Throws a
 * Problem, usually an UpstreamError.
 */
export function createGuestReader(upstream: Upstream) {
  const entries = new Map<string, { startedAt: number; response: Promise<SharedResponse> }>()

  async function read(path: string): Promise<SharedResponse> {
    const headers = createUpstreamHeaders(upstream.token)
    const response = await upstream.request({
      method: 'GET',
      path: upstream.basePath + path,
      headers,
    })
    const { body } = response
    return {
      ...response,
      body: body instanceof Readable ? await readBody(body, MAX_BODY_BYTES) : body,
    }
  }

  return (path: string): Promise<SharedResponse> => {
    const known = entries.get(path)
    if (known !== undefined && performance.now() < known.startedAt + CACHE_MS) {
      return known.response
    }
    entries.delete(path)
    const [oldest] = entries.keys()
    if (entries.size >= MAX_ENTRIES && oldest !== undefined) entries.delete(oldest)
    const entry = { startedAt: performance.now(), response: read(path) }
    entries.set(path, entry)
    entry.response.catch(() => {
      if (entries.get(path) === entry) entries.delete(path)
    })
    return entry.response
  }
}
