import type { Test } from 'tap'
import type { Extras } from '../../src/app.js'
import { startApp, type TestApp } from './app.js'
import { ADMIN, ADMIN_ACCOUNTS, hashCheaply } from './sign-in.js'

/** A second administrator, for concurrent edits. */
export const SECOND_ADMIN = { email: 'colleague@example.com', password: 'another demo only' }

export interface PageResponse {
  status: number
  headers: Headers
  text: string
}

/** A browser without scripts: keeps cookies, sends forms, does not follow redirects. */
export interface PageClient {
  get: (path: string, headers?: Record<string, string>) => Promise<PageResponse>
  post: (
    path: string,
    fields: Record<string, string> | URLSearchParams,
    headers?: Record<string, string>,
  ) => Promise<PageResponse>
  /** Sends a request to the API with the same session */
  call: (method: string, path: string, body?: unknown) => Promise<any>
}

/** Headers of an htmx request for a fragment. */
export const HTMX_HEADERS = { 'hx-request': 'true', 'hx-request-type': 'partial' }

/** Creates a function that sends requests and keeps cookies; it does not follow redirects. */
export function createSession(url: string, defaultHeaders: Record<string, string>) {
  const cookies = new Map<string, string>()
  return async (path: string, options: RequestInit): Promise<PageResponse> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url + path, {
      ...options,
      redirect: 'manual',
      headers: { ...defaultHeaders, cookie, ...(options.headers as Record<string, string>) },
    })
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
}

export async function signInClient(
  url: string,
  account: { email: string; password: string },
): Promise<PageClient> {
  const send = createSession(url, { origin: url })
  const client: PageClient = {
    get: (path, headers = {}) => send(path, { headers }),
    post: (path, fields, headers = {}) =>
      send(path, { method: 'POST', headers, body: new URLSearchParams(fields) }),
    async call(method, path, body) {
      const { text } = await send(path, {
        method,
        ...(body === undefined
          ? {}
          : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      })
      return JSON.parse(text)
    },
  }
  const { status } = await client.post('/admin/login', account)
  if (status !== 303) throw new Error(`Sign-in failed with status ${status}`)
  return client
}

/** Starts the service and signs in two administrators. */
export async function startTwoAdmins(
  t: Test,
  environment: NodeJS.ProcessEnv = {},
  extras: Extras = {},
): Promise<TestApp & { ann: PageClient; ben: PageClient }> {
  const accounts = `${ADMIN_ACCOUNTS},${SECOND_ADMIN.email}:${hashCheaply(SECOND_ADMIN.password)}`
  const started = await startApp(t, { ADMIN_ACCOUNTS: accounts, ...environment }, extras)
  return {
    ...started,
    ann: await signInClient(started.url, ADMIN),
    ben: await signInClient(started.url, SECOND_ADMIN),
  }
}
