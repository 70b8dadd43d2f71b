import { Type, type Static } from '@sinclair/typebox'
import { stringEnum } from '../validation/string-enum.js'

const optional = (description: string) => Type.Optional(Type.String({ description }))

const perMinute = (fallback: number, subject: string) =>
  Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: fallback,
    description: `${subject} per client per minute`,
  })

/** Every environment variable that Clearwake reads. */
export const ConfigSchema = Type.Object({
  HOST: Type.String({ default: '127.0.0.1', description: 'Address to listen on' }),
  PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 3000,
    description: 'Port to listen on; 0 for any free port',
  }),
  PUBLIC_BASE_URL: optional('Origin of QR links, such as https://carbon.example.com'),
  SESSION_SECRET: optional(
    'At least 32 bytes; signs sessions and QR links, and encrypts stored secrets',
  ),
  SESSION_SECRET_PREVIOUS: optional(
    'The previous secret, still accepted for what was signed or encrypted with it',
  ),
  ADMIN_ACCOUNTS: optional('email:hash pairs, comma-separated'),
  LOGIN_LIMIT_PER_CLIENT: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 10,
    description: 'Failed sign-ins per client in 15 minutes',
  }),
  LOGIN_LIMIT_PER_ACCOUNT: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 50,
    description: 'Failed sign-ins per account in an hour, from unknown clients',
  }),
  DATA_DIR: Type.String({
    default: './data',
    description: 'Directory for the files of the service',
  }),
  DATABASE_URL: optional(
    'PostgreSQL, such as postgres://user:password@host/name; SQLite without it',
  ),
  DATABASE_POOL_SIZE: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: 10,
    description: 'PostgreSQL connections per process',
  }),
  ORDERS_READ_ONLY: Type.Boolean({
    default: false,
    description: 'Reject changes to orders while they are moved to another database',
  }),
  DATABASE_BASE_URL: optional('NocoDB that stores the orders, such as https://nocodb.example.com'),
  DATABASE_BASE_ID: optional('Base ID'),
  DATABASE_API_KEY: optional('API token with read and write access'),
  DATABASE_ORDERS_TABLE_ID: optional('ID of the orders table'),
  NOCODB_SYNC_INTERVAL: Type.Number({
    minimum: 0.1,
    maximum: 3600,
    default: 5,
    description: 'Seconds between synchronisations with NocoDB',
  }),
  NOCODB_REQUESTS_PER_SECOND: Type.Number({
    minimum: 0.1,
    maximum: 10_000,
    default: 4,
    description: 'Requests per second from this process to NocoDB',
  }),
  NOCODB_COLUMNS: optional('Column titles: field=Column, comma-separated'),
  ORDERSOURCE_BASE_URL: optional('URL of the order source, such as https://api.example.com/v1'),
  ORDERSOURCE_API_TOKEN: optional('Bearer token for the order source'),
  ORDERSOURCE_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    maximum: 120_000,
    default: 10_000,
    description: 'Time-out for the first byte of a response and between bytes',
  }),
  ORDERSOURCE_NAME: optional('Name of the order source on certificates, such as Wren'),
  REQUIRE_SECOND_FACTOR: Type.Boolean({
    default: false,
    description: 'Require a second factor of every user',
  }),
  AUTO_FULFIL: Type.Boolean({
    default: false,
    description: 'Place paid guest orders with the order source',
  }),
  ORDERSOURCE_PUBLIC_ROUTES: Type.String({
    default: 'GET /portfolios',
    description: 'Routes of the order source that need no sign-in: METHOD /path, or none',
  }),
  SERVICE_FEE_PERCENT: Type.Number({
    minimum: 0,
    maximum: 1000,
    default: 0,
    description: "Percentage added to the provider's price",
  }),
  CHECKOUT_URL: optional('URL of the shop that results link to'),
  CHECKOUT_SECRET: optional('At least 32 bytes; signs the parameters sent to CHECKOUT_URL'),
  BRAND_NAME: Type.String({
    default: 'Clearwake',
    minLength: 1,
    maxLength: 60,
    description: "The operator's name in the header of every page",
  }),
  BRAND_LOGO: optional('Path of the logo: SVG, PNG, JPEG or WebP, at most 200 kB'),
  CURRENCY: Type.String({
    default: 'USD',
    description: 'Default currency of new orders, shown first on the dashboard',
  }),
  PRICE_PER_TONNE: optional(
    'Price of carbon credits for a tonne of CO2e, in CURRENCY, such as 24.50',
  ),
  MINIMUM_AMOUNT: optional('Minimum amount of a guest order, in CURRENCY, such as 5'),
  PAYMENT: stringEnum<'invoice' | 'stripe'>(['invoice', 'stripe'], {
    default: 'invoice',
    description: "How guests pay: by invoice, following PAYMENT_INSTRUCTIONS, or on Stripe's page",
  }),
  STRIPE_SECRET_KEY: optional('Secret or restricted API key of Stripe: sk_… or rk_…'),
  STRIPE_WEBHOOK_SECRET: optional("Signing secret of Stripe's webhook endpoint: whsec_…"),
  STRIPE_API_URL: Type.String({
    default: 'https://api.stripe.com',
    description: "Origin of Stripe's API",
  }),
  STRIPE_CHECKOUT_URL: Type.String({
    default: 'https://checkout.stripe.com',
    description: 'Origin of the payment page; your own with a custom domain at Stripe',
  }),
  STRIPE_CHECK_INTERVAL: Type.Number({
    minimum: 0.1,
    maximum: 3600,
    default: 60,
    description: 'Seconds between checks of a new payment, in case a webhook is lost',
  }),
  PAYMENT_INSTRUCTIONS: optional('How guests pay, shown with their orders; \\n is a line break'),
  TERMS_URL: optional('Terms that guests agree to when they order'),
  PRIVACY_URL: optional('Privacy notice, linked from the order form'),
  CERTIFICATE_FONT: optional('TTF or OTF file for certificates, for scripts that their fonts lack'),
  SMTP_URL: optional('Mail server, such as smtps://user:password@smtp.example.com'),
  MAIL_FROM: optional('Sender of emails, such as Harbour Example <offset@example.com>'),
  MAIL_HOLD_SECONDS: Type.Integer({
    minimum: 0,
    maximum: 3600,
    default: 60,
    description: 'How long emails wait after a change by a person, who may undo it',
  }),
  ORDER_LIMIT_PER_CLIENT: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 60,
    description: 'Guest orders per client per hour',
  }),
  ORDER_LIMIT_PER_EMAIL: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 10,
    description: 'Guest orders per email address per hour',
  }),
  TIME_ZONE: Type.String({ default: 'UTC', description: 'IANA time zone of displayed dates' }),
  QR_REQUIRE_ADMIN: Type.Boolean({
    default: false,
    description: 'Require a sign-in or an API key to generate QR codes',
  }),
  TRUST_PROXY: Type.String({
    default: 'false',
    description: 'Trusted proxies: true, a number of hops, or addresses',
  }),
  WEBHOOK_ALLOW_LOOPBACK: Type.Boolean({
    default: false,
    description: 'Permit webhooks to http://127.0.0.1 and http://localhost, for development',
  }),
  AUDIT_RETENTION_DAYS: Type.Integer({
    minimum: 1,
    maximum: 36_500,
    default: 400,
    description: 'Days that entries of the audit log are kept',
  }),
  SECURITY_CONTACT: optional(
    'Where to report vulnerabilities: an email, or an https or mailto URL',
  ),
  METRICS_TOKEN: optional('Bearer token for /metrics; without it, loopback only'),
  LOG_LEVEL: stringEnum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'Minimum level of log entries',
  }),
  RATE_LIMIT_PER_MINUTE: perMinute(6000, 'Requests'),
  API_KEY_LIMIT_PER_MINUTE: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 1200,
    description: 'Requests per API key per minute',
  }),
  QR_RATE_LIMIT_PER_MINUTE: perMinute(600, 'QR codes'),
  ORDER_RATE_LIMIT_PER_MINUTE: perMinute(600, 'Quotes, order forms and payments'),
  SHED_AFTER_MS: Type.Integer({
    minimum: 50,
    maximum: 60_000,
    default: 300,
    description: 'How long a request may queue before it is rejected',
  }),
  SHUTDOWN_TIMEOUT_MS: Type.Integer({
    minimum: 0,
    maximum: 600_000,
    default: 10_000,
    description: 'Time for requests in progress to finish at shutdown',
  }),
})

export type Environment = Static<typeof ConfigSchema>
