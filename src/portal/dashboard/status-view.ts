import type { Formatters } from '../formatters.js'
import { STATUS_LABELS } from '../labels.js'
import type { DashboardStats } from '../../orders/dashboard-stats.js'
import type { DashboardFormatters } from './dashboard-formatters.js'
import { getDateFilters, buildOrdersUrl } from './order-list-links.js'

/** Orders by status, as the table that the ring is drawn from and explained by. */
export function buildStatusView(
  stats: DashboardStats,
  figures: Formatters,
  words: DashboardFormatters,
) {
  return {
    total: figures.count(stats.orders),
    rows: stats.statusDistribution.map(({ status, count }) => ({
      status,
      name: STATUS_LABELS[status],
      count,
      text: figures.count(count),
      share: words.share(stats.orders === 0 ? 0 : count / stats.orders),
      href: count === 0 ? null : buildOrdersUrl({ ...getDateFilters(stats), status: [status] }),
    })),
  }
}
