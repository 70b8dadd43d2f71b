import { isIP } from 'node:net'
import { isPublicAddress } from '../core/http/public-address.js'

export const MAX_URL_LENGTH = 2048

/** Hosts of this machine that WEBHOOK_ALLOW_LOOPBACK permits, over http. */
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost'])

export const isLoopbackHost = (hostname: string): boolean => LOOPBACK_HOSTS.has(hostname)

/**
 * Whether webhooks may be sent to a URL, as far as can be determined before its host is resolved.
 */
export function isEndpointUrl(text: string, allowLoopback: boolean): boolean {
  const url = URL.parse(text)
  if (url?.username !== '' || url.password !== '') return false
  if (isLoopbackHost(url.hostname)) return allowLoopback && url.protocol === 'http:'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return url.protocol === 'https:' && (isIP(host) === 0 || isPublicAddress(host))
}
