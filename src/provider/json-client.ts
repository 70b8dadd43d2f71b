import type { Dispatcher } from 'undici'
import { hasContentEncoding } from './proxy-headers.js'
import { createSecretRedactor } from './secret-redactor.js'
import type { Upstream } from './upstream.js'

export interface JsonResponse {
  status: number
  /** `undefined` where it is no JSON, or more than anybody needs */
  body: unknown
  /** What its Link header says, maybe empty */
  link: string
}

export interface JsonRequest {
  method: 'GET' | 'POST'
  /** Below the base, with its escapes */
  path: string
  body?: unknown
  headers?: Record<string, string>
}

const MOST_BYTES = 5 * 1024 * 1024

async function textOf({ headers, body }: Dispatcher.ResponseData): Promise<string | null> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body) {
    const chunk = Buffer.from(part as Uint8Array)
    parts.push(chunk)
    bytes += chunk.length
    // Leaving ends the call.
    if (bytes > MOST_BYTES || hasContentEncoding(headers['content-encoding'])) return null
  }
  return Buffer.concat(parts).toString()
}

function jsonOf(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Makes a function that calls the order source with JSON; it throws OrderSourceFailure. Where an
 * answer quotes the token, asterisks stand in its place.
 */
export function createJsonClient({ baseUrl, basePath, token, dispatcher }: Upstream) {
  const { origin } = new URL(baseUrl)
  const cover = createSecretRedactor(token)
  return async ({ method, path, body, headers }: JsonRequest): Promise<JsonResponse> => {
    const answer = await dispatcher.request({
      origin,
      path: basePath + path,
      method,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'Clearwake',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const { statusCode: status, headers: given } = answer
    const text = await textOf(answer)
    const covered = text === null ? null : cover.over(text)
    return { status, body: jsonOf(covered), link: String(given.link ?? '') }
  }
}
