import { Type } from '@sinclair/typebox'
import type { FastifySchema } from 'fastify'
import { ADMIN_SECURITY } from '../plugins/auth-guard.js'
import { problemResponses } from '../http/problem.js'
import {
  KnownOffsetOrder,
  OffsetOrderList,
  OffsetOrderRequest,
  PlacedOrderResponse,
  PortfolioList,
} from './schemas.js'
import { isPublic, type PublicRoutes } from './public-routes.js'

/** A call that is relayed like any other, and that the documentation names. */
export interface DocumentedRoute {
  method: string
  /** Below the mount, as Fastify writes it */
  url: string
  schema: FastifySchema
}

const tags = ['Order source']
const RELAYED = 'Relayed to the order source, which validates it, and back.'

/** The calls that the documentation names; any other below the mount is relayed too. */
export function documentedRoutes(publicRoutes: PublicRoutes): DocumentedRoute[] {
  const call = (method: string, url: string, schema: FastifySchema): DocumentedRoute => ({
    method,
    url,
    schema: {
      tags,
      description: RELAYED,
      ...(isPublic(publicRoutes, method, url) ? {} : { security: ADMIN_SECURITY }),
      ...schema,
    },
  })
  return [
    call('GET', '/portfolios', {
      summary: 'What can be offset with, and for how much',
      description: `${RELAYED} So is any other call below /api/ordersource, for administrators.`,
      response: { 200: PortfolioList, ...problemResponses },
    }),
    call('GET', '/offset-orders', {
      summary: 'List offset orders',
      response: { 200: OffsetOrderList, ...problemResponses },
    }),
    call('POST', '/offset-orders', {
      summary: 'Place an offset order, or ask for its price',
      description: `${RELAYED} It is never sent twice: after a 502 or 504, look whether the order is there before sending it again.`,
      body: OffsetOrderRequest,
      response: { 200: PlacedOrderResponse, ...problemResponses },
    }),
    call('GET', '/offset-orders/:id', {
      summary: 'Read an offset order',
      params: Type.Object({ id: Type.String({ description: 'Id of the offset order' }) }),
      response: { 200: KnownOffsetOrder, ...problemResponses },
    }),
  ]
}
