import { Type, type Static } from '@sinclair/typebox'
import { stringEnum } from '../validation/string-enum.js'

const optional = (description: string) => Type.Optional(Type.String({ description }))

const perMinute = (fallback: number, what: string) =>
  Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: fallback,
    description: `${what} each client may make a minute`,
  })

/** Every variable of the environment that Clearwake reads. */
export const ConfigSchema = Type.Object({
  HOST: Type.String({ default: '127.0.0.1', description: 'Address to listen on' }),
  PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 3000,
    description: 'Port to listen on; 0 takes any free one',
  }),
  PUBLIC_BASE_URL: optional('What QR links begin with, such as https://carbon.example.com'),
  SESSION_SECRET: optional('At least 32 bytes; signs sessions and QR links'),
  SESSION_SECRET_PREVIOUS: optional('The secret before, still accepted for QR links'),
  ADMIN_ACCOUNTS: optional('email:hash pairs, comma-separated'),
  LOGIN_LIMIT_PER_CLIENT: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 10,
    description: 'Logins that may fail from one client in 15 minutes',
  }),
  LOGIN_LIMIT_PER_ACCOUNT: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 50,
    description: 'Logins of one account that may fail in an hour, from clients it does not know',
  }),
  REDIS_URL: optional('What several processes share: redis://… or rediss://…'),
  DATA_DIR: Type.String({ default: './data', description: 'Where the service keeps its files' }),
  DATABASE_BASE_URL: optional('NocoDB that holds the orders, such as https://nocodb.example.com'),
  DATABASE_BASE_ID: optional('Its base of the orders'),
  DATABASE_API_KEY: optional('An API token that may read and write them'),
  DATABASE_ORDERS_TABLE_ID: optional('Its table of the orders'),
  NOCODB_SYNC_INTERVAL: Type.Number({
    minimum: 0.1,
    maximum: 3600,
    default: 5,
    description: 'How often what was changed in NocoDB is taken in, seconds',
  }),
  NOCODB_REQUESTS_PER_SECOND: Type.Number({
    minimum: 0.1,
    maximum: 10_000,
    default: 4,
    description: 'Requests to NocoDB that this process may make a second',
  }),
  NOCODB_COLUMNS: optional('Names of columns that are not ours: field=Column, comma-separated'),
  ORDERSOURCE_BASE_URL: optional('Where the order source is, such as https://api.example.com/v1'),
  ORDERSOURCE_API_TOKEN: optional('Bearer token that the order source is called with'),
  ORDERSOURCE_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    maximum: 120_000,
    default: 10_000,
    description: 'How long the order source may take to begin its answer, or pause in it',
  }),
  ORDERSOURCE_PUBLIC_ROUTES: Type.String({
    default: 'GET /portfolios',
    description: 'Calls of the order source that need no administrator: METHOD /path, or none',
  }),
  CHECKOUT_URL: optional('Where a result links to for offsetting'),
  CURRENCY: Type.String({
    default: 'USD',
    description: 'Currency of new orders unless another is chosen, and the first on the dashboard',
  }),
  TIME_ZONE: Type.String({ default: 'UTC', description: 'IANA time zone of dates shown' }),
  QR_REQUIRE_ADMIN: Type.Boolean({
    default: false,
    description: 'Only administrators may generate QR codes',
  }),
  TRUST_PROXY: Type.String({
    default: 'false',
    description:
      'true, a number of hops, or addresses of proxies whose X-Forwarded-For is believed',
  }),
  METRICS_TOKEN: optional('Bearer token for /metrics; without it only loopback may read them'),
  LOG_LEVEL: stringEnum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'Least severe log entries to write',
  }),
  RATE_LIMIT_PER_MINUTE: perMinute(6000, 'Requests of any kind that'),
  QR_RATE_LIMIT_PER_MINUTE: perMinute(600, 'QR codes that'),
  SHED_AFTER_MS: Type.Integer({
    minimum: 50,
    maximum: 60_000,
    default: 300,
    description: 'How long requests may wait for one another before further ones are refused',
  }),
  SHUTDOWN_TIMEOUT_MS: Type.Integer({
    minimum: 0,
    maximum: 600_000,
    default: 10_000,
    description: 'How long requests under way may take to finish when the service is stopped',
  }),
})

export type Environment = Static<typeof ConfigSchema>
