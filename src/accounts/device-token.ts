import { createHmac, randomBytes } from 'node:crypto'
import { deriveKey, timingSafeEqualText } from '../core/config/signer.js'

const DEVICE_DAYS = 365

export interface DeviceTokens {
  /** Creates a token for a browser in which an account has just signed in. */
  issue(email: string): { token: string; expires: Date }
  /** Returns the device ID of a valid token of this account, or `null`. */
  verify(token: string, email: string): string | null
}

/**
 * Device cookies: they mark browsers in which an account has signed in, so that strangers cannot
 * lock its owner out (OWASP, “Slow Down Online Guessing Attacks with Device Cookies”). A token
 * grants no access.
 */
export function createDeviceTokens(secret: string): DeviceTokens {
  const key = deriveKey(secret, 'known device v1')
  const sign = (id: string, expires: string, email: string): string =>
    createHmac('sha256', key).update([id, expires, email].join('\n')).digest('base64url')

  return {
    issue(email) {
      const id = randomBytes(16).toString('base64url')
      const expires = new Date(Date.now() + DEVICE_DAYS * 24 * 60 * 60 * 1000)
      const time = String(expires.getTime())
      return { token: [id, time, sign(id, time, email)].join('.'), expires }
    },
    verify(token, email) {
      const [id = '', expires = '', given = ''] = token.split('.')
      const isValid = timingSafeEqualText(given, sign(id, expires, email))
      return isValid && Number(expires) > Date.now() ? id : null
    },
  }
}
