import { createHash, randomBytes } from 'node:crypto'
import type { Retirement } from '../orders/order.js'
import type { ProviderCertificate } from '../provider/offset-order.js'

/**
 * What a certificate states. It is stored when the certificate is issued, and only changes when
 * personal data is erased.
 */
export interface CertificateContent {
  /** `null` if it was erased or is not published */
  beneficiary: string | null
  isPublic: boolean
  vesselName: string | null
  imoNumber: string | null
  /** The trip in one line */
  trip: string | null
  /** When the guest ordered, ISO 8601; missing in certificates of earlier versions */
  orderedAt?: string
  /** Mass of the carbon credits, kg CO2e */
  co2eKg: number
  portfolioName: string | null
  /** The type is missing if the provider does not state it, and in certificates of earlier versions */
  projects: { name: string; country: string | null; kind?: string | null }[]
  /** Evidence entered by staff; missing in certificates of earlier versions */
  retirement?: Retirement | null
  /** `null` if the carbon credits were bought elsewhere */
  provider: (ProviderCertificate & { name: string | null; orderId: string }) | null
}

export interface Certificate {
  /** The last part of its URL; 128 random bits */
  code: string
  orderId: string
  /** ISO 8601 */
  issuedAt: string
  content: CertificateContent
}

const CODE_BYTES = 16

/** Creates the code of a certificate. */
export const createCode = (): string => randomBytes(CODE_BYTES).toString('base64url')

/** Letters and digits that are not easily confused with each other. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'

/** The number that people read out, such as `7KQ2-M9XP`. It does not reveal the code. */
export function getCertificateNumber({ code }: Pick<Certificate, 'code'>): string {
  const digest = createHash('sha256').update(`certificate number ${code}`).digest()
  const letters = Array.from(digest.subarray(0, 8), (byte) => ALPHABET[byte % ALPHABET.length])
  return `${letters.slice(0, 4).join('')}-${letters.slice(4).join('')}`
}

/**
 * The content that is public. Without the guest's consent, the beneficiary, the vessel, the trip
 * and the details of the retirement are left out. The details link to the provider's certificate,
 * or to the registry, which may show the names.
 */
export function toPublished(content: CertificateContent): CertificateContent {
  if (content.isPublic) return content
  return {
    ...content,
    beneficiary: null,
    vesselName: null,
    imoNumber: null,
    trip: null,
    retirement: null,
    provider: null,
  }
}
