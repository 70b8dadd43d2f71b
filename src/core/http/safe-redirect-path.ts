const MAX_LENGTH = 4_000

/**
 * Returns a given redirect target if it is a page of this service for signed-in users, otherwise
 * `/admin`. Prevents open redirects.
 */
export function toSafeRedirectPath(given: unknown): string {
  const fallback = '/admin'
  if (typeof given !== 'string' || given.length > MAX_LENGTH) return fallback
  // Parsed as in browsers, which treat `/\example.com` as another site.
  const base = 'http://service.invalid'
  const url = URL.canParse(given, base) ? new URL(given, base) : null
  if (url?.origin !== base || !/^\/(?:admin|qr-test)(?:$|\/)/.test(url.pathname)) return fallback
  if (/^\/admin\/(?:login|logout|forgot-password|invitation|password-reset)/.test(url.pathname))
    return fallback
  return url.pathname + url.search
}
