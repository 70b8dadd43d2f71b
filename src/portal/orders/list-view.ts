import { CALCULATOR_TYPES } from '../../calculator/calculator-data.js'
import { lazy } from '../../lazy.js'
import type { Formatters } from '../formatters.js'
import {
  DEFAULT_PAGE_SIZE,
  buildListUrl,
  getNextSort,
  type IgnoredParameters,
  type ListQuery,
} from '../../orders/list-query.js'
import { MAX_SEARCH_LENGTH, type SortField } from '../../orders/order-filters.js'
import { LIVE_STATUSES, ORDER_STATUSES } from '../../orders/order-status.js'
import { buildContextUrl } from './list-context.js'
import { STATUS_LABELS, CALCULATOR_LABELS } from '../labels.js'
import type { Order } from '../../orders/order.js'

const COLUMNS: { field: SortField; title: string; numeric?: true; descendingFirst?: true }[] = [
  { field: 'orderNumber', title: 'Order' },
  { field: 'placedAt', title: 'Placed', descendingFirst: true },
  { field: 'customerName', title: 'Customer' },
  { field: 'vesselName', title: 'Vessel' },
  { field: 'co2eKg', title: 'CO₂e, kg', numeric: true, descendingFirst: true },
  { field: 'amountMinor', title: 'Amount', numeric: true, descendingFirst: true },
  { field: 'status', title: 'Status' },
]

/** What the page calls the parts of a list's address. */
const PARTS: Record<string, string> = {
  q: 'Search',
  status: 'Status',
  calculatorType: 'Calculator',
  currency: 'Currency',
  from: 'Placed from',
  to: 'Placed until',
  sort: 'Sorting',
  page: 'Page',
  pageSize: 'Rows a page',
}

const words = lazy(() => new Intl.ListFormat('en-GB', { type: 'conjunction' }))

/** What was left out of an address and why, in sentences; empty where all was taken. */
function leftOutText({
  invalid: unreadable,
  isSearchTooLong: tooLong,
  isRangeReversed: endsBeforeStart,
}: IgnoredParameters): string {
  const names = unreadable.map((name) => `“${PARTS[name] ?? name}”`)
  const [were, values] = names.length === 1 ? ['was', 'value'] : ['were', 'values']
  return [
    ...(names.length > 0
      ? [`${words().format(names)} ${were} left out: the list has no such ${values}.`]
      : []),
    ...(tooLong
      ? [`“Search” was left out: it has more than ${MAX_SEARCH_LENGTH} characters.`]
      : []),
    ...(endsBeforeStart ? ['“Placed until” was left out: it is before “Placed from”.'] : []),
  ].join(' ')
}

const PAGE_SIZES = [25, 50, 100]

/** Pages about the current one, the first and the last; `null` where some are left out. */
function pageNumbers(page: number, pages: number): (number | null)[] {
  const wanted = new Set([1, page - 1, page, page + 1, pages])
  const numbers = [...wanted].filter((n) => n >= 1 && n <= pages).sort((a, b) => a - b)
  return numbers.flatMap((n, i) => {
    const gap = n - (numbers[i - 1] ?? n - 1) - 1
    return gap === 0 ? [n] : gap === 1 ? [n - 1, n] : [null, n]
  })
}

/** One of the filters at work, and the address without it. */
interface Chip {
  /** Of the filter, whatever others there are, so that the focus stays with it */
  id: string
  name: string
  value: string
  href: string
}

function chipsOf(query: ListQuery, figures: Formatters): Chip[] {
  const first = { ...query, page: 1 }
  const without = (name: keyof ListQuery, value?: string): string => {
    const rest = [query[name]].flat().filter((one) => value !== undefined && one !== value)
    return buildListUrl({ ...first, [name]: rest.length > 0 ? rest : undefined })
  }
  return [
    ...(query.q ? [{ id: 'filter-q', name: 'Search', value: query.q, href: without('q') }] : []),
    ...(query.status ?? []).map((status) => ({
      id: `filter-${status}`,
      name: 'Status',
      value: STATUS_LABELS[status],
      href: without('status', status),
    })),
    ...(query.calculatorType ?? []).map((type) => ({
      id: `filter-${type}`,
      name: 'Calculator',
      value: CALCULATOR_LABELS[type],
      href: without('calculatorType', type),
    })),
    ...(query.currency === undefined
      ? []
      : [
          {
            id: 'filter-currency',
            name: 'Currency',
            value: query.currency,
            href: without('currency'),
          },
        ]),
    ...(query.from === undefined
      ? []
      : [
          {
            id: 'filter-from',
            name: 'From',
            value: figures.day(query.from),
            href: without('from'),
          },
        ]),
    ...(query.to === undefined
      ? []
      : [{ id: 'filter-to', name: 'To', value: figures.day(query.to), href: without('to') }]),
  ]
}

interface Listed {
  query: ListQuery
  leftOut: IgnoredParameters
  /** Ids of the orders that are ticked */
  chosen: ReadonlySet<string>
  items: Order[]
  total: number
  currencies: string[]
  figures: Formatters
  timeZone: string
}

/** A list of orders as its page shows it. */
export function buildListView(listed: Listed) {
  const { query, leftOut, chosen, items, total, currencies, figures, timeZone } = listed
  const { page, pageSize, sort } = query
  const pages = Math.max(1, Math.ceil(total / pageSize))
  const at = (number: number): string => buildListUrl({ ...query, page: number })
  const chips = chipsOf(query, figures)
  const position = (page - 1) * pageSize
  return {
    query,
    url: buildListUrl(query),
    leftOut: leftOutText(leftOut),
    timeZone,
    choices: {
      statuses: ORDER_STATUSES.map((value) => ({
        value,
        label: STATUS_LABELS[value],
        checked: query.status?.includes(value) ?? false,
      })),
      types: CALCULATOR_TYPES.map((value) => ({
        value,
        label: CALCULATOR_LABELS[value],
        checked: query.calculatorType?.includes(value) ?? false,
      })),
      currencies,
    },
    moves: LIVE_STATUSES.map((status) => ({
      value: status,
      label: STATUS_LABELS[status],
    })),
    chips,
    clear: buildListUrl({ sort, page: 1, pageSize }),
    /** What sorting by numbers of several currencies means */
    mixes:
      /^-?amountMinor$/.test(sort) && query.currency === undefined && currencies.length > 1
        ? 'Amounts are sorted by their numbers, whatever their currency.'
        : null,
    filtersInUse: chips.filter(({ name }) => name !== 'Search').length,
    columns: COLUMNS.map(({ field, title, numeric, descendingFirst }) => ({
      title,
      numeric,
      sorted: sort === field ? 'ascending' : sort === `-${field}` ? 'descending' : undefined,
      href: buildListUrl({
        ...query,
        page: 1,
        sort: getNextSort(sort, field, descendingFirst ?? false),
      }),
    })),
    rows: items.map((order, index) => ({
      id: order.id,
      chosen: chosen.has(order.id),
      version: order.version,
      href: buildContextUrl({ query, at: position + index }, `/admin/orders/${order.id}`),
      orderNumber: order.orderNumber,
      date: figures.date(order.placedAt),
      time: figures.time(order.placedAt),
      placedAt: order.placedAt,
      customerName: order.customerName,
      customerEmail: order.customerEmail,
      vesselName: order.vesselName,
      imoNumber: order.imoNumber,
      type: order.calculatorType === null ? null : CALCULATOR_LABELS[order.calculatorType],
      co2e: figures.kilograms(order.co2eKg),
      amount: figures.money(order.amountMinor, order.currency),
      status: order.status,
      statusName: STATUS_LABELS[order.status],
    })),
    total: figures.count(total),
    count: total,
    isEmpty: total === 0 && chips.length === 0,
    range: { from: figures.count(position + 1), to: figures.count(position + items.length) },
    page: {
      number: page,
      count: pages,
      previous: page > 1 ? at(Math.min(page - 1, pages)) : null,
      next: page < pages ? at(page + 1) : null,
      numbers: pageNumbers(Math.min(page, pages), pages).map((number) =>
        number === null
          ? null
          : {
              page: number,
              number: figures.count(number),
              href: at(number),
              current: number === page,
            },
      ),
    },
    pageSizes: PAGE_SIZES.map((size) => ({
      size,
      href: buildListUrl({ ...query, page: 1, pageSize: size }),
      current: size === pageSize,
    })),
    exports: (['csv', 'xlsx'] as const).map((format) => {
      const all = { ...query, page: 1, pageSize: DEFAULT_PAGE_SIZE }
      const at = (path: string): string => {
        const url = buildListUrl(all, path)
        return `${url}${url.includes('?') ? '&' : '?'}format=${format}`
      }
      return {
        format,
        label: format === 'csv' ? 'CSV' : 'Excel',
        href: at('/admin/orders/export'),
        api: at('/api/admin/orders/export'),
      }
    }),
  }
}
