import fp from 'fastify-plugin'
import { getMailSettings } from './mail-config.js'
import type { MailDelivery } from './mail-delivery.js'
import { readMailLogo } from './mail-logo.js'
import { createSmtpDelivery } from './smtp-delivery.js'
import { watchDelivery } from './watch-delivery.js'

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
