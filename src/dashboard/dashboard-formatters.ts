import { convertKilograms, toMassUnit, type MassUnit } from '../calculator/units.js'
import type { Granularity } from '../core/formatting/day-calendar.js'

const toUtcDate = (isoDate: string): Date => new Date(`${isoDate}T00:00:00Z`)

/** Locale formatters that only the dashboard needs, in addition to the shared ones. */
export function createDashboardFormatters(locale: string) {
  // Calendar days are formatted in UTC, because they do not depend on a time zone.
  const createDateFormat = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' })
  const oneDecimal = { minimumFractionDigits: 1, maximumFractionDigits: 1 }
  const share = new Intl.NumberFormat(locale, { style: 'percent', ...oneDecimal })
  const decimal = new Intl.NumberFormat(locale, oneDecimal)
  const twoDigits = new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 })
  const upToOneDecimal = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 })
  // The unit is in English, like the surrounding sentence; the number follows the locale.
  const formatDuration = (value: number, unit: string): string => {
    const number = upToOneDecimal.format(value)
    return `${number} ${number === '1' ? unit : `${unit}s`}`
  }
  const period = createDateFormat({ dateStyle: 'medium' })
  const date = createDateFormat({ day: 'numeric', month: 'short' })
  const day = createDateFormat({ weekday: 'short', day: 'numeric', month: 'short' })
  const month = createDateFormat({ month: 'long', year: 'numeric' })
  const shortMonth = createDateFormat({ month: 'short', year: 'numeric' })
  return {
    locale,
    /** A ratio (0 to 1) as a percentage with one decimal, so that columns align */
    share: (ratio: number): string => share.format(ratio),
    /** A number with one decimal */
    decimal: (value: number): string => decimal.format(value),
    /** A rate; values below 0.1 keep two significant digits instead of rounding to zero */
    rate: (value: number): string =>
      value > 0 && value < 0.1 ? twoDigits.format(value) : decimal.format(value),
    /** A mass in kg, converted to a readable unit */
    mass(kg: number): { value: string; unit: MassUnit } {
      const unit = toMassUnit(kg)
      return { value: decimal.format(convertKilograms(kg, unit)), unit }
    },
    /** A duration in hours, shown in days from 48 hours */
    duration: (value: number): string =>
      value < 48 ? formatDuration(value, 'hour') : formatDuration(value / 24, 'day'),
    /** A day, without its year */
    date: (isoDate: string): string => date.format(toUtcDate(isoDate)),
    /** A range of ISO dates, both inclusive */
    period: (from: string, to: string): string =>
      from === to
        ? period.format(toUtcDate(from))
        : period.formatRange(toUtcDate(from), toUtcDate(to)),
    /** A day, week or month of the timeline, given its first and last day */
    timelinePeriod: (granularity: Granularity, from: string, to: string): string => {
      if (granularity === 'week') return period.formatRange(toUtcDate(from), toUtcDate(to))
      return (granularity === 'day' ? day : month).format(toUtcDate(from))
    },
    /** A day, week or month of the timeline as a short label, given its first day */
    axisLabel: (granularity: Granularity, from: string): string =>
      (granularity === 'month' ? shortMonth : date).format(toUtcDate(from)),
  }
}

export type DashboardFormatters = ReturnType<typeof createDashboardFormatters>
