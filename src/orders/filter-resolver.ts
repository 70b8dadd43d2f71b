import type { OrderStore } from './store/order-store.js'
import type { OrderFilters } from './order-filters.js'

type ResolveFilters = (filters: OrderFilters) => Promise<OrderFilters>
type FindReferenced = (reference: string) => Promise<number[]>

/**
 * Filters and searches of other features. Their data is always in the service's database, even if
 * the orders are not, so they are replaced by the IDs of the orders that match them.
 */
export interface OrderFilterResolver {
  /** Adds a function that replaces filters of a feature. */
  addFilter(resolve: ResolveFilters): void
  /** Adds a function that finds orders by a whole reference, such as the ID of a payment. */
  addReference(find: FindReferenced): void
  resolve: ResolveFilters
}

/**
 * Creates a filter resolver. A search for a whole reference finds its order if the text occurs in no
 * order.
 */
export function createFilterResolver(
  store: Pick<OrderStore, 'findByOrderSourceId' | 'list'>,
): OrderFilterResolver {
  const filterResolvers: ResolveFilters[] = []
  const references: FindReferenced[] = [
    async (reference) => (await store.findByOrderSourceId(reference)).map(({ id }) => id),
  ]
  return {
    addFilter: (resolve) => void filterResolvers.push(resolve),
    addReference: (find) => void references.push(find),

    async resolve(filters) {
      let resolved = filters
      for (const resolve of filterResolvers) resolved = await resolve(resolved)
      const { q = '', ...rest } = resolved
      if (q === '') return resolved
      const found = (await Promise.all(references.map((find) => find(q.trim())))).flat()
      if (found.length === 0) return resolved
      const { total } = await store.list({ q }, { sort: '-placedAt', offset: 0, limit: 1 })
      if (total > 0) return resolved
      return { ...rest, ids: found.filter((id) => resolved.ids?.includes(id) ?? true) }
    },
  }
}
