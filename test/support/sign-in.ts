import { hashSync } from '@node-rs/argon2'
import { postJson } from './app.js'

/** The administrator of the tests and of the examples in the documentation. */
export const ADMIN = { email: 'admin@example.com', password: 'clearwake demo only' }

/** An argon2id hash that takes little time and memory, because the tests sign in often. */
export const hashCheaply = (password: string): string =>
  hashSync(password, { memoryCost: 8, timeCost: 1, parallelism: 1 })

/** Value of the environment variable. */
export const ADMIN_ACCOUNTS = `${ADMIN.email}:${hashCheaply(ADMIN.password)}`

export const postLogin = (
  url: string,
  credentials: unknown = ADMIN,
  headers: Record<string, string> = {},
) => postJson(`${url}/api/admin/login`, credentials, headers)

export type LoginResponse = Awaited<ReturnType<typeof postLogin>>

/** The Set-Cookie headers of a response, by cookie name. */
export const parseSetCookies = ({ headers }: Pick<LoginResponse, 'headers'>): Map<string, string> =>
  new Map(headers.getSetCookie().map((cookie) => [cookie.split('=', 1)[0] ?? '', cookie]))

/** The Cookie header for the cookies that a response sets. */
export const cookieHeader = (response: Pick<LoginResponse, 'headers'>): string =>
  [...parseSetCookies(response).values()].map((cookie) => cookie.split(';', 1)[0]).join('; ')

/** Signs in, and returns the token. Throws if it fails. */
export async function signIn(url: string, credentials: unknown = ADMIN): Promise<string> {
  const { status, body } = await postLogin(url, credentials)
  if (status !== 200) throw new Error(`Sign-in failed with status ${status}`)
  return body.token as string
}

/** Requests the user of a token. */
export const verify = (url: string, token: string): Promise<Response> =>
  fetch(`${url}/api/admin/verify`, { headers: { authorization: `Bearer ${token}` } })
