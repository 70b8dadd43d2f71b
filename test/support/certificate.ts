import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** PEM. */
export interface Certificate {
  key: string
  cert: string
}

const DAY_MS = 86_400_000

function encodeDer(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const encodedLength =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...encodedLength]), content])
}

const [SEQUENCE, SET, OID, INTEGER, BIT_STRING, OCTET_STRING, UTF8_STRING, GENERALIZED_TIME] = [
  0x30, 0x31, 0x06, 0x02, 0x03, 0x04, 0x0c, 0x18,
]
const ECDSA_SHA256 = encodeDer(SEQUENCE, encodeDer(OID, Buffer.from('2a8648ce3d040302', 'hex')))
const COMMON_NAME = encodeDer(OID, Buffer.from('550403', 'hex'))
const SUBJECT_ALT_NAME = encodeDer(OID, Buffer.from('551d11', 'hex'))
const VERSION_3 = encodeDer(0xa0, encodeDer(INTEGER, Buffer.from([2])))

const encodeName = (commonName: string): Buffer =>
  encodeDer(
    SEQUENCE,
    encodeDer(
      SET,
      encodeDer(SEQUENCE, COMMON_NAME, encodeDer(UTF8_STRING, Buffer.from(commonName))),
    ),
  )

const encodeTime = (milliseconds: number): Buffer =>
  encodeDer(
    GENERALIZED_TIME,
    Buffer.from(new Date(milliseconds).toISOString().replace(/[-:T]|\.\d+/g, '')),
  )

/**
 * Creates a self-signed certificate (RFC 5280) for an IPv4 address, and its key.
 *
 * @param days of validity, from yesterday on; 0 creates one that expired a minute ago
 */
export function createCertificate({ address = '127.0.0.1', days = 2 } = {}): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const notBefore = Date.now() - DAY_MS
  const notAfter = days === 0 ? Date.now() - 60_000 : notBefore + days * DAY_MS
  const name = encodeName('Untrusted test authority')
  const ipAddress = encodeDer(0x87, Buffer.from(address.split('.').map(Number)))
  const altNames = encodeDer(
    SEQUENCE,
    SUBJECT_ALT_NAME,
    encodeDer(OCTET_STRING, encodeDer(SEQUENCE, ipAddress)),
  )
  const tbsCertificate = encodeDer(
    SEQUENCE,
    VERSION_3,
    encodeDer(INTEGER, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    name,
    encodeDer(SEQUENCE, encodeTime(notBefore), encodeTime(notAfter)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    encodeDer(0xa3, encodeDer(SEQUENCE, altNames)),
  )
  const signature = sign('sha256', tbsCertificate, privateKey)
  const certificate = encodeDer(
    SEQUENCE,
    tbsCertificate,
    ECDSA_SHA256,
    encodeDer(BIT_STRING, Buffer.from([0]), signature),
  )
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
  }
}
