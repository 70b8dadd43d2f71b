import { normalizeIP } from '@fastify/rate-limit'

/**
 * Whom a request counts for: its address, or of IPv6 the network of 64 bits, as one client has
 * all of it.
 */
export const getClientAddress = ({ ip }: { ip: string | undefined }): string =>
  // A client that has gone already has no address.
  ip?.includes(':') ? normalizeIP(ip) : (ip ?? '')
