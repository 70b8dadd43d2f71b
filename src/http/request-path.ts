import type { IncomingMessage } from 'node:http'

const pathOf = (url: string): string => url.split('?', 1)[0] ?? ''

/** The path of an address with its escapes read; `null` where they cannot be. */
export function decodePath(url: string): string | null {
  try {
    return decodeURI(pathOf(url))
  } catch {
    return null
  }
}

/** Whether an address is written so that it can be read. */
export const isDecodable = (url: string): boolean => decodePath(url) !== null

/** Whether an address is the API's: its answers are JSON, those of all others are pages. */
export const isApiPath = (url: string): boolean =>
  /^\/api(?:[/?]|$)/.test(url.includes('%') ? (decodePath(url) ?? url) : url)

/**
 * What the router is asked for, for the application's `rewriteUrl`. A whole address (RFC 9112,
 * 3.2.2) is cut to its path. One that cannot be decoded is led to where nothing is, as the
 * router would answer it by itself otherwise, past every hook.
 */
export function normalizeUrl({ url = '/' }: Pick<IncomingMessage, 'url'>): string {
  const path = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '')
  const local = path.startsWith('/') ? path : `/${path === '*' ? '%2A' : path}`
  if (!local.includes('%') || isDecodable(local)) return local
  return isApiPath(local) ? '/api/%25' : '/%25'
}
