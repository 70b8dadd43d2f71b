import { findPasswordError } from './password-rules.js'

export const toText = (value: unknown): string => (typeof value === 'string' ? value : '')

/**
 * Validates the fields `password` and `repeated` of a form; returns the new password, or the first
 * error with its field.
 *
 * @param email of the account
 */
export async function parsePasswordForm(
  { password: given, repeated }: Record<string, unknown>,
  email: string,
): Promise<{ password: string } | { errors: { password?: string; repeated?: string } }> {
  const password = toText(given)
  if (password === '') return { errors: { password: 'Enter a password' } }
  const error = await findPasswordError(password, email)
  if (error !== null) return { errors: { password: `The password ${error}` } }
  return password === toText(repeated)
    ? { password }
    : { errors: { repeated: 'The passwords do not match' } }
}
