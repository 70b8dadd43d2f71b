import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { Problem } from '../../http/problem.js'

/**
 * Parses what the browser's WebAuthn API returned, sent as a form field. Its content is verified by
 * `Passkeys`. Throws a Problem (422).
 */
export function parseCredential<
  Credential extends RegistrationResponseJSON | AuthenticationResponseJSON,
>(field: unknown): Credential {
  try {
    const value: unknown = typeof field === 'string' ? JSON.parse(field) : null
    if (typeof value === 'object' && value !== null) return value as Credential
  } catch {
    // Reported below
  }
  throw new Problem(422, 'The passkey could not be read. Try again.')
}
