import { CALCULATOR_TYPES } from '../../calculator/calculator-data.js'
import {
  buildListUrl,
  DEFAULT_PAGE_SIZE,
  getFilters,
  getNextSort,
  type IgnoredParameters,
  type ListQuery,
} from '../list-query.js'
import { PAYMENT_METHODS } from '../checkout.js'
import {
  MAX_SEARCH_LENGTH,
  ORDER_EXCEPTIONS,
  PAYMENT_FILTERS,
  type SortField,
} from '../order-filters.js'
import type { DayCalendar } from '../../core/formatting/day-calendar.js'
import { LIVE_STATUSES, ORDER_STATUSES } from '../order-status.js'
import { ORDER_ORIGINS, type Order } from '../order.js'
import { getStatusPermission } from '../status-permission.js'
import type { Formatters } from '../../core/formatting/formatters.js'
import {
  CALCULATOR_LABELS,
  EXCEPTION_LABELS,
  joinWithAnd,
  METHOD_LABELS,
  ORIGIN_NAMES,
  PAYMENT_LABELS,
  STATUS_LABELS,
} from '../labels.js'
import type { OrderList } from '../store/order-store.js'
import type { SelectedOrder } from './bulk-actions.js'
import { MAX_MATCHING_ORDERS } from './bulk-selection.js'
import { buildDatePresets } from './date-presets.js'
import { buildFilterChips, countFilters } from './filter-chips.js'
import { buildContextUrl } from './list-context.js'
import type { DescribeInList } from './order-extensions.js'
import type { SavedView } from './saved-views.js'
import { buildPagination, formatTotal } from './pagination.js'

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
function buildExportLinks(query: ListQuery) {
  const buildUrl = (path: string, format: string): string => {
    const url = buildListUrl({ ...query, page: 1, pageSize: DEFAULT_PAGE_SIZE }, path)
    return `${url}${url.includes('?') ? '&' : '?'}format=${format}`
  }
  return (['csv', 'xlsx'] as const).map((format) => ({
    format,
    label: format === 'csv' ? 'CSV' : 'Excel',
    href: buildUrl('/admin/orders/export', format),
    apiHref: buildUrl('/api/admin/orders/export', format),
  }))
}

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
    id: order.id,
    isSelected: selection.some(({ id }) => id === order.id),
    version: order.version,
    href: buildContextUrl({ query, position }, `/admin/orders/${order.id}`),
    orderNumber: order.orderNumber,
    date: format.date(order.placedAt),
    time: format.time(order.placedAt),
    placedAt: order.placedAt,
    customerName: order.customerName,
    customerEmail: order.customerEmail,
    vesselName: order.vesselName,
    imoNumber: order.imoNumber,
    co2e: format.kilograms(order.co2eKg),
    amount: format.money(order.amountMinor, order.currency),
    status: order.status,
    statusLabel: STATUS_LABELS[order.status],
    notes: notes.flatMap((describe) => describe(order) ?? []),
  }
}

/** The options of a filter. */
const toChoices = <T extends string>(
  values: readonly T[],
  labels: Record<T, string>,
  selected: readonly T[] = [],
) => values.map((value) => ({ value, label: labels[value], isSelected: selected.includes(value) }))

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
    choices: {
      statuses: toChoices(ORDER_STATUSES, STATUS_LABELS, query.status),
      types: toChoices(CALCULATOR_TYPES, CALCULATOR_LABELS, query.calculatorType),
      exceptions: toChoices(ORDER_EXCEPTIONS, EXCEPTION_LABELS, query.exception),
      origins: toChoices(ORDER_ORIGINS, ORIGIN_NAMES, query.origin),
      methods: toChoices(PAYMENT_METHODS, METHOD_LABELS, query.paymentMethod),
      payments: toChoices(PAYMENT_FILTERS, PAYMENT_LABELS, query.payment),
      currencies,
    },
    statusActions: LIVE_STATUSES.map((value) => ({
      value,
      label: STATUS_LABELS[value],
      permission: getStatusPermission(value),
    })),
    chips,
    filterCounts: countFilters(query),
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
