import { isIP } from 'node:net'
import { normalizeIP } from '@fastify/rate-limit'

/** Key of rate limits: the address, or for IPv6 the /64 network, which belongs to one client. */
export const getClientAddress = ({ ip }: { ip: string | undefined }): string =>
  // A disconnected client has no address.
  ip?.includes(':') ? normalizeIP(ip) : (ip ?? '')

/** The address of `203.0.113.7:20001` or `[2001:db8::7]:20001`, as some proxies write it. */
const removePort = (text: string): string =>
  text.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1')

/** IPv6 zones only have a meaning on one machine. */
const isAddress = (text: string): boolean => isIP(text) > 0 && !text.includes('%')

/**
 * Removes ports from an X-Forwarded-For header. Each proxy appends an address, so nothing before an
 * entry that is no address can be trusted: only the addresses after it are kept.
 */
export function normalizeForwardedFor(header: string): string {
  const entries = header.split(',').map((entry) => removePort(entry.trim()))
  const lastInvalid = entries.findLastIndex((entry) => !isAddress(entry))
  return entries.slice(lastInvalid + 1).join(', ')
}

/** Whether a host, without brackets, is a loopback address. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
