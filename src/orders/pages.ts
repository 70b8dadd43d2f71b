import type { FastifyPluginAsync } from 'fastify'
import adminPages from '../plugins/admin-pages.js'
import { readerLocale } from '../plugins/reader-locale.js'
import type { OrderBook } from './book/order-book.js'
import { figuresFor } from './figures.js'
import { readListQuery } from './list-query.js'
import { listView } from './list-view.js'

type Query = Record<string, unknown>

const pages: FastifyPluginAsync<{ book: OrderBook }> = async (app, { book }) => {
  await app.register(adminPages)
  const { timeZone } = book.calendar

  app.get<{ Querystring: Query }>('/admin/orders', async (request, reply) => {
    const { query, leftOut } = readListQuery(request.query)
    const { sort, page, pageSize, ...filters } = query
    const slice = { sort, offset: (page - 1) * pageSize, limit: pageSize }
    const { items, total } = await book.list(filters, slice)
    const figures = figuresFor(readerLocale(request.headers['accept-language']), timeZone)
    const currencies = book.currencies()
    const list = listView({ query, leftOut, items, total, currencies, figures, timeZone })
    // While somebody types, only what is listed changes, so that the form keeps its focus.
    const listOnly = request.headers['hx-target']?.toString().endsWith('#list') ?? false
    return reply.hypermedia(
      { page: 'orders/orders', fragment: listOnly ? 'orders/_list' : 'orders/_orders' },
      { administrator: request.administrator, list },
    )
  })
}

export default pages
