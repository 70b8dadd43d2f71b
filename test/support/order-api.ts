import type { Test } from 'tap'
import { startApp, type TestApp } from './app.js'
import { ADMIN_ACCOUNTS, signIn } from './sign-in.js'

export interface ApiResponse {
  status: number
  headers: Headers
  body: any
}

export interface OrderApi extends TestApp {
  /** Sends a request as an administrator, with a JSON body. */
  call: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<ApiResponse>
}

/** Starts the service and signs in an administrator. */
export async function startOrderApi(
  t: Test,
  environment: NodeJS.ProcessEnv = {},
): Promise<OrderApi> {
  const started = await startApp(t, { ADMIN_ACCOUNTS, ...environment })
  const token = await signIn(started.url)
  return {
    ...started,
    async call(method, path, body, headers = {}) {
      const response = await fetch(started.url + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return {
        status: response.status,
        headers: response.headers,
        body: text === '' ? null : JSON.parse(text),
      }
    },
  }
}
