import { accountConfig } from './accounts/account-config.js'
import { auditConfig } from './audit/audit.js'
import { calculatorConfig } from './calculator/calculator.js'
import { certificateConfig } from './certificates/certificates.js'
import { checkoutConfig } from './checkout/checkout-config.js'
import type { ConfigPart } from './core/config/config-part.js'
import { databaseConfig } from './database/database-plugin.js'
import { mailConfig } from './mail/mail-config.js'
import { nocoDbConfig } from './nocodb/nocodb-config.js'
import { orderConfig } from './orders/orders.js'
import { paymentConfig } from './payments/payments.js'
import { providerConfig } from './provider/provider.js'
import { qrCodeConfig } from './qr-codes/qr-codes.js'
import { webhookConfig } from './webhooks/webhooks.js'

/** The environment variables of all features; each feature checks its own. */
export const CONFIG_PARTS: readonly ConfigPart[] = [
  databaseConfig,
  mailConfig,
  auditConfig,
  accountConfig,
  calculatorConfig,
  qrCodeConfig,
  orderConfig,
  nocoDbConfig,
  providerConfig,
  paymentConfig,
  certificateConfig,
  checkoutConfig,
  webhookConfig,
]
