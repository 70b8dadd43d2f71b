import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { startFakeStripe, type FakeStripe } from '../../src/demo/fake-stripe/fake-stripe.js'

/** Starts a fake Stripe, and returns the environment variables of a service that uses it. */
export async function startStripe(t: Test, transferMs = 200) {
  const stripe = await startFakeStripe({
    secretKey: 'sk_test_of_the_tests',
    webhookSecret: 'whsec_of_the_tests',
    transferMs,
  })
  t.teardown(() => stripe.close())
  return {
    stripe,
    environment: {
      PAYMENT: 'stripe',
      STRIPE_SECRET_KEY: stripe.secretKey,
      STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
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
