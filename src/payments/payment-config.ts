import { checkRules, type ConfigRule } from '../core/config/config-rules.js'
import { parseHttpUrl } from '../core/config/find-config-errors.js'
import { isLoopback } from '../core/http/client-address.js'

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

const RULES: readonly ConfigRule[] = [
  ['STRIPE_SECRET_KEY', isSecretKey, 'must be a secret or restricted key, such as sk_live_…'],
  ['STRIPE_WEBHOOK_SECRET', isWebhookSecret, 'must be a signing secret, such as whsec_…'],
  ['STRIPE_API_URL', isSafeOrigin, ORIGIN],
  ['STRIPE_CHECKOUT_URL', isSafeOrigin, ORIGIN],
]

/** Finds errors in the environment variables for payments. */
export function findPaymentConfigErrors(environment: NodeJS.ProcessEnv): string[] {
  const errors = checkRules(environment, RULES)
  const isUsed =
    environment.PAYMENT === 'stripe' || REQUIRED.some((name) => environment[name] !== undefined)
  const missing = REQUIRED.filter((name) => isUsed && environment[name] === undefined)
  return [
    ...errors,
    ...missing.map((name) =>
      environment.PAYMENT === 'stripe'
        ? `${name} is required with PAYMENT=stripe`
        : `${name} is required with the other Stripe variables`,
    ),
  ]
}
