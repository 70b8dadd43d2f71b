import type { Figures } from '../orders/pages/figures.js'
import { STATUS_NAMES } from '../orders/pages/order-words.js'
import type { DashboardStats } from './dashboard-stats.js'
import type { FigureWords } from './figure-words.js'
import { daysOf, ordersUrl } from './matching-orders.js'

/** Orders by status, as the table that the ring is drawn from and explained by. */
export function statusView(stats: DashboardStats, figures: Figures, words: FigureWords) {
  return {
    total: figures.count(stats.orders),
    rows: stats.statusDistribution.map(({ status, count }) => ({
      status,
      name: STATUS_NAMES[status],
      count,
      text: figures.count(count),
      share: words.share(stats.orders === 0 ? 0 : count / stats.orders),
      href: count === 0 ? null : ordersUrl({ ...daysOf(stats), status: [status] }),
    })),
  }
}
