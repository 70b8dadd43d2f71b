import type { Formatters } from '../../core/formatting/formatters.js'
import { buildListUrl, type ListQuery } from '../list-query.js'
import { MAX_EXACT_TOTAL, type OrderList } from '../store/order-store.js'

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
export function buildPagination(
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
