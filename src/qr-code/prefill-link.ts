import type { Calculation, CalculatorType } from '../calculator/calculator-data.js'
import type { Vessel } from '../calculator/vessel.js'
import type { LinkSigner } from './link-signature.js'
import { decodePrefillData, encodePrefillData, type PrefillData } from './prefill-data.js'

const LIFETIME_SECONDS = 30 * 24 * 60 * 60

/** How far the clock of another process that made the link may run ahead of ours. */
const CLOCK_TOLERANCE_SECONDS = 5 * 60

/** Longer than any link we make (the largest data take about 1,200 characters). */
const LONGEST_DATA = 2048

export interface PrefillLink {
  url: string
  data: string
  sig: string
  generatedAt: Date
  expiresAt: Date
}

/** Why a link fills in nothing. */
export type PrefillFault =
  | { reason: 'empty' | 'too-long' | 'not-base64' | 'not-our-data' | 'edited' }
  | { reason: 'wrong-type'; calculatorType: CalculatorType; url: string | null }
  | { reason: 'not-yet-valid'; validFrom: Date }
  | { reason: 'expired'; expiredAt: Date }

export type ReadPrefill =
  { ok: true; prefill: PrefillData; expiresAt: Date } | { ok: false; fault: PrefillFault }

export interface PrefillLinks {
  /** Makes the link for a trip, valid for 30 days from `now` */
  create: (calculation: Calculation, vessel: Vessel, now?: Date) => PrefillLink
  /**
   * Reads the query of a link. Never throws; `fault` is the first thing found wrong.
   *
   * @param type the calculator that the link opens
   */
  read: (type: CalculatorType, query: { data?: unknown; sig?: unknown }, now?: Date) => ReadPrefill
}

export type ReadPrefillLink = PrefillLinks['read']

const expiryOf = (issuedAt: number): Date => new Date((issuedAt + LIFETIME_SECONDS) * 1000)

const pathOf = (type: CalculatorType, data: string, sig: string): string =>
  `/calculator/${type}?data=${data}&sig=${sig}`

/** @param baseUrl where links begin; asked at each link, as a port may be known only late */
export function prefillLinks(signer: LinkSigner, baseUrl: () => string): PrefillLinks {
  const refuse = (fault: PrefillFault): ReadPrefill => ({ ok: false, fault })

  return {
    create(calculation, vessel, now = new Date()) {
      const issuedAt = Math.floor(now.getTime() / 1000)
      const type = calculation.calculatorType
      const data = encodePrefillData({ ...calculation, vessel, issuedAt })
      const sig = signer.sign(type, data)
      return {
        url: baseUrl() + pathOf(type, data, sig),
        data,
        sig,
        generatedAt: new Date(issuedAt * 1000),
        expiresAt: expiryOf(issuedAt),
      }
    },

    read(type, { data, sig }, now = new Date()) {
      if (data === undefined || data === '') return refuse({ reason: 'empty' })
      // A repeated parameter arrives as an array; no link of ours has one.
      if (typeof data !== 'string') return refuse({ reason: 'not-our-data' })
      if (data.length > LONGEST_DATA) return refuse({ reason: 'too-long' })
      const decoded = decodePrefillData(data)
      if (!decoded.ok) return refuse({ reason: decoded.reason })

      const { prefill } = decoded
      const signature = typeof sig === 'string' ? sig : ''
      const genuine = signer.verify(prefill.calculatorType, data, signature)
      if (prefill.calculatorType !== type) {
        return refuse({
          reason: 'wrong-type',
          calculatorType: prefill.calculatorType,
          url: genuine ? pathOf(prefill.calculatorType, data, signature) : null,
        })
      }
      if (!genuine) return refuse({ reason: 'edited' })

      const seconds = now.getTime() / 1000
      if (prefill.issuedAt > seconds + CLOCK_TOLERANCE_SECONDS) {
        return refuse({ reason: 'not-yet-valid', validFrom: new Date(prefill.issuedAt * 1000) })
      }
      const expiresAt = expiryOf(prefill.issuedAt)
      if (now >= expiresAt) return refuse({ reason: 'expired', expiredAt: expiresAt })
      return { ok: true, prefill, expiresAt }
    },
  }
}
