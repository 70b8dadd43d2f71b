import type { FastifyRequest } from 'fastify'
import { Problem } from '../core/http/problem.js'
import { StoreUnwritableError } from './store/order-store.js'

/** Error handler of routes that change orders: returns 503 while the store is not writable. */
export async function handleStoreError(error: unknown, request: FastifyRequest): Promise<never> {
  if (!(error instanceof StoreUnwritableError)) throw error
  if (!error.isBusy) request.log.error({ err: error.cause }, 'order store not writable')
  throw new Problem(
    503,
    'Orders cannot be saved at the moment. Nothing was changed. Try again in a few seconds.',
    { headers: { 'retry-after': '5' } },
  )
}
