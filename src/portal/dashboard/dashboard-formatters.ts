import { convertKilograms, toMassUnit, type MassUnit } from '../../calculator/units.js'
import type { Granularity } from '../../orders/day-calendar.js'

const moment = (isoDate: string): Date => new Date(`${isoDate}T00:00:00Z`)

/** What the dashboard writes in a reader's locale, beyond what every page does. */
export function createDashboardFormatters(locale: string) {
  // Days are named, not moments: they are the same in every zone.
  const dates = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' })
  const oneDigit = { minimumFractionDigits: 1, maximumFractionDigits: 1 }
  const percent = new Intl.NumberFormat(locale, { style: 'percent' })
  const share = new Intl.NumberFormat(locale, { style: 'percent', ...oneDigit })
  const tenths = new Intl.NumberFormat(locale, oneDigit)
  const twoDigits = new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 })
  const period = dates({ dateStyle: 'medium' })
  const day = dates({ weekday: 'short', day: 'numeric', month: 'short' })
  const month = dates({ month: 'long', year: 'numeric' })
  const shortDay = dates({ day: 'numeric', month: 'short' })
  const shortMonth = dates({ month: 'short', year: 'numeric' })
  return {
    locale,
    /** A ratio in whole per cent */
    percent: (ratio: number): string => percent.format(ratio),
    /** A ratio in per cent, with one decimal so that columns align */
    share: (ratio: number): string => share.format(ratio),
    tenths: (value: number): string => tenths.format(value),
    /** How many of something there are in a unit of time; few of them are still told apart from none */
    rate: (value: number): string =>
      value > 0 && value < 0.1 ? twoDigits.format(value) : tenths.format(value),
    /** A mass in the unit that suits it */
    mass(kg: number): { value: string; unit: MassUnit } {
      const unit = toMassUnit(kg)
      return { value: tenths.format(convertKilograms(kg, unit)), unit }
    },
    /** From a day to a day, both included */
    period: (from: string, to: string): string =>
      from === to ? period.format(moment(from)) : period.formatRange(moment(from), moment(to)),
    /** A step of the timeline, from its first day to its last */
    step: (step: Granularity, from: string, to: string): string => {
      if (step === 'week') return period.formatRange(moment(from), moment(to))
      return (step === 'day' ? day : month).format(moment(from))
    },
    /** The same as short as an axis likes it */
    tick: (step: Granularity, from: string): string =>
      (step === 'month' ? shortMonth : shortDay).format(moment(from)),
  }
}

export type DashboardFormatters = ReturnType<typeof createDashboardFormatters>
