import type { Retirement } from '../orders/order.js'

/**
 * Formats the day of a retirement. A date without a time is that day in every time zone.
 *
 * @param formatDate formats a timestamp as a date in the service's time zone
 */
export function formatRetirementDate(
  { retiredAt }: Pick<Retirement, 'retiredAt'>,
  formatDate: (timestamp: string) => string,
): string {
  const isDay = !retiredAt.includes('T')
  return isDay ? DAYS.format(new Date(retiredAt)) : formatDate(retiredAt)
}

const DAYS = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
