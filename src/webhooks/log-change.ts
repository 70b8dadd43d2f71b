import type { FastifyRequest } from 'fastify'

/** Logs who changed an endpoint, without its URL, which can contain secrets. */
export const logWebhookChange = (request: FastifyRequest, endpoint: string, change: string): void =>
  request.log.info({ endpoint, by: request.actor }, `webhook endpoint ${change}`)
