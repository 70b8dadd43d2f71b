import type { OrderBook } from '../orders/book/order-book.js'
import { isoDate } from '../orders/book/day-calendar.js'
import { figuresFor } from '../orders/pages/figures.js'
import { cardsOf } from './cards.js'
import { currenciesByUse } from './currencies-by-use.js'
import { dashboardStats, type Range } from './dashboard-stats.js'
import { figureWords } from './figure-words.js'
import { statusView } from './status-view.js'
import { timelineView } from './timeline-view.js'

/** The dashboard as its page shows it at a moment, ms since the epoch; `null` before the first order. */
export function dashboardView(
  book: OrderBook,
  range: Range,
  { locale, mainCurrency, now }: { locale: string; mainCurrency: string; now: number },
) {
  const currencies = currenciesByUse(book, mainCurrency)
  const [currency] = currencies
  if (currency === undefined) return null
  const { calendar } = book
  const { timeZone } = calendar
  const figures = figuresFor(locale, timeZone)
  const words = figureWords(locale)
  const stats = dashboardStats(book, range, now)
  const today = isoDate(calendar.dayOf(now))
  return {
    timeZone,
    period: words.period(stats.from, stats.to),
    cards: cardsOf({ stats, currencies, figures, words }),
    hasOrders: stats.orders > 0,
    timeline: timelineView({ stats, currency, today, figures, words }),
    statuses: statusView(stats, figures, words),
  }
}
