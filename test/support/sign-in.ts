import { hashPasswordSync } from '../../src/accounts/password.js'
import { postJson } from './app.js'

/** An administrator of the tests, and the one in the examples of the documentation. */
export const ADMIN = { email: 'admin@example.com', password: 'clearwake demo only' }

/** ADMIN_ACCOUNTS of that administrator alone. */
export const ADMIN_ACCOUNTS = `${ADMIN.email}:${hashPasswordSync(ADMIN.password)}`

/** Tries to log in; headers may say from where. */
export const postLogin = (
  url: string,
  credentials: unknown = ADMIN,
  headers: Record<string, string> = {},
) => postJson(`${url}/api/admin/login`, credentials, headers)

export type LoginResponse = Awaited<ReturnType<typeof postLogin>>

/** The cookies that an answer sets, by name, as their whole header. */
export const parseSetCookies = ({ headers }: Pick<LoginResponse, 'headers'>): Map<string, string> =>
  new Map(headers.getSetCookie().map((cookie) => [cookie.split('=', 1)[0] ?? '', cookie]))

/** What a browser sends back of the cookies that an answer has set. */
export const cookieHeader = (response: Pick<LoginResponse, 'headers'>): string =>
  [...parseSetCookies(response).values()].map((cookie) => cookie.split(';', 1)[0]).join('; ')

/** The token of a login that must succeed. */
export async function signIn(url: string, credentials: unknown = ADMIN): Promise<string> {
  const { status, body } = await postLogin(url, credentials)
  if (status !== 200) throw new Error(`the login was answered with ${status}`)
  return body.token as string
}

/** Who a token belongs to, as the service tells. */
export const verify = (url: string, token: string): Promise<Response> =>
  fetch(`${url}/api/admin/verify`, { headers: { authorization: `Bearer ${token}` } })
