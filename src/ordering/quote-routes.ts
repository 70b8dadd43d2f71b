import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import {
  CALCULATOR_DATA,
  CALCULATOR_TYPES,
  CalculatorTypeSchema,
  type Calculation,
} from '../calculator/calculator-data.js'
import { EXAMPLES } from '../calculator/examples.js'
import { Vessel } from '../calculator/vessel.js'
import { createValidationProblem, problemResponses } from '../http/problem.js'
import { SHARES, type Share } from '../orders/checkout.js'
import { Currency } from '../orders/order.js'
import { requireOrdering } from './require-ordering.js'
import type { Quotes } from './quotes.js'

interface Options {
  /** `null` if ordering is off */
  quotes: Quotes | null
}

type QuoteBody = Calculation & {
  portfolioId?: number
  sharePercent?: Share
  vessel?: Vessel
}

const sharePercent = Type.Unsafe<Share>({
  type: 'integer',
  enum: [...SHARES],
  default: 100,
  description: "Share of the trip's emissions to offset, %",
})

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
    sharePercent,
    vessel: Vessel,
  },
  allOf: CALCULATOR_TYPES.map((type) => ({
    if: { properties: { calculatorType: { const: type } }, required: ['calculatorType'] },
    then: { properties: { calculatorData: CALCULATOR_DATA[type] } },
  })),
  examples: [{ ...EXAMPLES.fuel, sharePercent: 100 }],
})

const amount = (description: string) => Type.Integer({ description })

const QuoteResponse = Type.Object(
  {
    amountMinor: amount('Price in minor units of the currency: the sum of offset and service fee'),
    offsetMinor: amount('Price of the offset, in minor units'),
    serviceFeeMinor: amount('Service fee, in minor units'),
    currency: Currency,
    pricePerTonneMinor: amount('Price to offset a tonne of CO2e, in minor units'),
    co2eKg: Type.Number({ description: 'Mass to offset, kg CO2e' }),
    tonnes: Type.Number({ description: 'Mass to offset, tonnes' }),
    sharePercent,
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
  },
  { title: 'Quote' },
)

/** Room for the longest names and descriptions, escaped in JSON. */
const MAX_BODY_BYTES = 16 * 1024

/** The invalid field and its error, by outcome. */
const ERRORS = {
  portfolio_not_found: ['portfolioId', 'is not one of the portfolios that can be ordered'],
  too_small: ['calculatorData', 'describes a trip that is too small to be priced'],
  too_large: ['calculatorData', 'describes a trip that is too large to be offset'],
} as const

const routes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
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
        summary: 'Get the price to offset a trip',
        body: QuoteRequest,
        response: { 200: QuoteResponse, ...problemResponses },
      },
    },
    async ({ body }) => {
      const quotes = requireOrdering(options.quotes)
      const { portfolioId = null, sharePercent = 100, vessel = null, ...calculation } = body
      const result = await quotes.create({ calculation, portfolioId, sharePercent, vessel })
      if (result.outcome !== 'quoted') {
        const [path, message] = ERRORS[result.outcome]
        throw createValidationProblem([{ path, message }])
      }
      const { quote, token } = result
      return { ...quote, tonnes: quote.co2eKg / 1000, token }
    },
  )
}

export default routes
