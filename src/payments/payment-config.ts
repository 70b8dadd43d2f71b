import { Type } from '@sinclair/typebox'
import {
  optional,
  parseHttpUrl,
  type ConfigPart,
  type ConfigRule,
  type Values,
} from '../core/config/config-part.js'
import { isLoopback } from '../core/http/client-address.js'
import { stringEnum } from '../core/validation/schema-types.js'

declare module '../core/config/config.js' {
  interface Config extends Values<typeof variables> {}
}

const variables = {
  PAYMENT: stringEnum<'invoice' | 'stripe'>(['invoice', 'stripe'], {
    default: 'invoice',
    description: "How guests pay: by bank transfer, or on Stripe's page",
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
}

const REQUIRED = ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'] as const

/** Keys are sent in a header, so they must be ASCII without spaces. */
const isSecretKey = (text: string): boolean => /^[sr]k_[\x21-\x7e]+$/.test(text)
const isWebhookSecret = (text: string): boolean => /^whsec_[\x21-\x7e]+$/.test(text)

function isSafeOrigin(text: string): boolean {
  const url = parseHttpUrl(text)
  if (url?.pathname !== '/' || url.search !== '' || url.hash !== '') return false
  return url.protocol === 'https:' || isLoopback(url.hostname)
}

const ORIGIN = 'must be an https URL without a path (http only on a loopback address)'

const rules: readonly ConfigRule[] = [
  ['STRIPE_SECRET_KEY', isSecretKey, 'must be a secret or restricted key, such as sk_live_…'],
  ['STRIPE_WEBHOOK_SECRET', isWebhookSecret, 'must be a signing secret, such as whsec_…'],
  ['STRIPE_API_URL', isSafeOrigin, ORIGIN],
  ['STRIPE_CHECKOUT_URL', isSafeOrigin, ORIGIN],
]

function findErrors(environment: NodeJS.ProcessEnv): string[] {
  const isUsed =
    environment.PAYMENT === 'stripe' || REQUIRED.some((name) => environment[name] !== undefined)
  const missing = REQUIRED.filter((name) => isUsed && environment[name] === undefined)
  return missing.map((name) =>
    environment.PAYMENT === 'stripe'
      ? `${name} is required with PAYMENT=stripe`
      : `${name} is required with the other Stripe variables`,
  )
}

/** How guests pay. */
export const paymentConfig = { variables, rules, findErrors } satisfies ConfigPart
