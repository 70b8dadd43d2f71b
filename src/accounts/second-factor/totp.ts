import { Secret, TOTP } from 'otpauth'

const PERIOD_SECONDS = 30
/**
 * Also accepts codes from the previous and next time step, because clocks differ (RFC 6238, 5.2).
 */
const WINDOW_STEPS = 1
const SECRET_BYTES = 20

const createTotp = (secret: string, options: { issuer?: string; label?: string } = {}): TOTP =>
  new TOTP({
    ...options,
    secret: Secret.fromBase32(secret),
    algorithm: 'SHA1',
    digits: 6,
    period: PERIOD_SECONDS,
  })

/** Creates a secret for an authenticator app, in Base32. */
export const createTotpSecret = (): string => new Secret({ size: SECRET_BYTES }).base32

/** The URI that an authenticator app reads from a QR code. */
export const buildTotpUri = (secret: string, issuer: string, email: string): string =>
  createTotp(secret, { issuer, label: email }).toString()

/**
 * Returns the time step of a valid code, or `null`. A code is valid only once: store its step, and
 * pass the stored step as `lastStep` next time.
 *
 * @param now ms since 1970
 */
export function verifyTotp(
  secret: string,
  code: string,
  { lastStep, now }: { lastStep: number; now: number },
): number | null {
  const delta = createTotp(secret).validate({ token: code, window: WINDOW_STEPS, timestamp: now })
  if (delta === null) return null
  const step = Math.floor(now / 1000 / PERIOD_SECONDS) + delta
  return step > lastStep ? step : null
}
