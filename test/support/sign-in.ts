import { hashPasswordSync } from '../../src/accounts/password.js'
import { postJson } from './app.js'

/** The administrator of the tests and of the documentation's examples. */
export const ADMIN = { email: 'admin@example.com', password: 'clearwake demo only' }

/** ADMIN_ACCOUNTS with that administrator only. */
export const ADMIN_ACCOUNTS = `${ADMIN.email}:${hashPasswordSync(ADMIN.password)}`

/** Sends a sign-in request. */
export const postLogin = (
  url: string,
  credentials: unknown = ADMIN,
  headers: Record<string, string> = {},
) => postJson(`${url}/api/admin/login`, credentials, headers)

export type LoginResponse = Awaited<ReturnType<typeof postLogin>>

/** The Set-Cookie headers of a response, by cookie name. */
export const parseSetCookies = ({ headers }: Pick<LoginResponse, 'headers'>): Map<string, string> =>
  new Map(headers.getSetCookie().map((cookie) => [cookie.split('=', 1)[0] ?? '', cookie]))

/** The Cookie header that a browser sends after a response. */
export const cookieHeader = (response: Pick<LoginResponse, 'headers'>): string =>
  [...parseSetCookies(response).values()].map((cookie) => cookie.split(';', 1)[0]).join('; ')

/** Signs in; returns the token. */
export async function signIn(url: string, credentials: unknown = ADMIN): Promise<string> {
  const { status, body } = await postLogin(url, credentials)
  if (status !== 200) throw new Error(`the sign-in returned ${status}`)
  return body.token as string
}

/** Requests the account of a token. */
export const verify = (url: string, token: string): Promise<Response> =>
  fetch(`${url}/api/admin/verify`, { headers: { authorization: `Bearer ${token}` } })
