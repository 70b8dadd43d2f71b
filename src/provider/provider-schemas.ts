import { Type, type TSchema } from '@sinclair/typebox'
import type { FastifySchema } from 'fastify'
import { getAdminSecurity } from '../accounts/security.js'
import { problemResponses } from '../core/http/problem.js'
import { getProviderScope, isPublicRoute, type PublicRoutes } from './paths.js'

// The provider's API, as Wren documents it: https://www.wren.co/docs/api

/** A field that can be missing or null. */
const nullish = <S extends TSchema>(schema: S) => Type.Optional(Type.Union([schema, Type.Null()]))

const text = (description: string, maxLength = 500) => Type.String({ maxLength, description })
const id = Type.Union([
  Type.String({ minLength: 1, maxLength: 120, pattern: '\\S' }),
  Type.Integer(),
])
const currency = Type.String({ pattern: '^[A-Za-z]{3}$', description: 'ISO 4217 code' })
const amountCharged = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Price in minor units of the currency, such as cents, rounded up',
})

/** A field that must not prevent a project from being read: see `parsePortfolios`. */
const detail = (description: string) => Type.Optional(Type.Unknown({ description }))

export const Project = Type.Object({
  id,
  name: text('Name of the project'),
  description: nullish(text('Description of the project', 20_000)),
  kind: nullish(text('Type of project')),
  country: nullish(text('Location')),
  url: nullish(text('Web page of the project')),
  percentage: nullish(Type.Number({ description: 'Share of the portfolio, 0 to 1' })),
  method: detail('avoidance or removal'),
  standard: detail('Standard that the credits are issued under, such as Gold Standard'),
  registry: detail('Name of the public registry'),
  registryUrl: detail('Page of the project in the registry'),
  vintage: detail('Year or years of the credits'),
  imageUrl: detail('Picture of the project: JPEG, PNG, WebP or AVIF, at most 1 MB'),
})

export const Portfolio = Type.Object({
  id: Type.Integer(),
  name: text('Name of the portfolio'),
  description: nullish(text('Description of the portfolio', 20_000)),
  cost_per_ton: nullish(Type.Number({ minimum: 0, description: 'Price per tonne in dollars' })),
  pricePerTonMinor: nullish(
    Type.Integer({ minimum: 0, description: 'Price per tonne in minor units of the currency' }),
  ),
  currency: nullish(currency),
  projects: nullish(Type.Array(Project, { maxItems: 1_000 })),
})

const offsetOrder = {
  tons: Type.Number({ exclusiveMinimum: 0, description: 'Tonnes of CO₂e' }),
  currency: nullish(currency),
  note: nullish(text('Note of the request', 20_000)),
}

/** An existing offset order. */
export const KnownOffsetOrder = Type.Object(
  {
    id,
    ...offsetOrder,
    amountCharged: nullish(amountCharged),
    portfolioId: nullish(Type.Integer()),
    createdAt: nullish(text('Date and time of the order', 40)),
    certificateUrl: Type.Optional(
      Type.Unknown({ description: "URL of the provider's certificate" }),
    ),
    registryUrl: Type.Optional(
      Type.Unknown({ description: 'URL of the entry in a public registry' }),
    ),
    serialNumbers: Type.Optional(
      Type.Unknown({ description: 'Serial numbers of the retired credits, a list of strings' }),
    ),
  },
  { title: 'Offset order' },
)

/** The response to a placed order or a quote. */
export const PlacedOrderResponse = Type.Object(
  {
    id: Type.Union([id, Type.Null()], {
      description: 'null for a quote (dryRun)',
    }),
    ...offsetOrder,
    amountCharged,
  },
  { title: 'Placed offset order or quote' },
)

const PortfolioList = Type.Object(
  { portfolios: Type.Array(Portfolio, { maxItems: 1_000 }) },
  { title: 'Portfolios' },
)

export const OffsetOrderList = Type.Object(
  { offsetOrders: Type.Array(KnownOffsetOrder) },
  { title: 'Offset orders' },
)

/** Purchases, which have links to certificates. Not every provider lists purchases. */
export const PurchaseList = Type.Object({
  purchases: Type.Array(
    Type.Object({ stripeChargeId: id, certificateUrl: Type.Optional(Type.Unknown()) }),
  ),
})

export const OffsetOrderRequest = Type.Object(
  {
    tons: Type.Number({
      exclusiveMinimum: 0,
      maximum: 1_000_000,
      description: 'Tonnes of CO₂e to buy carbon credits for',
    }),
    portfolioId: Type.Optional(
      Type.Integer({ description: 'Portfolio to buy from; the default portfolio if missing' }),
    ),
    note: Type.Optional(Type.String({ maxLength: 2_000, description: 'Stored with the order' })),
    dryRun: Type.Optional(
      Type.Boolean({ description: 'Only return a quote; nothing is ordered or charged' }),
    ),
    onBehalfOfName: Type.Optional(
      Type.String({ maxLength: 200, description: "Name on the provider's certificate" }),
    ),
  },
  {
    title: 'New offset order',
    examples: [{ tons: 1.6, portfolioId: 1, note: 'CW-000123', dryRun: true }],
  },
)

/** A forwarded route that is part of the OpenAPI document. */
export interface DocumentedRoute {
  method: string
  /** Path below the mount, in Fastify's syntax */
  url: string
  schema: FastifySchema
}

const FORWARDED = 'Forwarded to the order source, which validates it.'

/** Describes the known routes; the proxy also forwards all other routes. */
export function getDocumentedRoutes(publicRoutes: PublicRoutes): DocumentedRoute[] {
  const route = (method: string, url: string, schema: FastifySchema): DocumentedRoute => ({
    method,
    url,
    schema: {
      tags: ['Order source'],
      description: FORWARDED,
      ...(isPublicRoute(publicRoutes, method, url)
        ? {}
        : { security: getAdminSecurity(getProviderScope(method)) }),
      ...schema,
    },
  })
  return [
    route('GET', '/portfolios', {
      operationId: 'listPortfolios',
      summary: 'List portfolios and prices',
      description: `${FORWARDED} Administrators and API keys can also call any other route below /api/ordersource.`,
      response: { 200: PortfolioList, ...problemResponses },
    }),
    route('GET', '/offset-orders', {
      operationId: 'listOffsetOrders',
      summary: 'List offset orders',
      response: { 200: OffsetOrderList, ...problemResponses },
    }),
    route('POST', '/offset-orders', {
      operationId: 'placeOffsetOrder',
      summary: 'Place an offset order or get a quote',
      description: `${FORWARDED} It is never sent twice: after a 502 or 504, check whether the order exists before you send it again.`,
      body: OffsetOrderRequest,
      response: { 200: PlacedOrderResponse, ...problemResponses },
    }),
    route('GET', '/offset-orders/:id', {
      operationId: 'getOffsetOrder',
      summary: 'Get an offset order',
      params: Type.Object({ id: Type.String({ description: 'ID of the offset order' }) }),
      response: { 200: KnownOffsetOrder, ...problemResponses },
    }),
  ]
}
