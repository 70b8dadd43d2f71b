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

/** A project whose credits were retired. */
interface ProjectView {
  id: string | undefined
  name: string
  /** Its type, country, standard and vintage */
  traits: string[]
  /** Its page in the registry */
  registryUrl: string | undefined
}

/** What a certificate says, on its page and in its PDF. */
export interface CertificateView {
  number: string
  /** `null` if it was erased or is not published */
  beneficiary: string | null
  /** What follows the beneficiary; then come the mass and, without a beneficiary, the ending */
  claim: string
  /** Rounded for people */
  mass: string
  ending: string | null
  exactMass: string
  /** Registry, reference, provider and serial numbers */
  proof: Fact[]
  projects: ProjectView[]
  proofLinks: ProofLink[]
  /** Why there is no proof; `null` if there is some */
  proofNote: string | null
  /** The vessel, the trip, the portfolio and the dates */
  facts: Fact[]
  drawing: Drawing
}

interface Format {
  numbers: NumberFormatter
  /** Formats the date of an ISO 8601 timestamp */
  formatDate: (timestamp: string) => string
}

/** What a certificate certifies, in words and rounded for people. */
export const describeClaim = (
  { beneficiary, co2eKg }: Pick<CertificateContent, 'beneficiary' | 'co2eKg'>,
  numbers: NumberFormatter,
) => ({
  beneficiary,
  claim:
    beneficiary === null ? 'Carbon credits for' : 'has funded the retirement of carbon credits for',
  mass: `${formatRoundedMass(co2eKg, numbers)} of CO₂e`,
  ending: beneficiary === null ? 'have been retired for the holder of this certificate' : null,
})

/** Creates a fact, or none if there is nothing to say. */
function toFact(label: string, lines: (string | null | undefined)[], isList = false): Fact[] {
  const present = lines.filter((line) => line != null)
  return present.length === 0 ? [] : [{ label, lines: present, isList }]
}

function listProof(
  { retirement, provider, projects }: CertificateContent,
  formatDate: Format['formatDate'],
) {
  const vintage = retirement?.vintage
  const registries = retirement ? [retirement.registry] : projects.map(({ registry }) => registry)
  return [
    ...toFact('Registry', [...new Set(registries)]),
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

/** None without a name, because the linked pages may show it. */
function listProofLinks({ beneficiary, retirement, provider }: CertificateContent): ProofLink[] {
  if (beneficiary === null) return []
  const registryUrl = retirement?.url ?? provider?.registryUrl ?? null
  const certificateUrl = provider?.certificateUrl ?? null
  return [
    ...(registryUrl === null ? [] : [{ text: 'Registry entry', url: registryUrl }]),
    ...(certificateUrl === null ? [] : [{ text: 'Provider’s certificate', url: certificateUrl }]),
  ]
}

const NO_PROOF =
  'No registry entry is shown here. Ask the issuer of this certificate for the proof of retirement.'

const toProjectView = (project: CertificateContent['projects'][number]): ProjectView => {
  const { id, name, country, kind, standard, vintage, registryUrl } = project
  const traits = [kind, country, standard, vintage && `vintage ${vintage}`]
  return { id, name, traits: traits.filter((trait) => trait != null), registryUrl }
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
  const { co2eKg, orderedAt, imoNumber, projects, retirement, provider } = content
  const hasProof = Boolean(retirement ?? provider)
  const number = getCertificateNumber(certificate)
  return {
    number,
    ...describeClaim(content, numbers),
    exactMass: `${withUnit(numbers.exact(co2eKg), 'kg')} of CO₂e`,
    proof: hasProof ? listProof(content, formatDate) : [],
    projects: projects.map(toProjectView),
    proofLinks: listProofLinks(content),
    proofNote: hasProof ? null : NO_PROOF,
    facts: [
      ...toFact('Vessel', [content.vesselName, imoNumber === null ? null : `IMO ${imoNumber}`]),
      ...toFact('Trip', [content.trip]),
      ...toFact('Portfolio', [content.portfolioName]),
      ...toFact('Ordered', [orderedAt === undefined ? null : formatDate(orderedAt)]),
      ...toFact('Issued', [formatDate(certificate.issuedAt)]),
      ...toFact('Certificate number', [number]),
    ],
    drawing: createDrawing(projects),
  }
}
