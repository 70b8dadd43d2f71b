import { createHmac, randomBytes } from 'node:crypto'

const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** Generates a signing secret in the format of Standard Webhooks. */
export const generateSecret = (): string =>
  SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')

/**
 * Signs a message (Standard Webhooks, version 1); returns the `webhook-signature` header, with a
 * signature for each secret.
 *
 * @param timestamp Unix time, seconds
 */
export function signMessage(
  secrets: readonly string[],
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
      const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`)
      return `v1,${hmac.digest('base64')}`
    })
    .join(' ')
}
