import fp from 'fastify-plugin'
import { findOrderCertificate } from '../../certificates/certificate-store.js'
import { getPaymentInstructions } from '../checkout-config.js'
import { createObstacleFinder } from './mail-obstacles.js'
import { buildOrderMailsView } from './mail-view.js'
import { describeMails } from './mail-consequences.js'
import { createMailRenderer } from './mail-renderer.js'
import { eraseMails } from './message.js'
import orderMailPages from './order-mail-pages.js'
import { createMail, type Mail } from './order-mails.js'
import pages from './pages.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Emails to guests about their orders */
    mail: Mail
  }
}

/** Sends the emails about orders. */
export default fp(
  async (app) => {
    const { config, database, orders: store } = app
    const payments = app.payments.store
    const { mailDelivery: delivery } = app
    const mail = createMail({
      database,
      store,
      render: createMailRenderer({
        renderTemplate: (template, data) => app.view(template, data),
        links: app.orderLinks,
        payments,
        findCertificate: (orderId) => findOrderCertificate(database, orderId),
        publicBaseUrl: app.publicBaseUrl,
        brandName: config.BRAND_NAME,
        hasLogo: delivery?.hasLogo ?? false,
        timeZone: config.TIME_ZONE,
        paymentInstructions: getPaymentInstructions(config),
      }),
      findObstacle: createObstacleFinder(database, store, payments),
      holdMs: config.MAIL_HOLD_SECONDS * 1000,
      delivery,
    })
    app.decorate('mail', mail)
    app.portalPages.push(pages, orderMailPages)
    app.orderPage.addSection({
      place: 'emails',
      template: '/orders/_mails',
      build: async ({ order, format }) =>
        order.origin === 'guest'
          ? { view: buildOrderMailsView(order.id, await mail.listOfOrder(order.id), mail, format) }
          : null,
    })
    if (mail.description !== null) {
      app.orderPage.addConsequences(async (orders) => {
        const loaded = await app.certificates.loadChanges(orders)
        return (changes, options) => describeMails(changes, loaded, mail.holdMs, options)
      })
    }
    app.events.addConsumer('mail', mail.consume, 'Emails')
    app.eraser.add({ eraseFormerCustomer: eraseMails })
    if (mail.sender) app.outbox.addSender(mail.sender)
    app.payments.onReturned((order) => mail.announceRefund(order))
    app.certificates.onIssued((tx, { certificate, order }) =>
      mail.announceCertificate(tx, order, certificate.code),
    )
  },
  { name: 'order-mail', dependencies: ['mail', 'checkout', 'payments', 'certificates', 'erasure'] },
)
