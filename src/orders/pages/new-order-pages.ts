import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import adminPages from '../../plugins/admin-pages.js'
import { readerLocale } from '../../plugins/reader-locale.js'
import type { OrderBook } from '../book/order-book.js'
import { currencyChoices } from './currencies.js'
import { figuresFor } from './figures.js'
import { readNewOrder, type NewOrderForm } from './new-order-form.js'
import { emissionErrors, emissionView, newOrderView } from './new-order-view.js'
import { textOf, type Faults } from './order-fields.js'

type Fields = Record<string, unknown>
interface FormRoute {
  Body: Fields | undefined
}

const pages: FastifyPluginAsync<{ book: OrderBook }> = async (app, { book }) => {
  await app.register(adminPages)
  const { timeZone } = book.calendar

  const localeOf = ({ headers }: FastifyRequest) => readerLocale(headers['accept-language'])

  const show = (
    reply: FastifyReply,
    form: NewOrderForm,
    told: { key: string; faults?: Faults; sentBefore?: string },
  ) => {
    const locale = localeOf(reply.request)
    const { key, faults = {}, sentBefore } = told
    return reply.hypermedia(
      { page: 'orders/new-order', fragment: 'orders/_new-order-part' },
      {
        administrator: reply.request.administrator,
        form: newOrderView({ form, key, faults, figures: figuresFor(locale, timeZone) }),
        sentBefore,
        currencies: currencyChoices(book.currencies(), locale),
        timeZone,
      },
    )
  }

  app.get('/admin/orders/new', async (_request, reply) =>
    show(reply, readNewOrder({ currency: app.config.CURRENCY }, timeZone), {
      key: randomUUID(),
    }),
  )

  app.post<FormRoute>('/admin/orders/new/emissions', async ({ headers, body = {} }, reply) => {
    const form = readNewOrder(body, timeZone)
    const figures = figuresFor(readerLocale(headers['accept-language']), timeZone)
    return reply.hypermedia(
      { page: 'orders/_emissions-parts' },
      {
        emission: emissionView(form, figures),
        errors: emissionErrors(form),
        form: newOrderView({ form, key: '', faults: {}, figures }),
      },
    )
  })

  app.post<FormRoute>('/admin/orders', async (request, reply) => {
    const { body = {} } = request
    const key = textOf(body.key) || randomUUID()
    const form = readNewOrder(body, timeZone)
    if (form.order === null) return show(reply.code(422), form, { key, faults: form.faults })
    const created = await book.create(form.order, request.administrator.email, `form ${key}`)
    if (created.outcome === 'key reused') {
      return show(reply.code(422), form, { key: randomUUID(), sentBefore: key })
    }
    reply.leaveMessage({ code: 'created', orderId: created.order.id })
    const page = `/admin/orders/${created.order.id}`
    // htmx would follow a redirect and put the page in the place of the form.
    return request.wantsFragment
      ? reply.header('hx-redirect', page).send()
      : reply.redirect(page, 303)
  })
}

export default pages
