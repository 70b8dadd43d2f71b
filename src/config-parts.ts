import { accountConfig } from './accounts/account-config.js'
import { auditConfig } from './audit/audit-config.js'
import { calculatorConfig } from './calculator/calculator-config.js'
import { certificateConfig } from './certificates/certificate-config.js'
import { checkoutConfig } from './checkout/checkout-config.js'
import type { ConfigPart } from './core/config/config-part.js'
import { databaseConfig } from './database/database-config.js'
import { mailConfig } from './mail/mail-config.js'
import { nocoDbConfig } from './nocodb/nocodb-config.js'
import { orderConfig } from './orders/order-config.js'
import { paymentConfig } from './payments/payment-config.js'
import { providerConfig } from './provider/provider-config.js'
import { qrCodeConfig } from './qr-codes/qr-code-config.js'
import { webhookConfig } from './webhooks/webhook-config.js'

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
