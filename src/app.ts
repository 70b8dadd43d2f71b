import Fastify, { type FastifyInstance, type FastifyPluginAsync } from 'fastify'
import { accountNotices } from './accounts/account-mail.js'
import accounts from './accounts/accounts.js'
import configuredAccounts, { type FirstAdministrator } from './accounts/configured-accounts.js'
import { portalPages } from './accounts/portal-scope.js'
import security from './accounts/security.js'
import apiDocs from './api-docs/api-docs.js'
import calculator from './calculator/calculator.js'
import certificates from './certificates/certificates.js'
import checkout from './checkout/checkout.js'
import guestMail from './checkout/guest-mail/guest-mail.js'
import { CONFIG_PARTS } from './config-parts.js'
import core, { MAX_CONNECTIONS, serverOptions, type LogStream } from './core/core.js'
import dashboard from './dashboard/dashboard.js'
import database from './database/database-plugin.js'
import stateStore from './database/state-store/state-store.js'
import orderExports from './exports/exports.js'
import mail from './mail/mail.js'
import type { MailDelivery } from './mail/smtp-delivery.js'
import { connectToNocoDb } from './nocodb/nocodb.js'
import erasure from './orders/erasure/erasure.js'
import orderEvents from './orders/order-events/order-events.js'
import orders from './orders/orders.js'
import orderPages from './orders/pages/pages.js'
import { validators } from './orders/validators.js'
import outbox from './outbox/outbox.js'
import payments from './payments/payments.js'
import fulfilment from './provider/fulfilment/fulfilment.js'
import provider from './provider/provider.js'
import prefill from './qr-codes/prefill-reader.js'
import qrCodes from './qr-codes/qr-codes.js'
import { OPENAPI_WEBHOOKS } from './webhooks/webhook-message.js'
import webhooks from './webhooks/webhooks.js'

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
 * Builds the service, ready to listen: what all features share, then the features. A feature
 * decorates the app with its service, which the features after it use. Throws ConfigError if the
 * environment is invalid.
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

  await app.register(core, { environment, configParts: CONFIG_PARTS, validators })
  await app.register(configuredAccounts, { onFirstAdministrator }) // before anything is stored
  await app.register(database)
  await app.register(stateStore)
  await app.register(security)
  await app.register(outbox)
  await app.register(mail, { delivery: mailDelivery })
  await app.register(accountNotices)
  await app.register(apiDocs, { webhooks: OPENAPI_WEBHOOKS })
  await app.register(accounts)

  await app.register(provider)
  await app.register(prefill)
  await app.register(calculator)
  await app.register(qrCodes)
  await app.register(orders, { replaceStore: connectToNocoDb })
  await app.register(orderEvents)
  await app.register(erasure)
  await app.register(orderPages)
  await app.register(fulfilment)
  await app.register(payments)
  await app.register(orderExports)
  await app.register(certificates)
  await app.register(checkout)
  await app.register(guestMail)
  await app.register(webhooks)
  await app.register(dashboard)
  await app.register(portalPages) // after all that add pages
  if (pages) await app.register(pages)

  return app
}
