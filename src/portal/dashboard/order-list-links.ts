import { DEFAULT_PAGE_SIZE, buildListUrl, type ListQuery } from '../../orders/list-query.js'
import { DEFAULT_SORT } from '../../orders/order-filters.js'
import { isCounted, ORDER_STATUSES } from '../../orders/order-status.js'
import type { DashboardStats } from '../../orders/dashboard-stats.js'

/** The statuses of the orders whose CO2e and money count. */
export const COUNTED_STATUSES = ORDER_STATUSES.filter(isCounted)

/** The address of the list of the orders that a figure is made of. */
export const buildOrdersUrl = (filters: Partial<ListQuery>): string =>
  buildListUrl({ sort: DEFAULT_SORT, page: 1, pageSize: DEFAULT_PAGE_SIZE, ...filters })

/** The days of statistics as filters of the list; all time needs none. */
export const getDateFilters = ({
  range,
  from,
  to,
}: DashboardStats): Pick<ListQuery, 'from' | 'to'> => (range === 'all' ? {} : { from, to })
