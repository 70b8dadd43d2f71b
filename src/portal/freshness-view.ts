import { lazy } from '../lazy.js'
import type { Freshness } from '../order-store/order-store.js'
import { getFormatters } from './formatters.js'

interface Reader {
  locale: string
  timeZone: string
  /** ms since the epoch */
  now: number
}

const STEPS: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]
// The sentence that it stands in is English, whatever the figures are.
const relative = lazy(() => new Intl.RelativeTimeFormat('en', { style: 'short' }))

/** How long ago a moment was, such as `5 min ago`. */
function ago(moment: string, now: number): string {
  const seconds = (now - Date.parse(moment)) / 1000
  const [unit, length] = STEPS.find(([, length]) => seconds >= length) ?? []
  if (unit === undefined || length === undefined) return 'less than a minute ago'
  return relative()
    .format(-Math.floor(seconds / length), unit)
    .replace('.', '')
}

/**
 * What pages say of orders that do not keep up with NocoDB; `null` where they do, and where there
 * are none yet, as pages say that by themselves.
 */
export function buildFreshnessView(freshness: Freshness | null, { locale, timeZone, now }: Reader) {
  if (freshness?.problem == null || freshness.asOf === null) return null
  const { asOf, problem, isWritable } = freshness
  const figures = getFormatters(locale, timeZone)
  const text = `${problem}.${isWritable ? '' : ' Until that is over, changes cannot be saved.'}`
  const isToday = figures.date(asOf) === figures.date(new Date(now).toISOString())
  const time = isToday ? figures.time(asOf) : `${figures.date(asOf)}, ${figures.time(asOf)}`
  return { asOf, time, ago: ago(asOf, now), timeZone, text }
}
