import type { FastifyInstance } from 'fastify'
import type { OrderStore } from '../order-store/order-store.js'
import type { OrderLinks } from '../ordering/order-links.js'
import { findOrderCertificate } from '../ordering/certificate/certificate-store.js'
import { getPaymentInstructions } from '../ordering/ordering-config.js'
import type { PaymentStore } from '../payments/payment-store.js'
import { getMailSettings } from './mail-config.js'
import type { MailDelivery } from './mail-delivery.js'
import { readMailLogo } from './mail-logo.js'
import { createObstacleFinder } from './mail-obstacles.js'
import { createMailRenderer } from './mail-renderer.js'
import { createMail, type Mail } from './mail.js'
import { createSmtpDelivery } from './smtp-delivery.js'
import { watchDelivery } from './watch-delivery.js'

interface Options {
  store: OrderStore
  links: OrderLinks
  payments: PaymentStore
  /** Instead of SMTP */
  delivery: MailDelivery | undefined
}

/** Creates the `Mail` of the service from the configuration. */
export function createServiceMail(
  app: Pick<
    FastifyInstance,
    'config' | 'database' | 'log' | 'publicBaseUrl' | 'readiness' | 'view'
  >,
  { store, links, payments, delivery }: Options,
): Mail {
  const { config } = app
  const settings = getMailSettings(config)
  const logo = readMailLogo(config.BRAND_LOGO)
  const unwatched = delivery ?? (settings && createSmtpDelivery(settings, logo))
  const watched = unwatched && watchDelivery(unwatched, app.log)
  if (watched) app.readiness.set('mail', watched.getReadiness)
  return createMail({
    database: app.database,
    store,
    render: createMailRenderer({
      renderTemplate: (template, data) => app.view(template, data),
      links,
      payments,
      findCertificate: (orderId) => findOrderCertificate(app.database, orderId),
      publicBaseUrl: app.publicBaseUrl,
      brandName: config.BRAND_NAME,
      hasLogo: logo !== null,
      timeZone: config.TIME_ZONE,
      paymentInstructions: getPaymentInstructions(config),
    }),
    findObstacle: createObstacleFinder(app.database, store, payments),
    hasLogo: logo !== null,
    holdMs: config.MAIL_HOLD_SECONDS * 1000,
    delivery: watched?.delivery ?? null,
  })
}
