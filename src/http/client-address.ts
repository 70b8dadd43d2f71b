import { normalizeIP } from '@fastify/rate-limit'

/** Key of rate limits: the address, or for IPv6 the /64 network, which belongs to one client. */
export const getClientAddress = ({ ip }: { ip: string | undefined }): string =>
  // A disconnected client has no address.
  ip?.includes(':') ? normalizeIP(ip) : (ip ?? '')
