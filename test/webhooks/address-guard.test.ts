import type { LookupAddress } from 'node:dns'
import t from 'tap'
import {
  createGuardedLookup,
  isPublicAddress,
  PrivateAddressError,
} from '../../src/core/http/public-address.js'
import { isEndpointUrl } from '../../src/webhooks/endpoint-schemas.js'

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '192.169.0.0',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2a00:1450:4001:81b::200e',
  '2001:4860:4860::8888',
  '2001:200::1',
]

const NOT_PUBLIC = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.100.100.200', // Alibaba Cloud's metadata
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16', // Azure
  '169.254.169.254', // metadata
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.0.192', // Oracle Cloud's metadata
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1', // IPv4-compatible
  '::ffff:127.0.0.1', // IPv4-mapped
  '::ffff:7f00:1',
  '::ffff:8.8.8.8',
  '64:ff9b::7f00:1', // NAT64
  '64:ff9b:1::a00:1',
  '100::1', // discard
  '2001::1', // Teredo
  '2001:0:7f00:1::',
  '2001:10::1', // ORCHID
  '2001:db8::1',
  '2002:7f00:1::', // 6to4
  '2002:a00:1::1',
  '3fff::1',
  '5f00::1', // segment routing
  'fc00::1',
  'fd00:ec2::254', // AWS metadata
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  '',
  'localhost',
  '127.1',
  '0x7f000001',
  '2130706433',
]

t.test('knows which addresses are public', async (t) => {
  for (const address of PUBLIC) t.equal(isPublicAddress(address), true, address)
  for (const address of NOT_PUBLIC) t.equal(isPublicAddress(address), false, address)
})

t.test('accepts only https URLs with a public host', async (t) => {
  for (const url of [
    'https://shop.example.com/hooks?key=1',
    'https://shop.example.com:8443/',
    'https://1.1.1.1/',
    'https://[2606:4700:4700::1111]/',
    'HTTPS://SHOP.EXAMPLE.COM',
  ]) {
    t.equal(isEndpointUrl(url, false), true, url)
    t.equal(isEndpointUrl(url, true), true, url)
  }
  for (const url of [
    '',
    'shop.example.com',
    '//shop.example.com',
    'http://shop.example.com/',
    'ftp://shop.example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://user:password@shop.example.com/',
    'https://user@shop.example.com/',
    'https://localhost/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0x7f.1/',
    'https://2130706433/',
    'https://017700000001/',
    'https://①②⑦.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://[fe80::1]/',
    'https://169.254.169.254/latest/meta-data',
    'https://10.0.0.1/',
    'http://127.0.0.2:3000/',
    'http://[::1]:3000/',
  ]) {
    t.equal(isEndpointUrl(url, false), false, url)
    t.equal(isEndpointUrl(url, true), false, `${url}, loopback allowed`)
  }
  for (const url of ['http://127.0.0.1:4000/hook', 'http://localhost:4000/hook']) {
    t.equal(isEndpointUrl(url, false), false, url)
    t.equal(isEndpointUrl(url, true), true, `${url}, loopback allowed`)
  }
})

interface Looked {
  error: Error | null
  addresses: unknown
}

const look = (
  addresses: LookupAddress[],
  { all = true, hostname = 'shop.example.com' } = {},
): Promise<Looked> =>
  new Promise((resolve) => {
    const lookup = createGuardedLookup(
      (name) => name === 'localhost',
      (_name, _options, callback) => callback(null, addresses),
    )
    lookup(hostname, { all }, (error, address) => resolve({ error, addresses: address }))
  })

t.test('a look-up fails unless every address is public', async (t) => {
  const ours = { address: '1.1.1.1', family: 4 }
  const theirs = { address: '2606:4700:4700::1111', family: 6 }
  t.same(await look([ours, theirs]), { error: null, addresses: [ours, theirs] })
  t.same(await look([ours], { all: false }), { error: null, addresses: '1.1.1.1' })
  for (const address of NOT_PUBLIC.filter(Boolean)) {
    const family = address.includes(':') ? 6 : 4
    const { error } = await look([ours, { address, family }])
    t.ok(error instanceof PrivateAddressError, address)
  }
  t.ok((await look([])).error, 'no address at all')
  const local = [{ address: '127.0.0.1', family: 4 }]
  t.same((await look(local, { hostname: 'localhost' })).addresses, local, 'but for allowed names')
})
