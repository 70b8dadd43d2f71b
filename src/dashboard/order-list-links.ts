import { DEFAULT_PAGE_SIZE, buildListUrl, type ListQuery } from '../orders/list-query.js'
import { DEFAULT_SORT } from '../orders/order-filters.js'
import { isCounted, ORDER_STATUSES } from '../orders/order-status.js'
import type { DashboardStats } from '../orders/dashboard-stats.js'

/** Statuses that count towards CO₂e and revenue. */
export const COUNTED_STATUSES = ORDER_STATUSES.filter(isCounted)

/** The URL of the order list with these filters. */
export const buildOrdersUrl = (filters: Partial<ListQuery>): string =>
  buildListUrl({ sort: DEFAULT_SORT, page: 1, pageSize: DEFAULT_PAGE_SIZE, ...filters })

/** Date filters of the order list for the period of the statistics; none for all time. */
export const getDateFilters = ({
  range,
  from,
  to,
}: DashboardStats): Pick<ListQuery, 'from' | 'to'> => (range === 'all' ? {} : { from, to })
