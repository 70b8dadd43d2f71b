import { lookup as dnsLookup, type LookupAddress, type LookupAllOptions } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** IPv4 ranges that are not public (IANA special-purpose address registry), and cloud metadata. */
const PRIVATE_IPV4 = [
  '0.0.0.0/8', // this network, unspecified
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8',
  '168.63.129.16/32', // Azure's platform services
  '169.254.0.0/16', // link-local, cloud metadata
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16',
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
]

/**
 * Public IPv6 addresses are global unicast. Loopback, local, IPv4-mapped and NAT64 addresses are
 * outside that range.
 */
const GLOBAL_IPV6 = '2000::/3'
const PRIVATE_IPV6 = [
  '2001::/23', // Teredo and other protocols
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '3fff::/20', // documentation
]

function createBlockList(family: 'ipv4' | 'ipv6', ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    list.addSubnet(address, Number(bits), family)
  }
  return list
}

// One list for each family, because a list compares IPv4 addresses with IPv6 ranges as well.
const privateIpv4 = createBlockList('ipv4', PRIVATE_IPV4)
const globalIpv6 = createBlockList('ipv6', [GLOBAL_IPV6])
const privateIpv6 = createBlockList('ipv6', PRIVATE_IPV6)

/** Whether an IP address, without brackets, is on the public internet. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !privateIpv4.check(address, 'ipv4')
    case 6:
      return globalIpv6.check(address, 'ipv6') && !privateIpv6.check(address, 'ipv6')
    default:
      return false
  }
}

/** A host name resolves to an address that is not public. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError'
}

type LookupAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/**
 * Creates a `lookup` function for sockets. It fails unless all addresses of the host name are
 * public. Because the socket connects to the addresses that it returns, the name cannot resolve to
 * other addresses later (DNS rebinding). Sockets do not look up hosts that are IP addresses: check
 * these with isPublicAddress.
 *
 * @param isAllowed whether a name may have any address
 */
export function createGuardedLookup(
  isAllowed: (hostname: string) => boolean,
  lookup: LookupAll = dnsLookup,
): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) {
        callback(error, '')
        return
      }
      const [first] = addresses
      if (first === undefined) {
        callback(new Error('The host has no address'), '')
      } else if (
        !isAllowed(hostname) &&
        !addresses.every(({ address }) => isPublicAddress(address))
      ) {
        callback(new PrivateAddressError('The host has an address that is not public'), '')
      } else if (options.all) {
        callback(null, addresses)
      } else {
        callback(null, first.address, first.family)
      }
    })
  }
}
