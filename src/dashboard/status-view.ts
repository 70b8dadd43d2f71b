import type { DashboardStats } from '../orders/dashboard-stats.js'
import type { Formatters } from '../core/formatting/formatters.js'
import { STATUS_LABELS } from '../orders/labels.js'
import type { DashboardFormatters } from './dashboard-formatters.js'
import { getDateFilters, buildOrdersUrl } from './order-list-links.js'

/** Orders by status: the table that the doughnut chart is drawn from. */
export function buildStatusView(
  stats: DashboardStats,
  formatters: Formatters,
  dashboardFormatters: DashboardFormatters,
) {
  return {
    total: formatters.count(stats.orders),
    rows: stats.statusDistribution.map(({ status, count }) => ({
      status,
      name: STATUS_LABELS[status],
      count,
      text: formatters.count(count),
      share: dashboardFormatters.share(stats.orders === 0 ? 0 : count / stats.orders),
      href: count === 0 ? null : buildOrdersUrl({ ...getDateFilters(stats), status: [status] }),
    })),
  }
}
