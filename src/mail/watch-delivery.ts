import type { FastifyBaseLogger } from 'fastify'
import type { Readiness } from '../core/server/telemetry.js'
import type { MailDelivery } from './mail-delivery.js'

/** Logs when the mail server fails and when it works again, and reports its state. */
export function watchDelivery(
  delivery: MailDelivery,
  log: FastifyBaseLogger,
): { delivery: MailDelivery; getReadiness: () => Promise<Readiness> } {
  /** Since the latest attempt */
  let isDown = false

  async function send(...[mail, signal]: Parameters<MailDelivery['send']>) {
    const result = await delivery.send(mail, signal)
    if (signal.aborted) return result
    const { isOutage = false, detail } = result
    if (isOutage && !isDown) {
      log.error({ server: delivery.description.server, detail }, 'emails cannot be sent')
    }
    if (isDown && !isOutage) log.info('emails can be sent again')
    isDown = isOutage
    return result
  }

  return {
    delivery: { ...delivery, send },
    getReadiness: async () => ({
      ready: true,
      degraded: isDown,
      detail: isDown ? 'emails cannot be sent' : 'no outage known',
    }),
  }
}
