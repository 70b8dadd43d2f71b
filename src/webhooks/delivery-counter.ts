import { Counter, type Registry } from 'prom-client'
import type { SendResult } from '../events/outbox-worker.js'

/** Counts the attempts to deliver webhooks, in the metrics of the service. */
export function createDeliveryCounter(metrics: Registry) {
  const attempts = new Counter({
    name: 'clearwake_webhook_deliveries_total',
    help: 'Attempts to deliver webhooks, by outcome: sent, retry (failed, can be sent again) or rejected (gone, not sent again)',
    labelNames: ['outcome'] as const,
    registers: [metrics],
  })
  return ({ outcome }: Pick<SendResult, 'outcome'>): void => attempts.inc({ outcome })
}
