import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type, type TInteger } from '@sinclair/typebox'
import {
  CALCULATOR_DATA,
  CALCULATOR_TYPES,
  CalculatorTypeSchema,
  EXAMPLES,
  type Calculation,
} from '../calculator/calculator-data.js'
import { Vessel } from '../calculator/vessel.js'
import { createValidationProblem, problemResponses } from '../core/http/problem.js'
import { Currency } from '../orders/order.js'
import { ForGuests, SharePercent, WHOLE_TRIP, type Share } from '../orders/share.js'
import { readTrip, toFormQuery, toTripFields, type TripFields } from './ordered-trip.js'
import { requireOrdering } from './quotes.js'

type QuoteBody = Calculation & {
  portfolioId?: number
  sharePercent?: number
  forGuests?: number
  vessel?: Vessel
}

/** Uses `if`/`then` instead of a union, so that each invalid field is reported exactly once. */
const QuoteRequest = Type.Unsafe<QuoteBody>({
  type: 'object',
  title: 'Quote request',
  additionalProperties: false,
  required: ['calculatorType', 'calculatorData'],
  properties: {
    calculatorType: CalculatorTypeSchema,
    calculatorData: { type: 'object', description: 'Calculator data of this type' },
    portfolioId: Type.Integer({
      description: "ID of one of the provider's portfolios; defaults to the first",
    }),
    sharePercent: {
      ...SharePercent,
      description: `${SharePercent.description}. Defaults to 100`,
    },
    forGuests: {
      ...ForGuests,
      description: `${ForGuests.description}. Instead of sharePercent. The mass is rounded up to the gram`,
    },
    vessel: Vessel,
  },
  'x-share': true,
  allOf: CALCULATOR_TYPES.map((type) => ({
    if: { properties: { calculatorType: { const: type } }, required: ['calculatorType'] },
    then: { properties: { calculatorData: CALCULATOR_DATA[type] } },
  })),
  examples: [{ ...EXAMPLES.fuel, sharePercent: 100 }],
})

const nullableInteger = (schema: TInteger, note: string) =>
  Type.Unsafe<number | null>({
    ...schema,
    type: ['integer', 'null'],
    description: `${schema.description}; ${note}`,
  })

const amount = (description: string) => Type.Integer({ description })

const QuoteResponse = Type.Object(
  {
    amountMinor: amount('Price in minor units of the currency: the sum of offset and service fee'),
    offsetMinor: amount('Price of the credits, in minor units'),
    serviceFeeMinor: amount('Service fee, in minor units'),
    isMinimum: Type.Boolean({
      description: 'Whether the service fee was increased to reach the minimum of an order',
    }),
    currency: Currency,
    pricePerTonneMinor: amount(
      'Price of credits for a tonne of CO2e, without the service fee, in minor units',
    ),
    paidPerTonneMinor: amount(
      'What a tonne costs as paid: with the service fee, but without the minimum of an order, in minor units',
    ),
    co2eKg: Type.Number({ description: 'Mass of the credits, kg CO2e' }),
    tonnes: Type.Number({ description: 'Mass of the credits, tonnes' }),
    sharePercent: nullableInteger(SharePercent, 'null if forGuests was requested'),
    forGuests: nullableInteger(ForGuests, 'null unless requested'),
    portfolio: Type.Unsafe<{ id: number; name: string } | null>({
      type: ['object', 'null'],
      description: "The provider's portfolio; null if no provider is configured",
      properties: { id: Type.Integer(), name: Type.String() },
      required: ['id', 'name'],
    }),
    validUntil: Type.String({
      format: 'date-time',
      description: 'When the price expires: 30 minutes from now',
    }),
    token: Type.String({
      description: 'The signed quote; pass it as `quote` in a link to /offset to keep this price',
    }),
    orderUrl: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description:
        'Opens the order form with this quote, in any browser; the price holds until validUntil. null for a request with a vessel if QR_REQUIRE_ADMIN is set: then add `quote`, `portfolioId` and the share to the link of its QR code, with the path /offset',
    }),
  },
  { title: 'Quote' },
)

/** Room for the longest names and descriptions, escaped in JSON. */
const MAX_BODY_BYTES = 16 * 1024

/** The invalid field and its error, by outcome. */
const ERRORS = {
  portfolio_not_found: ['portfolioId', 'is not one of the portfolios that can be ordered'],
  too_small: ['calculatorData', 'describes a trip that is too small to be priced'],
  too_large: ['calculatorData', 'describes a trip that is too large to be ordered'],
} as const

const routes: FastifyPluginAsyncTypebox = async (app) => {
  const { readPrefill, prefillLinks } = app

  /** The parameters of the order form for a trip; `null` if links with a vessel require a sign-in. */
  function getFormFields(calculation: Calculation, vessel: Vessel | undefined): TripFields | null {
    if (vessel === undefined) return toTripFields(calculation, null)
    if (app.config.QR_REQUIRE_ADMIN) return null
    const { data, sig } = prefillLinks.create(calculation, vessel)
    return { data, sig }
  }

  app.post(
    '/api/offset-quotes',
    {
      bodyLimit: MAX_BODY_BYTES,
      config: {
        rateLimit: { max: app.config.ORDER_RATE_LIMIT_PER_MINUTE, timeWindow: '1 minute' },
      },
      schema: {
        tags: ['Ordering'],
        operationId: 'createQuote',
        summary: 'Get the price of carbon credits for a trip',
        body: QuoteRequest,
        response: { 200: QuoteResponse, ...problemResponses },
      },
    },
    async ({ body }) => {
      const quotes = requireOrdering(app.quotes)
      const { portfolioId = null, forGuests = null, sharePercent, vessel, ...calculation } = body
      const share: Share = {
        sharePercent: forGuests === null ? (sharePercent ?? WHOLE_TRIP.sharePercent) : null,
        forGuests,
      }
      const fields = getFormFields(calculation, vessel)
      const formTrip = fields && readTrip(readPrefill, fields, '.')
      // The form must read the same trip, so that the quote is valid there.
      const trip =
        formTrip?.outcome === 'valid' ? formTrip.trip : { calculation, vessel: vessel ?? null }
      const result = await quotes.create({ ...trip, ...share, portfolioId })
      if (result.outcome !== 'quoted') {
        const [path, message] = ERRORS[result.outcome]
        throw createValidationProblem([{ path, message }])
      }
      const { quote, token } = result
      const query =
        fields && toFormQuery(fields, { portfolioId: quote.portfolio?.id ?? null, ...share })
      return {
        ...quote,
        forGuests,
        tonnes: quote.co2eKg / 1000,
        token,
        orderUrl: query && `${app.publicBaseUrl()}/offset?${query}&quote=${token}`,
      }
    },
  )
}

export default routes
