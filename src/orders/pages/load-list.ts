import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parseListQuery } from '../list-query.js'
import type { SelectedOrder } from './bulk-actions.js'
import { buildListView } from './list-view.js'

type Services = Pick<FastifyInstance, 'orders' | 'orderPage' | 'savedViews'>

/** Creates the function that loads a page of the list, with the selection that a form sent. */
export const createListLoader =
  ({ orders: store, orderPage, savedViews }: Services) =>
  async (
    request: FastifyRequest,
    parameters: Record<string, unknown>,
    selection: SelectedOrder[] = [],
  ) => {
    const { query, ignored } = parseListQuery(parameters)
    const { sort, page, pageSize, ...filters } = query
    const slice = { sort, offset: (page - 1) * pageSize, limit: pageSize }
    const { items, ...total } = await store.list(filters, slice)
    const currencies = await store.listCurrencies()
    const views = await savedViews.list()
    const notes = await orderPage.loadListNotes(items)
    const data = { query, ignored, selection, items, total, currencies, views, notes }
    return buildListView(data, orderPage.getRequestFormatters(request), store.calendar)
  }
