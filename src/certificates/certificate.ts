import { createHash, randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { isPlaced, type FulfilmentAttempt } from '../orders/attempt.js'
import { isPaid } from '../orders/order-status.js'
import type { Order, Retirement } from '../orders/order.js'
import type { Project, ProviderCertificate } from '../provider/offset-order.js'

/** Only the name and the country are in all certificates of earlier versions. */
export type CertifiedProject = Pick<Project, 'name' | 'country'> & {
  [Detail in 'id' | 'kind' | 'standard' | 'vintage' | 'registry' | 'registryUrl']?:
    Project[Detail] | undefined
}

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
  /** Missing in certificates of earlier versions */
  portfolioId?: number | null
  projects: CertifiedProject[]
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
 * The content that is public. Without the guest's consent, the beneficiary, the vessel and the trip
 * are left out. If the beneficiary was erased, so is the proof, because a registry may still show the
 * name.
 */
export function toPublished(content: CertificateContent): CertificateContent {
  if (content.isPublic) return content
  const { beneficiary, retirement = null, provider } = content
  const isErased = beneficiary === null
  return {
    ...content,
    beneficiary: null,
    vesselName: null,
    imoNumber: null,
    trip: null,
    retirement: isErased ? null : retirement,
    provider: isErased ? null : provider,
  }
}

/**
 * Whether an order is paid, and there is evidence that its carbon credits were retired: the
 * retirement entered by staff, or the fulfilled order at the provider. An ID that was typed in is no
 * evidence.
 *
 * @param attempt the latest attempt to place the order
 */
export const hasEvidence = (order: Order, attempt: FulfilmentAttempt | null): boolean =>
  isPaid(order.status) &&
  (order.retirement !== null || (order.status === 'fulfilled' && isPlaced(order, attempt)))

/** Whether a certificate states the retirement that its order has. */
export const isSameRetirement = (
  { content }: Pick<Certificate, 'content'>,
  order: Order,
): boolean => isDeepStrictEqual(content.retirement ?? null, order.retirement)

/**
 * Whether an issued certificate is still valid: the order still has the evidence that it states.
 * Certificates of earlier versions may state none.
 *
 * @param attempt the latest attempt to place the order
 */
export function isValid(
  { content }: Certificate,
  order: Order,
  attempt: FulfilmentAttempt | null,
): boolean {
  const { provider, retirement } = content
  const hasProviderOrder =
    provider === null || (provider.orderId === order.orderSourceId && attempt?.state !== 'released')
  if (!isPaid(order.status) || !hasProviderOrder) return false
  return retirement
    ? isSameRetirement({ content }, order) && (provider !== null || content.co2eKg === order.co2eKg)
    : order.status === 'fulfilled' && attempt?.state !== 'released'
}
