import { createHmac } from 'node:crypto'
import type { FastifyPluginAsync } from 'fastify'
import { getDecimalSign } from '../core/http/locale.js'
import { Problem } from '../core/http/problem.js'
import { isCalculatorType, type Calculation, type CalculatorType } from './calculator-data.js'
import { parseCalculatorForm } from './calculator-form.js'
import { calculateEstimate } from './estimate.js'
import type { PricedPortfolio } from './result-page.js'
import type { Vessel } from './vessel.js'

/** How long a shop may rely on the price */
const VALIDITY_MS = 30 * 60 * 1000

/**
 * Builds the URL of the operator's shop for a trip.
 *
 * @param base CHECKOUT_URL; its own query is kept
 * @param secret signing key; the signature is the HMAC-SHA256, in hexadecimal, of the query that
 *   precedes it
 * @param offer `null` if the guest chose no portfolio, or its price is unavailable
 */
function buildCheckoutUrl(
  base: string,
  secret: string | undefined,
  { calculation, vessel }: { calculation: Calculation; vessel: Vessel | null },
  offer: PricedPortfolio | null,
): string {
  const { calculatorType, calculatorData } = calculation
  const { co2eKg } = calculateEstimate(calculation)
  const url = new URL(base)
  const { searchParams } = url
  searchParams.set('co2eKg', String(Math.round(co2eKg * 1000) / 1000))
  searchParams.set('calculatorType', calculatorType)
  searchParams.set('calculatorData', JSON.stringify(calculatorData))
  if (vessel) searchParams.set('vesselName', vessel.name)
  if (vessel?.imoNumber) searchParams.set('imoNumber', vessel.imoNumber)
  if (offer) {
    searchParams.set('portfolioId', String(offer.id))
    searchParams.set('portfolioName', offer.name)
    searchParams.set('amountMinor', String(offer.amountMinor))
    searchParams.set('currency', offer.currency)
  }
  searchParams.set('expiresAt', new Date(Date.now() + VALIDITY_MS).toISOString())
  if (secret !== undefined) {
    const signature = createHmac('sha256', secret).update(searchParams.toString()).digest('hex')
    searchParams.set('signature', signature)
  }
  return url.href
}

type Query = Record<string, unknown>

/** The query without `portfolio`, which is not a parameter of the calculator page. */
const withoutPortfolio = (query: Query): string => {
  const fields = Object.entries(query).filter(
    ([name, value]) => name !== 'portfolio' && typeof value === 'string',
  )
  return new URLSearchParams(fields as [string, string][]).toString()
}

/** Redirects guests to the operator's shop with their trip, portfolio and price. */
const checkoutPages: FastifyPluginAsync = async (app) => {
  const { readPrefill, resultPage } = app
  const { CHECKOUT_URL, CHECKOUT_SECRET } = app.config
  if (CHECKOUT_URL === undefined) return

  /**
   * Reads the trip from a query. The query comes from a scanned link or from a form, which may
   * include the scanned link that filled it in.
   */
  function readTrip(type: CalculatorType, query: Query, decimalSign: '.' | undefined) {
    const { data, sig, code, codeSig } = query
    if (data !== undefined) {
      const scanned = readPrefill(type, { data, sig })
      return scanned.ok
        ? { calculation: scanned.calculation, vessel: scanned.source.vessel }
        : { calculation: null, vessel: null }
    }
    const { calculation } = parseCalculatorForm(type, query, { decimalSign })
    const scanned = code === undefined ? null : readPrefill(type, { data: code, sig: codeSig })
    return { calculation, vessel: scanned?.ok ? scanned.source.vessel : null }
  }

  app.get<{ Params: { type: string }; Querystring: Query }>(
    '/calculator/:type/checkout',
    async (request, reply) => {
      const { type } = request.params
      if (!isCalculatorType(type)) throw new Problem(404, 'This calculator does not exist.')
      reply.header('cache-control', 'no-store').header('x-robots-tag', 'noindex')
      const { query } = request
      const { calculation, vessel } = readTrip(
        type,
        query,
        getDecimalSign(request.headers['accept-language']),
      )
      if (calculation === null) {
        // The calculator shows the errors.
        return reply.redirect(`/calculator/${type}?${withoutPortfolio(query)}`, 303)
      }
      const trip = { calculation, vessel }
      const id = Number(query.portfolio)
      const offer = Number.isSafeInteger(id) ? await resultPage.findTripPrice?.(trip, id) : null
      const url = buildCheckoutUrl(CHECKOUT_URL, CHECKOUT_SECRET, trip, offer ?? null)
      return reply.redirect(url, 303)
    },
  )
}

export default checkoutPages
