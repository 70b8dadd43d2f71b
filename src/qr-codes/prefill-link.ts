import type { Calculation, CalculatorType } from '../calculator/calculator-data.js'
import type { Vessel } from '../calculator/vessel.js'
import { createSigner, isSignature } from '../core/config/secrets.js'
import {
  decodePrefillData,
  encodePrefillData,
  LIFETIME_SECONDS,
  type PrefillData,
} from './prefill-codec.js'

/** How far the clock of the process that created a link may be ahead. */
const CLOCK_TOLERANCE_SECONDS = 5 * 60

/** The longest valid data have about 1,200 characters. */
const MAX_DATA_LENGTH = 2048

export interface PrefillLink {
  url: string
  /** Path and query of the URL */
  path: string
  data: string
  sig: string
  generatedAt: Date
  expiresAt: Date
}

/** Why a link was rejected. */
export type LinkError =
  | { reason: 'empty' | 'incomplete' | 'too_long' | 'not_base64' | 'invalid_data' | 'edited' }
  | { reason: 'wrong_type'; calculatorType: CalculatorType; url: string | null }
  | { reason: 'not_yet_valid'; validFrom: Date }
  | { reason: 'expired'; expiredAt: Date }

export type LinkResult =
  { ok: true; prefill: PrefillData; link: PrefillLink } | { ok: false; error: LinkError }

/**
 * Creates and reads links, which are signed with a key derived (HKDF, RFC 5869) from the session
 * secret.
 *
 * @param secrets the current secret, then previous ones that are still accepted
 * @param getBaseUrl called for each link, because the port is unknown until the server listens
 */
export function createPrefillLinks(
  secrets: readonly [string, ...string[]],
  getBaseUrl: () => string,
) {
  const signer = createSigner(secrets, 'prefill link v1')
  const getSignedText = (type: CalculatorType, data: string): string => `${type}\n${data}`

  function buildLink(
    { calculatorType, issuedAt }: PrefillData,
    data: string,
    sig: string,
  ): PrefillLink {
    const path = buildPath(calculatorType, data, sig)
    return {
      url: getBaseUrl() + path,
      path,
      data,
      sig,
      generatedAt: new Date(issuedAt * 1000),
      expiresAt: new Date((issuedAt + LIFETIME_SECONDS) * 1000),
    }
  }

  return {
    /** Creates the link for a trip, valid for 30 days from `now`. */
    create(calculation: Calculation, vessel: Vessel, now = new Date()): PrefillLink {
      const prefill = { ...calculation, vessel, issuedAt: Math.floor(now.getTime() / 1000) }
      const data = encodePrefillData(prefill)
      return buildLink(prefill, data, signer.sign(getSignedText(prefill.calculatorType, data)))
    },

    /**
     * Reads and verifies the query of a link. Never throws; returns the first error found.
     *
     * @param type the calculator that the link opens
     */
    read(
      type: CalculatorType,
      { data, sig }: { data?: unknown; sig?: unknown },
      now = new Date(),
    ): LinkResult {
      if (data === undefined || data === '') return reject({ reason: 'empty' })
      // A repeated parameter arrives as an array.
      if (typeof data !== 'string') return reject({ reason: 'invalid_data' })
      if (data.length > MAX_DATA_LENGTH) return reject({ reason: 'too_long' })
      const decoded = decodePrefillData(data)
      if (!decoded.ok) return reject({ reason: decoded.reason })

      if (sig === undefined || (typeof sig === 'string' && !isSignature(sig))) {
        return reject({ reason: 'incomplete' })
      }

      const { prefill } = decoded
      const { calculatorType } = prefill
      const signature = typeof sig === 'string' ? sig : ''
      const isGenuine = signer.verify(getSignedText(calculatorType, data), signature)
      if (calculatorType !== type) {
        const url = isGenuine ? buildPath(calculatorType, data, signature) : null
        return reject({ reason: 'wrong_type', calculatorType, url })
      }
      if (!isGenuine) return reject({ reason: 'edited' })

      const link = buildLink(prefill, data, signature)
      if (link.generatedAt.getTime() > now.getTime() + CLOCK_TOLERANCE_SECONDS * 1000) {
        return reject({ reason: 'not_yet_valid', validFrom: link.generatedAt })
      }
      if (now >= link.expiresAt) return reject({ reason: 'expired', expiredAt: link.expiresAt })
      return { ok: true, prefill, link }
    },
  }
}

export type PrefillLinks = ReturnType<typeof createPrefillLinks>

const reject = (error: LinkError): LinkResult => ({ ok: false, error })

const buildPath = (type: CalculatorType, data: string, sig: string): string =>
  `/calculator/${type}?data=${data}&sig=${sig}`
