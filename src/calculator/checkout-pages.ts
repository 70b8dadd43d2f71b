import type { FastifyPluginAsync } from 'fastify'
import { getDecimalSign } from '../core/http/locale.js'
import { Problem } from '../core/http/problem.js'
import { isCalculatorType, type CalculatorType } from './calculator-data.js'
import { parseCalculatorForm } from './calculator-form.js'
import { buildCheckoutUrl, type Checkout } from './checkout-url.js'

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
      const portfolioId = Number(query.portfolio)
      const offer = Number.isSafeInteger(portfolioId)
        ? await resultPage.findTripPrice?.(trip, portfolioId)
        : null
      const checkout: Checkout = { ...trip, offer: offer ?? null }
      return reply.redirect(buildCheckoutUrl(CHECKOUT_URL, CHECKOUT_SECRET, checkout), 303)
    },
  )
}

export default checkoutPages
