import type { Calculation, CalculatorType } from '../calculator/calculator-data.js'
import type { Vessel } from '../calculator/vessel.js'
import { isSignature, type LinkSigner } from './link-signature.js'
import { decodePrefillData, encodePrefillData, type PrefillData } from './prefill-data.js'

const LIFETIME_SECONDS = 30 * 24 * 60 * 60

/** How far the clock of another process that made the link may run ahead of ours. */
const CLOCK_TOLERANCE_SECONDS = 5 * 60

/** Longer than any link we make (the largest data take about 1,200 characters). */
const LONGEST_DATA = 2048

/** A link and what it is made of. */
export interface PrefillLink {
  url: string
  /** The same without the host */
  path: string
  data: string
  sig: string
  generatedAt: Date
  expiresAt: Date
}

/** Why a link fills in nothing. */
export type LinkError =
  | { reason: 'empty' | 'incomplete' | 'too-long' | 'not-base64' | 'not-our-data' | 'edited' }
  | { reason: 'wrong-type'; calculatorType: CalculatorType; url: string | null }
  | { reason: 'not-yet-valid'; validFrom: Date }
  | { reason: 'expired'; expiredAt: Date }

export type LinkResult =
  { ok: true; prefill: PrefillData; link: PrefillLink } | { ok: false; fault: LinkError }

export interface PrefillLinks {
  /** Makes the link for a trip, valid for 30 days from `now` */
  create: (calculation: Calculation, vessel: Vessel, now?: Date) => PrefillLink
  /**
   * Reads the query of a link. Never throws; `fault` is the first thing found wrong.
   *
   * @param type the calculator that the link opens
   */
  read: (type: CalculatorType, query: { data?: unknown; sig?: unknown }, now?: Date) => LinkResult
}

const pathOf = (type: CalculatorType, data: string, sig: string): string =>
  `/calculator/${type}?data=${data}&sig=${sig}`

/** @param baseUrl where links begin; asked at each link, as a port may be known only late */
export function createPrefillLinks(signer: LinkSigner, baseUrl: () => string): PrefillLinks {
  const refuse = (fault: LinkError): LinkResult => ({ ok: false, fault })

  function linkOf(
    { calculatorType, issuedAt }: PrefillData,
    data: string,
    sig: string,
  ): PrefillLink {
    const path = pathOf(calculatorType, data, sig)
    return {
      url: baseUrl() + path,
      path,
      data,
      sig,
      generatedAt: new Date(issuedAt * 1000),
      expiresAt: new Date((issuedAt + LIFETIME_SECONDS) * 1000),
    }
  }

  return {
    create(calculation, vessel, now = new Date()) {
      const prefill = { ...calculation, vessel, issuedAt: Math.floor(now.getTime() / 1000) }
      const data = encodePrefillData(prefill)
      return linkOf(prefill, data, signer.sign(prefill.calculatorType, data))
    },

    read(type, { data, sig }, now = new Date()) {
      if (data === undefined || data === '') return refuse({ reason: 'empty' })
      // A repeated parameter arrives as an array; no link of ours has one.
      if (typeof data !== 'string') return refuse({ reason: 'not-our-data' })
      if (data.length > LONGEST_DATA) return refuse({ reason: 'too-long' })
      const decoded = decodePrefillData(data)
      if (!decoded.ok) return refuse({ reason: decoded.reason })

      if (sig === undefined || (typeof sig === 'string' && !isSignature(sig))) {
        return refuse({ reason: 'incomplete' })
      }

      const { prefill } = decoded
      const { calculatorType } = prefill
      const signature = typeof sig === 'string' ? sig : ''
      const genuine = signer.verify(calculatorType, data, signature)
      if (calculatorType !== type) {
        const url = genuine ? pathOf(calculatorType, data, signature) : null
        return refuse({ reason: 'wrong-type', calculatorType, url })
      }
      if (!genuine) return refuse({ reason: 'edited' })

      const link = linkOf(prefill, data, signature)
      const tolerated = new Date(now.getTime() + CLOCK_TOLERANCE_SECONDS * 1000)
      if (link.generatedAt > tolerated) {
        return refuse({ reason: 'not-yet-valid', validFrom: link.generatedAt })
      }
      if (now >= link.expiresAt) return refuse({ reason: 'expired', expiredAt: link.expiresAt })
      return { ok: true, prefill, link }
    },
  }
}
