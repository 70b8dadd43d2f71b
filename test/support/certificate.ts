import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

export interface Certificate {
  /** PEM */
  key: string
  cert: string
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const [SEQUENCE, SET, OID, INTEGER, BITS, OCTETS, UTF8, TIME] = [
  0x30, 0x31, 0x06, 0x02, 0x03, 0x04, 0x0c, 0x18,
]
const ECDSA_SHA256 = der(SEQUENCE, der(OID, Buffer.from('2a8648ce3d040302', 'hex')))
const COMMON_NAME = der(OID, Buffer.from('550403', 'hex'))
const ALTERNATIVE_NAMES = der(OID, Buffer.from('551d11', 'hex'))
const V3 = der(0xa0, der(INTEGER, Buffer.from([2])))

const getName = (text: string): Buffer =>
  der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8, Buffer.from(text)))))

const getTime = (milliseconds: number): Buffer =>
  der(TIME, Buffer.from(new Date(milliseconds).toISOString().replace(/[-:T]|\.\d+/g, '')))

/**
 * Creates a self-signed certificate (RFC 5280) for an IPv4 address, and its key.
 *
 * @param days of validity from yesterday; 0 has just expired
 */
export function createCertificate({ address = '127.0.0.1', days = 2 } = {}): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const yesterday = Date.now() - 86_400_000
  const until = days === 0 ? Date.now() - 60_000 : yesterday + days * 86_400_000
  const issuer = getName('An authority that nobody knows')
  const altName = der(0x87, Buffer.from(address.split('.').map(Number)))
  const toBeSigned = der(
    SEQUENCE,
    V3,
    der(INTEGER, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    issuer,
    der(SEQUENCE, getTime(yesterday), getTime(until)),
    issuer,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(SEQUENCE, der(SEQUENCE, ALTERNATIVE_NAMES, der(OCTETS, der(SEQUENCE, altName))))),
  )
  const signature = sign('sha256', toBeSigned, privateKey)
  const certificate = der(
    SEQUENCE,
    toBeSigned,
    ECDSA_SHA256,
    der(BITS, Buffer.from([0]), signature),
  )
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
  }
}
