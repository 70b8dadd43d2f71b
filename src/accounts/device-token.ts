import { createHmac, randomBytes } from 'node:crypto'
import { deriveKey } from '../config/derive-key.js'
import { timingSafeEqualText } from '../http/timing-safe-equal.js'

const DEVICE_DAYS = 365

export interface DeviceTokens {
  /** A token for a browser in which an account has just logged in. */
  issue(email: string): { token: string; expires: Date }
  /** The id of a device that the account has logged in on; `null` where the token is not good */
  idOf(token: string, email: string): string | null
}

/**
 * Marks the browsers in which an account has logged in, so that strangers who use up the
 * account's failures do not lock its owner out (OWASP, “Slow Down Online Guessing Attacks with
 * Device Cookies”). A token tells nothing of the password and opens nothing.
 */
export function createDeviceTokens(secret: string): DeviceTokens {
  const key = deriveKey(secret, 'known device v1')
  const signature = (id: string, expires: string, email: string): string =>
    createHmac('sha256', key).update([id, expires, email].join('\n')).digest('base64url')

  return {
    issue(email) {
      const id = randomBytes(16).toString('base64url')
      const expires = new Date(Date.now() + DEVICE_DAYS * 24 * 60 * 60 * 1000)
      const time = String(expires.getTime())
      return { token: [id, time, signature(id, time, email)].join('.'), expires }
    },
    idOf(token, email) {
      const [id = '', expires = '', given = ''] = token.split('.')
      const isOurs = timingSafeEqualText(given, signature(id, expires, email))
      return isOurs && Number(expires) > Date.now() ? id : null
    },
  }
}
