import type { DayCalendar } from '../../core/formatting/day-calendar.js'
import type { Formatters } from '../../core/formatting/portal-formatters.js'
import { joinWithAnd, STATUS_LABELS } from '../labels.js'
import {
  buildListUrl,
  DEFAULT_PAGE_SIZE,
  getFilters,
  getNextSort,
  MAX_SEARCH_LENGTH,
  type IgnoredParameters,
  type ListQuery,
  type SortField,
} from '../order-filters.js'
import { getStatusPermission } from '../order-permissions.js'
import { LIVE_STATUSES } from '../order-status.js'
import type { Order } from '../order.js'
import { MAX_EXACT_TOTAL, type OrderList } from '../store/order-store.js'
import { MAX_MATCHING_ORDERS, type SelectedOrder } from './bulk-actions.js'
import { buildContextUrl } from './list-context.js'
import {
  buildDatePresets,
  buildFilterChips,
  buildFilterMenus,
  countFilters,
} from './list-filters.js'
import type { DescribeInList } from './order-extensions.js'
import type { SavedView } from './saved-views.js'

const PAGE_SIZES = [25, 50, 100]

/** The first, the last and the neighbouring pages; `null` for a gap of more than one page. */
function listPageNumbers(page: number, pageCount: number): (number | null)[] {
  const candidates = new Set([1, page - 1, page, page + 1, pageCount])
  const numbers = [...candidates].filter((n) => n >= 1 && n <= pageCount).sort((a, b) => a - b)
  return numbers.flatMap((number, index) => {
    const gap = number - (numbers[index - 1] ?? number - 1) - 1
    return gap === 0 ? [number] : gap === 1 ? [number - 1, number] : [null, number]
  })
}

type Total = Pick<OrderList, 'total' | 'isTotalExact'>

/** Formats the number of orders in a list: `1,234`, `10,000+` or `about 40,000`. */
export function formatTotal({ total, isTotalExact }: Total, format: Formatters): string {
  if (isTotalExact) return format.count(total)
  return total === MAX_EXACT_TOTAL ? `${format.count(total)}+` : `about ${format.count(total)}`
}

/**
 * Builds the pagination of a list.
 *
 * @param count items on this page
 */
function buildPagination(
  query: ListQuery,
  { total, isTotalExact, count }: Total & { count: number },
  format: Formatters,
) {
  const { page, pageSize } = query
  const hasMore = !isTotalExact && count === pageSize
  const pageCount = Math.max(1, Math.ceil(total / pageSize), hasMore ? page + 1 : 0)
  const buildUrl = (number: number): string => buildListUrl({ ...query, page: number })
  const offset = (page - 1) * pageSize
  return {
    range: { from: format.count(offset + 1), to: format.count(offset + count) },
    page: {
      previous: page > 1 ? buildUrl(Math.min(page - 1, pageCount)) : null,
      next: page < pageCount ? buildUrl(page + 1) : null,
      numbers: listPageNumbers(Math.min(page, pageCount), pageCount).map(
        (number) =>
          number && {
            page: number,
            number: format.count(number),
            href: buildUrl(number),
            isCurrent: number === page,
          },
      ),
    },
    pageSizes: PAGE_SIZES.map((size) => ({
      size,
      href: buildListUrl({ ...query, page: 1, pageSize: size }),
      isCurrent: size === pageSize,
    })),
  }
}

const COLUMNS: {
  field: SortField
  title: string
  isNumeric?: true
  isDescendingFirst?: true
}[] = [
  { field: 'orderNumber', title: 'Order' },
  { field: 'placedAt', title: 'Placed', isDescendingFirst: true },
  { field: 'customerName', title: 'Customer' },
  { field: 'vesselName', title: 'Vessel' },
  { field: 'co2eKg', title: 'CO₂e, kg', isNumeric: true, isDescendingFirst: true },
  { field: 'amountMinor', title: 'Amount', isNumeric: true, isDescendingFirst: true },
  { field: 'status', title: 'Status' },
]

/** Names of the query parameters on the page. */
const PARAMETER_LABELS: Record<string, string> = {
  q: 'Search',
  status: 'Status',
  calculatorType: 'Calculator',
  exception: 'Needs attention',
  origin: 'Origin',
  paymentMethod: 'Payment method',
  payment: 'Payment',
  currency: 'Currency',
  from: 'Placed from',
  to: 'Placed up to',
  sort: 'Sort order',
  page: 'Page',
  pageSize: 'Orders per page',
}

/** Explains which query parameters were ignored and why; empty if none were. */
function describeIgnored({ invalid, isSearchTooLong, isRangeReversed }: IgnoredParameters): string {
  const names = invalid.map((name) => `“${PARAMETER_LABELS[name] ?? name}”`)
  const [verb, noun] = names.length === 1 ? ['was', 'value'] : ['were', 'values']
  return [
    ...(names.length > 0 ? [`${joinWithAnd(names)} ${verb} ignored: invalid ${noun}.`] : []),
    ...(isSearchTooLong
      ? [`“Search” was ignored: it has more than ${MAX_SEARCH_LENGTH} characters.`]
      : []),
    ...(isRangeReversed ? ['“Placed up to” was ignored: it is before “Placed from”.'] : []),
  ].join(' ')
}

/** Export links for all orders that match the list's filters. */
const buildExportLinks = (query: ListQuery) =>
  (['csv', 'xlsx'] as const).map((format) => {
    const list = buildListUrl({ ...query, page: 1, pageSize: DEFAULT_PAGE_SIZE }, '')
    const search = `${list === '' ? '?' : `${list}&`}format=${format}`
    return {
      format,
      label: format === 'csv' ? 'CSV' : 'Excel',
      href: `/admin/orders/export${search}`,
      apiHref: `/api/admin/orders/export${search}`,
    }
  })

interface ListData {
  query: ListQuery
  ignored: IgnoredParameters
  selection: readonly SelectedOrder[]
  items: Order[]
  total: Omit<OrderList, 'items'>
  /** Currencies in use */
  currencies: string[]
  views: SavedView[]
  /** The notes that features add */
  notes: readonly DescribeInList[]
}

function buildRow(
  order: Order,
  position: number,
  { query, selection, notes }: ListData,
  format: Formatters,
) {
  return {
    order,
    isSelected: selection.some(({ id }) => id === order.id),
    href: buildContextUrl({ query, position }, `/admin/orders/${order.id}`),
    date: format.date(order.placedAt),
    time: format.time(order.placedAt),
    co2e: format.kilograms(order.co2eKg),
    amount: format.money(order.amountMinor, order.currency),
    statusLabel: STATUS_LABELS[order.status],
    notes: notes.flatMap((describe) => describe(order) ?? []),
  }
}

/** Builds the list of orders. */
export function buildListView(data: ListData, format: Formatters, calendar: DayCalendar) {
  const { query, ignored, selection, items, currencies, views } = data
  const { total } = data.total
  const { page, pageSize, sort } = query
  const chips = buildFilterChips(query, format)
  const firstPosition = (page - 1) * pageSize
  const mixesCurrencies =
    /^-?amountMinor$/.test(sort) && query.currency === undefined && currencies.length > 1
  return {
    query,
    url: buildListUrl(query),
    ignored: describeIgnored(ignored),
    timeZone: calendar.timeZone,
    views: views.map((view) => ({
      ...view,
      isCurrent: view.href === buildListUrl({ ...query, page: 1 }),
    })),
    filterMenus: buildFilterMenus(query),
    filterCounts: countFilters(query),
    currencies,
    statusActions: LIVE_STATUSES.map((value) => ({
      value,
      label: STATUS_LABELS[value],
      permission: getStatusPermission(value),
    })),
    chips,
    datePresets: buildDatePresets(query, calendar),
    clearUrl: buildListUrl({ sort, page: 1, pageSize }),
    sortHint: mixesCurrencies ? 'Amounts are sorted within each currency.' : null,
    columns: COLUMNS.map(({ field, title, isNumeric, isDescendingFirst }) => ({
      title,
      isNumeric,
      sorted: sort === field ? 'ascending' : sort === `-${field}` ? 'descending' : undefined,
      href: buildListUrl({
        ...query,
        page: 1,
        sort: getNextSort(sort, field, isDescendingFirst ?? false),
      }),
    })),
    /** Identifies the filters, regardless of sort order and page */
    filtersKey: JSON.stringify(getFilters(query)),
    otherSelected: selection
      .filter(({ id }) => !items.some((order) => order.id === id))
      .map(({ id, version }) => `${id}:${version}`),
    allMatching:
      total > items.length
        ? {
            count: format.count(Math.min(total, MAX_MATCHING_ORDERS)),
            isLimited: total > MAX_MATCHING_ORDERS,
          }
        : null,
    rows: items.map((order, index) => buildRow(order, firstPosition + index, data, format)),
    total: formatTotal(data.total, format),
    count: total,
    isEmpty: total === 0 && chips.length === 0,
    ...buildPagination(query, { ...data.total, count: items.length }, format),
    exports: buildExportLinks(query),
  }
}
