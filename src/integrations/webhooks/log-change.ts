import type { FastifyRequest } from 'fastify'

/** Logs who changed an endpoint. Its URL can contain secrets. */
export const logWebhookChange = (request: FastifyRequest, endpoint: string, change: string): void =>
  request.log.info({ endpoint, by: request.actor }, `webhook endpoint ${change}`)
