import { isIP } from 'node:net'

const isAddress = (text: string): boolean => {
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
    (part) => /^(loopback|linklocal|uniquelocal)$/.test(part) || isAddress(part),
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
