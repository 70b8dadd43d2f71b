import { Type } from '@sinclair/typebox'
import type { FastifySchema } from 'fastify'
import { problemResponses } from '../core/http/problem.js'
import { getAdminSecurity } from '../accounts/auth-guard.js'
import { getProviderScope, isPublicRoute, type PublicRoutes } from './paths.js'
import {
  KnownOffsetOrder,
  OffsetOrderList,
  OffsetOrderRequest,
  PlacedOrderResponse,
  PortfolioList,
} from './schemas.js'

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
