/** More than the longest search has, and far less than a header may hold. */
const LONGEST = 4_000

/**
 * A path of this service's own pages that may ask for an administrator, from what a request has
 * brought along; anything else, such as another site, is the first of those pages.
 */
export function toSafeRedirectPath(given: unknown): string {
  const fallback = '/admin'
  if (typeof given !== 'string' || given.length > LONGEST) return fallback
  // Read as a browser reads it, which takes `/\example.com` for another site.
  const base = 'http://own.invalid'
  const url = URL.canParse(given, base) ? new URL(given, base) : null
  if (url?.origin !== base || !/^\/(?:admin|qr-test)(?:$|\/)/.test(url.pathname)) return fallback
  if (/^\/admin\/(?:login|logout)/.test(url.pathname)) return fallback
  return url.pathname + url.search
}
