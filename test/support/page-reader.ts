import type { Test } from 'tap'
import { ADMIN, ADMIN_ACCOUNTS } from './sign-in.js'
import { startApp, type TestApp } from './app.js'
import { hashPasswordSync } from '../../src/accounts/password.js'

/** A second administrator, for what two do to one another. */
export const COLLEAGUE = { email: 'colleague@example.com', password: 'another demo only' }

export interface PageAnswer {
  status: number
  headers: Headers
  text: string
}

/** A browser without scripts: it keeps cookies, sends forms, and follows nothing by itself. */
export interface Reader {
  get: (path: string, headers?: Record<string, string>) => Promise<PageAnswer>
  post: (
    path: string,
    fields: Record<string, string> | URLSearchParams,
    headers?: Record<string, string>,
  ) => Promise<PageAnswer>
  /** Asks the API, with the same session. */
  call: (method: string, path: string, body?: unknown) => Promise<any>
}

/** What htmx says with a request for a part of a page. */
export const HTMX = { 'hx-request': 'true', 'hx-request-type': 'partial' }

async function logIn(url: string, account: typeof ADMIN): Promise<Reader> {
  const cookies = new Map<string, string>()
  async function send(path: string, options: RequestInit): Promise<PageAnswer> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url + path, {
      ...options,
      redirect: 'manual',
      headers: { origin: url, cookie, ...(options.headers as Record<string, string>) },
    })
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  const reader: Reader = {
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
  const { status } = await reader.post('/admin/login', account)
  if (status !== 303) throw new Error(`the login was answered with ${status}`)
  return reader
}

/** The real service, with two administrators logged in. */
export async function startReaders(
  t: Test,
  environment: NodeJS.ProcessEnv = {},
): Promise<TestApp & { ann: Reader; ben: Reader }> {
  const started = await startApp(t, {
    ADMIN_ACCOUNTS: `${ADMIN_ACCOUNTS},${COLLEAGUE.email}:${hashPasswordSync(COLLEAGUE.password)}`,
    ...environment,
  })
  return {
    ...started,
    ann: await logIn(started.url, ADMIN),
    ben: await logIn(started.url, COLLEAGUE),
  }
}
