import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { startFakeStripe, type FakeStripe } from '../../src/demo/fake-stripe/fake-stripe.js'

/** The environment of a service that accepts payments through Stripe. */
export const STRIPE_KEYS = {
  PAYMENT: 'stripe',
  STRIPE_SECRET_KEY: 'sk_test_of_the_tests',
  STRIPE_WEBHOOK_SECRET: 'whsec_of_the_tests',
}

/** Starts a fake Stripe, and returns the environment variables of a service that uses it. */
export async function startStripe(t: Test, transferMs = 200) {
  const stripe = await startFakeStripe({
    secretKey: STRIPE_KEYS.STRIPE_SECRET_KEY,
    webhookSecret: STRIPE_KEYS.STRIPE_WEBHOOK_SECRET,
    transferMs,
  })
  t.teardown(() => stripe.close())
  return {
    stripe,
    environment: {
      ...STRIPE_KEYS,
      STRIPE_API_URL: stripe.url,
      STRIPE_CHECKOUT_URL: stripe.url,
      STRIPE_CHECK_INTERVAL: '3600',
    },
  }
}

export const getWebhookUrl = (url: string): string => `${url}/api/payments/stripe/webhook`

/** Sends the webhooks of a fake Stripe to a service. */
export function sendWebhooks(stripe: FakeStripe, url: string): void {
  stripe.sender.url = getWebhookUrl(url)
}

/** The ID of the session in the URL of its page. */
export const getSessionId = (link: string | null | undefined): string =>
  /\/c\/pay\/(cs_\w+)$/.exec(link ?? '')?.[1] ?? ''

/** Waits until background jobs have run. */
export const settle = (): Promise<void> => sleep(1_200)
