import {
  formatRoundedMass,
  withUnit,
  type NumberFormatter,
} from '../core/formatting/number-formatter.js'
import { formatRetirementDate } from '../orders/labels.js'
import { createDrawing, type Drawing } from './certificate-drawing.js'
import { getCertificateNumber, type Certificate, type CertificateContent } from './certificate.js'

/** A labelled value; some have several lines. */
export interface Fact {
  label: string
  lines: string[]
  /** Whether the lines are separate items, such as projects */
  isList?: boolean
}

/** A page that proves the retirement. */
interface ProofLink {
  text: string
  url: string
}

/** What a certificate says, on its page and in its PDF. */
export interface CertificateView {
  number: string
  /** `null` if it was erased or is not published */
  beneficiary: string | null
  /** Rounded for people */
  mass: string
  exactMass: string
  /** Registry, reference, provider and serial numbers */
  proof: Fact[]
  proofLinks: ProofLink[]
  /** Why there is no proof; `null` if there is some */
  proofNote: string | null
  /** The vessel, the trip, what was bought and when */
  facts: Fact[]
  drawing: Drawing
}

interface Format {
  numbers: NumberFormatter
  /** Formats the date of an ISO 8601 timestamp */
  formatDate: (timestamp: string) => string
}

/** Creates a fact, or none if there is nothing to say. */
function toFact(label: string, lines: (string | null | undefined)[], isList = false): Fact[] {
  const present = lines.filter((line) => line != null)
  return present.length === 0 ? [] : [{ label, lines: present, isList }]
}

function listProof({ retirement, provider }: CertificateContent, formatDate: Format['formatDate']) {
  const vintage = retirement?.vintage
  return [
    ...toFact('Registry', [retirement?.registry]),
    ...toFact('Reference', [retirement?.reference]),
    ...toFact('Retired on', [retirement ? formatRetirementDate(retirement, formatDate) : null]),
    ...toFact('Standard', [
      retirement?.standard,
      vintage === undefined ? null : `Vintage ${vintage}`,
    ]),
    ...toFact('Provider', [provider?.name, provider && `Reference ${provider.orderId}`]),
    ...toFact('Serial numbers', provider?.serialNumbers ?? [], true),
  ]
}

function listProofLinks({ retirement, provider }: CertificateContent): ProofLink[] {
  const registryUrl = retirement?.url ?? provider?.registryUrl ?? null
  const certificateUrl = provider?.certificateUrl ?? null
  return [
    ...(registryUrl === null ? [] : [{ text: 'Registry entry', url: registryUrl }]),
    ...(certificateUrl === null ? [] : [{ text: 'Provider’s certificate', url: certificateUrl }]),
  ]
}

function explainMissingProof(content: CertificateContent): string | null {
  if (content.retirement || content.provider) return null
  return content.isPublic || content.beneficiary !== null
    ? 'No registry entry is recorded on this certificate. Ask its issuer for the proof of retirement.'
    : 'The holder chose not to publish names, so the proof is only in the holder’s own PDF.'
}

/**
 * Describes a certificate.
 *
 * @param content what to show of it: all, or what is published
 */
export function describeCertificate(
  certificate: Certificate,
  content: CertificateContent,
  { numbers, formatDate }: Format,
): CertificateView {
  const { co2eKg, orderedAt, imoNumber, projects } = content
  const number = getCertificateNumber(certificate)
  return {
    number,
    beneficiary: content.beneficiary,
    mass: `${formatRoundedMass(co2eKg, numbers)} of CO₂e`,
    exactMass: `${withUnit(numbers.exact(co2eKg), 'kg')} of CO₂e`,
    proof: listProof(content, formatDate),
    proofLinks: listProofLinks(content),
    proofNote: explainMissingProof(content),
    facts: [
      ...toFact('Vessel', [content.vesselName, imoNumber === null ? null : `IMO ${imoNumber}`]),
      ...toFact('Trip', [content.trip]),
      ...toFact('Portfolio', [content.portfolioName]),
      ...toFact(
        'Projects',
        projects.map(({ name, country }) => (country === null ? name : `${name}, ${country}`)),
        true,
      ),
      ...toFact('Ordered', [orderedAt === undefined ? null : formatDate(orderedAt)]),
      ...toFact('Issued', [formatDate(certificate.issuedAt)]),
      ...toFact('Certificate number', [number]),
    ],
    drawing: createDrawing(projects),
  }
}
