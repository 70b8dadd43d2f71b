import type { FastifyPluginAsync } from 'fastify'
import { Problem } from '../plugins/problem.js'
import type { OffsetOrderSource } from '../order-source/order-source.js'
import { BookUnwritableError } from './book/order-book.js'
import { tellFreshness } from './freshness.js'
import type { OrderStore } from './order-store.js'
import newOrderPages from './pages/new-order-pages.js'
import orderPages from './pages/order-pages.js'
import listPages from './pages/list-pages.js'
import placementPages from './pages/placement-pages.js'
import { placing } from './placement/placing.js'
import routes from './routes.js'

interface Options {
  book: OrderStore
  /** Where orders are placed; `null` where no order source is configured */
  source: OffsetOrderSource | null
}

/** The orders: their API and their pages. */
const orders: FastifyPluginAsync<Options> = async (app, { book, source }) => {
  const options = { book, placing: source && placing(book, source) }
  app.readiness.set('orders', async () => book.readiness())
  tellFreshness(app, book, book.calendar.timeZone)
  app.setErrorHandler(async (error, request) => {
    if (!(error instanceof BookUnwritableError)) throw error
    if (!error.isBusy) request.log.error({ err: error.cause }, 'the order book takes no changes')
    throw new Problem(503, 'The orders take no changes at the moment: nothing was changed.', {
      headers: { 'retry-after': '5' },
    })
  })
  await app.register(routes, options)
  await app.register(listPages, options)
  await app.register(newOrderPages, options)
  await app.register(orderPages, options)
  if (options.placing) await app.register(placementPages, { book, placing: options.placing })
}

export default orders
