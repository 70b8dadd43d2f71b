import type { FastifyBaseLogger } from 'fastify'
import fp from 'fastify-plugin'
import type { Readiness } from '../core/server/telemetry.js'
import { getMailSettings } from './mail-config.js'
import { createSmtpDelivery, readMailLogo, type MailDelivery } from './smtp-delivery.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** How emails are sent; `null` if they are not configured */
    mailDelivery: BrandedDelivery | null
  }
}

interface BrandedDelivery extends MailDelivery {
  /** Whether emails have the logo of the operator */
  hasLogo: boolean
}

interface Options {
  /** Instead of SMTP */
  delivery: MailDelivery | undefined
}

/** Sends emails, with the logo of the operator. */
export default fp<Options>(
  async (app, { delivery }) => {
    const settings = getMailSettings(app.config)
    const logo = readMailLogo(app.config.BRAND_LOGO)
    const unwatched = delivery ?? (settings && createSmtpDelivery(settings, logo))
    const watched = unwatched && watchDelivery(unwatched, app.log)
    if (watched) app.readiness.set('mail', watched.getReadiness)
    app.decorate('mailDelivery', watched && { ...watched.delivery, hasLogo: logo !== null })
  },
  { name: 'mail', dependencies: ['config', 'health'] },
)

/** Logs when the mail server fails and when it works again, and reports its state. */
function watchDelivery(
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
