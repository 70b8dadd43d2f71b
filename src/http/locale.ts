const LIKELY = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/

/** The locale of ours that a tag stands for, if any; some that look like tags are none. */
function supportedLocale(tag: string): string | undefined {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag)[0]
  } catch {
    return undefined
  }
}

/** In which locale a reader likes figures and dates, by Accept-Language; British English by default. */
export function getLocale(acceptLanguage: string | undefined): string {
  const tags = (acceptLanguage ?? '')
    .slice(0, 200)
    .split(',')
    .map((range) => {
      const [tag = '', q = 'q=1'] = range.trim().split(/\s*;\s*/, 2)
      return { tag, weight: Number(q.replace('q=', '')) }
    })
    .filter(({ tag, weight }) => LIKELY.test(tag) && weight > 0)
    .sort((a, b) => b.weight - a.weight)
  for (const { tag } of tags) {
    // Plain `en` would be read as American, whose dates most of the world misreads.
    if (tag === 'en') return 'en-GB'
    const supported = supportedLocale(tag)
    if (supported !== undefined) return supported
  }
  return 'en-GB'
}
