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

function isProxyAddress(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return (
    bits === undefined ||
    (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
  )
}

const splitList = (text: string): string[] => text.split(',').map((part) => part.trim())

/** Whether a string is a valid value of TRUST_PROXY. */
export const isValidTrustProxy = (text: string): boolean =>
  /^(true|false|\d{1,2})$/.test(text) ||
  splitList(text).every(
    (part) => /^(loopback|linklocal|uniquelocal)$/.test(part) || isProxyAddress(part),
  )

/**
 * Converts TRUST_PROXY to Fastify's option; trusts no proxy if it is invalid. Fastify trusts no
 * proxy if the option is a number, because a hop count is safe only if every request comes through
 * the proxies. On a PaaS, every request does, and the addresses of the proxies are unknown. A
 * function therefore counts the hops.
 */
export function parseTrustProxy(
  text = 'false',
): boolean | string[] | ((address: string, hop: number) => boolean) {
  const setting = text.trim()
  if (!isValidTrustProxy(setting) || setting === 'false') return false
  if (setting === 'true') return true
  if (/^\d+$/.test(setting)) return (_address, hop) => hop < Number(setting)
  return splitList(setting)
}
