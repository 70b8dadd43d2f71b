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

const listed = (text: string): string[] => text.split(',').map((part) => part.trim())

/** Whether a text is something that TRUST_PROXY may be set to. */
export const isValidTrustProxy = (text: string): boolean =>
  /^(true|false|\d{1,2})$/.test(text) ||
  listed(text).every((part) => /^(loopback|linklocal|uniquelocal)$/.test(part) || isAddress(part))

/**
 * TRUST_PROXY as Fastify wants it; nobody is trusted where it is not valid.
 *
 * Fastify takes no number of hops, since it holds only where the port is reached
 * through the proxies alone. On a PaaS it is, and addresses of its proxies are not known.
 */
export function parseTrustProxy(
  text = 'false',
): boolean | string[] | ((address: string, hop: number) => boolean) {
  const setting = text.trim()
  if (!isValidTrustProxy(setting) || setting === 'false') return false
  if (setting === 'true') return true
  if (/^\d+$/.test(setting)) return (_address, hop) => hop < Number(setting)
  return listed(setting)
}
