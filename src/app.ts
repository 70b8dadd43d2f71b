import Fastify, { type FastifyInstance, type FastifyPluginAsync } from 'fastify'
import accountManagement from './accounts/account-management.js'
import { createAccountMail } from './accounts/account-mail.js'
import accounts from './accounts/accounts.js'
import notifyUser from './accounts/notify-user.js'
import auditRoutes from './audit/routes.js'
import calculator from './calculator/calculator.js'
import apiKeyRoutes from './integrations/api-keys/routes.js'
import { createFileRewriter } from './database/file-rewriter.js'
import { createEraser } from './erasure/erase-customer.js'
import erasureRoutes from './erasure/routes.js'
import { createAutoFulfilment } from './fulfilment/auto-fulfilment.js'
import { createFulfilment } from './fulfilment/fulfilment.js'
import { createOffsetOrderSource } from './provider/order-source-client.js'
import { findCertificate } from './ordering/certificate/certificate-store.js'
import { createServiceCertificates } from './ordering/certificate/certificates.js'
import { createCertificateIssuer } from './ordering/certificate/issue-certificates.js'
import { createConversionCounter } from './ordering/conversions.js'
import { createOfferFinder, createTripPriceFinder } from './ordering/offset-offer.js'
import { createPriceTerms } from './ordering/ordering-config.js'
import ordering, { createServiceLinks, createServiceQuotes } from './ordering/ordering.js'
import { arePortfoliosPublic } from './provider/paths.js'
import proxy from './provider/proxy.js'
import { addFilterResolver, createFilterResolver } from './payments/filter-resolver.js'
import { findPurchaseProblem } from './payments/payment.js'
import { createPaymentStore } from './payments/payment-store.js'
import paymentRoutes from './payments/payment-routes.js'
import { createServicePayments } from './payments/service-payments.js'
import stripeWebhooks from './payments/webhook-routes.js'
import { createPortfolioPrices } from './provider/portfolio-prices.js'
import { openUpstream } from './provider/upstream.js'
import { getMailSettings } from './mail/mail-config.js'
import type { MailDelivery } from './mail/mail-delivery.js'
import { createServiceMail } from './mail/service-mail.js'
import { createDayCalendar } from './orders/day-calendar.js'
import { OPENAPI_WEBHOOKS } from './integrations/webhooks/openapi-webhooks.js'
import webhookRoutes from './integrations/webhooks/routes.js'
import { createWebhooks } from './integrations/webhooks/webhooks.js'
import orderExport from './orders/export/export.js'
import { createExportRecorder } from './orders/export/record-export.js'
import { createEventDispatcher } from './outbox/event-dispatcher.js'
import { createOutboxWorker } from './outbox/outbox-worker.js'
import { getServiceSource, openOrderStore } from './order-store/open-order-store.js'
import orders from './orders/orders.js'
import { validators } from './orders/validators.js'
import { createSavedViews } from './portal/orders/saved-views.js'
import portal from './portal/portal.js'
import accountStore from './plugins/account-store.js'
import configuredAccounts, { type FirstAdministrator } from './plugins/configured-accounts.js'
import apiDocs from './plugins/api-docs.js'
import apiKeys from './plugins/api-keys.js'
import auditLog from './plugins/audit-log.js'
import staticFiles from './plugins/static-files.js'
import authGuard from './plugins/auth-guard.js'
import brand from './plugins/brand.js'
import compression from './plugins/compression.js'
import config from './plugins/config.js'
import database from './plugins/database.js'
import errorHandler from './plugins/error-handler.js'
import gracefulShutdown from './plugins/graceful-shutdown.js'
import health from './plugins/health.js'
import hostHeader from './plugins/host-header.js'
import htmx from './plugins/htmx.js'
import jsonParser from './plugins/json-parser.js'
import loadShedding from './plugins/load-shedding.js'
import flash from './plugins/flash.js'
import permissions from './plugins/permissions.js'
import rateLimits from './plugins/rate-limits.js'
import scheduler from './plugins/scheduler.js'
import securityHeaders from './plugins/security-headers.js'
import securityTxt from './plugins/security-txt.js'
import session from './plugins/session.js'
import stateStore from './plugins/state-store.js'
import telemetry from './plugins/telemetry.js'
import validation from './plugins/validation.js'
import { createLinkSigner } from './qr-code/link-signature.js'
import { createPrefillLinks } from './qr-code/prefill-link.js'
import { createPrefillReader } from './qr-code/prefill-view.js'
import qrCode from './qr-code/qr-code.js'
import { MAX_CONNECTIONS, serverOptions, type LogStream } from './server-options.js'

/** Interval of the jobs that dispatch events, send messages and check payments */
const POLL_MS = 500
const CONVERSIONS_MS = 5_000
const REWRITE_MS = 10_000
const HOUR_MS = 60 * 60 * 1000

/** What the demo adds. */
export interface Extras {
  /** Used instead of SMTP */
  mailDelivery?: MailDelivery
  pages?: FastifyPluginAsync
}

interface Options extends Extras {
  /** Environment variables, as listed in `.env.example` */
  environment: NodeJS.ProcessEnv
  logStream?: LogStream
  /** Called if the first administrator is created at start-up */
  onFirstAdministrator?: (account: FirstAdministrator) => void
}

/**
 * Builds the service, ready to listen: shared plugins first, then the features. Throws ConfigError
 * if the environment is invalid.
 */
export async function buildApp({
  environment,
  logStream,
  onFirstAdministrator,
  mailDelivery,
  pages,
}: Options): Promise<FastifyInstance> {
  const app: FastifyInstance = Fastify(serverOptions(environment, logStream))
  app.server.maxConnections = MAX_CONNECTIONS

  await app.register(config, { environment })
  await app.register(gracefulShutdown)
  await app.register(securityHeaders)
  // Before any hook that can reject a request, so that rejected requests are counted.
  await app.register(telemetry)
  await app.register(hostHeader)
  await app.register(loadShedding) // before everything that costs more than a rejected request
  await app.register(staticFiles) // before the rate limits, which do not count assets
  await app.register(brand)
  await app.register(htmx)
  await app.register(rateLimits)
  await app.register(errorHandler)
  await app.register(health)
  await app.register(compression)
  await app.register(jsonParser)
  await app.register(validation, { validators })
  await app.register(configuredAccounts, { onFirstAdministrator })
  await app.register(database)
  await app.register(accountStore)
  await app.register(scheduler)
  await app.register(auditLog)
  await app.register(stateStore)
  await app.register(apiKeys)
  await app.register(session)
  await app.register(permissions)
  await app.register(notifyUser, {
    isMailConfigured: mailDelivery !== undefined || getMailSettings(app.config) !== null,
  })
  await app.register(flash)
  await app.register(authGuard) // before the features, because it guards their routes
  await app.register(apiDocs, { webhooks: OPENAPI_WEBHOOKS })

  await app.register(accounts)
  await app.register(apiKeyRoutes)
  await app.register(auditRoutes)
  await app.register(securityTxt)

  const upstream = openUpstream(app.config, app.metrics)
  app.addHook('onClose', () => upstream?.close())
  await app.register(proxy, { upstream })
  const source = upstream && createOffsetOrderSource(upstream)
  const listPortfolios = source && createPortfolioPrices(source)
  const arePublic = arePortfoliosPublic(app.config)

  const links = createPrefillLinks(createLinkSigner(app.config.sessionSecrets), app.publicBaseUrl)
  const readPrefill = createPrefillReader(links, app.config.TIME_ZONE)
  const getTerms = createPriceTerms(app.config)
  const quotes = createServiceQuotes(app, arePublic ? source : null, getTerms)
  const calendar = createDayCalendar(app.config.TIME_ZONE)
  const conversions = quotes && createConversionCounter(app.database, calendar)
  await app.register(calculator, {
    readPrefill,
    findOffer: quotes && createOfferFinder(quotes),
    findTripPrice: quotes && createTripPriceFinder(quotes),
    onStep: (step) => conversions?.count(step),
  })
  const webhooks = createWebhooks({
    database: app.database,
    config: app.config,
    log: app.log,
    metrics: app.metrics,
  })
  await app.register(qrCode, { links, onGenerated: (code) => webhooks.qrCodes.add(code) })

  const paymentStore = createPaymentStore(app.database)
  const plainStore = await openOrderStore(app.config, app.postgres, app.log)
  const resolveFilter = createFilterResolver(plainStore, paymentStore, (code) =>
    findCertificate(app.database, code),
  )
  const store = addFilterResolver(plainStore, resolveFilter)
  app.addHook('onClose', () => store.close())
  const events = createEventDispatcher(store, app.database, app.log)
  const outbox = createOutboxWorker(app.database, app.log, app.metrics)
  outbox.addSender(events.sender)
  app.readiness.set('events', () => events.getReadiness())
  const orderLinks = createServiceLinks(app)
  const mail = createServiceMail(app, {
    store,
    links: orderLinks,
    payments: paymentStore,
    delivery: mailDelivery,
  })
  events.addConsumer('webhooks', webhooks.consume)
  events.addConsumer('mail', mail.consume)
  outbox.addSender(webhooks.sender)
  if (mail.sender) outbox.addSender(mail.sender)
  const accountMail = createAccountMail(app, mail)
  if (accountMail.sender) outbox.addSender(accountMail.sender)
  await app.register(accountManagement, { mail: accountMail })
  if (conversions) {
    events.addConsumer('conversions', conversions.consume)
    app.schedule('count conversions', CONVERSIONS_MS, () => conversions.flush())
    app.addHook('onClose', () =>
      conversions
        .flush()
        .catch((err: unknown) => app.log.error({ err }, 'some conversions are not counted')),
    )
  }
  app.schedule('dispatch events', POLL_MS, () => events.dispatch())
  app.schedule('queue webhooks of QR codes', POLL_MS, () => webhooks.qrCodes.flush())
  app.schedule('send messages', POLL_MS, () => outbox.sendDue())
  app.schedule('delete old messages', HOUR_MS, () => outbox.deleteOld())
  app.addHook('preClose', () => outbox.close())
  const payments = await createServicePayments(app, store, paymentStore)
  if (payments !== null) {
    events.addConsumer('payments', payments.consume)
    app.schedule('check payments', POLL_MS, () => payments.checkDue())
  }
  app.addHook('onReady', () => webhooks.encryptSecretsAgain())
  app.addHook('onClose', () => webhooks.close())

  await app.register(orders, { store })
  await app.register(orderExport, {
    store,
    timeZone: app.config.TIME_ZONE,
    payments: {
      source: getServiceSource(app.config),
      resolveFilter,
    },
    recordExport: createExportRecorder(app.auditLog, store),
  })
  const certificates = await createServiceCertificates(app, store)
  const issuer = createCertificateIssuer({
    database: app.database,
    store,
    source,
    onIssued: (tx, { certificate, order }) => mail.announceCertificate(tx, order, certificate.code),
    providerName: app.config.ORDERSOURCE_NAME ?? null,
  })
  events.addConsumer('certificates', issuer.consume)
  outbox.addSender(issuer.sender)
  await app.register(paymentRoutes, { store, paymentStore })
  await app.register(stripeWebhooks, { payments })
  await app.register(ordering, {
    quotes,
    readPrefill,
    createLink: links.create,
    store,
    links: orderLinks,
    certificates,
    paymentStore,
    payments,
  })
  const fulfilment = source && createFulfilment(store, source)
  if (app.config.AUTO_FULFIL && fulfilment !== null && source !== null) {
    const { maxRequestMs } = source
    const autoFulfilment = createAutoFulfilment({
      store,
      fulfilment,
      findPaymentProblem: async (orderId) => findPurchaseProblem(await paymentStore.list(orderId)),
      maxRequestMs,
    })
    events.addConsumer('fulfilment', autoFulfilment.consume)
    outbox.addSender(autoFulfilment.sender)
  }
  await app.register(webhookRoutes, { webhooks })
  const savedViews = createSavedViews(app.database)
  const files = [store.source, getServiceSource(app.config)].flatMap((source) =>
    source.type === 'sqlite' ? [source.path] : [],
  )
  const rewriter = createFileRewriter([...new Set(files)], app.log)
  app.schedule('rewrite files', REWRITE_MS, () => rewriter.run())
  const eraser = createEraser({
    store,
    database: app.database,
    events,
    auditLog: app.auditLog,
    removeSearches: savedViews.removeSearches,
    isFile: app.postgres === null,
    rewriter,
    log: app.log,
  })
  await app.register(erasureRoutes, { eraser })
  await app.register(portal, {
    store,
    fulfilment,
    listPortfolios,
    getTerms,
    webhooks,
    certificates,
    mail,
    accountMail,
    conversions,
    paymentStore,
    payments,
    savedViews,
    eraser,
  })
  if (pages) await app.register(pages)

  return app
}
