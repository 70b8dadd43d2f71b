import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { getLocale } from '../../http/locale.js'
import type { OrderStore } from '../../order-store/order-store.js'
import adminPages from '../../plugins/admin-pages.js'
import { getFormatters } from '../formatters.js'
import { buildCurrencyChoices } from './currency-choices.js'
import { parseNewOrderForm, type NewOrderForm } from './new-order-form.js'
import { buildEmissionsView, buildNewOrderView, listCalculatorErrors } from './new-order-view.js'
import { normalizeFieldValue, type FieldErrors } from './order-fields.js'

interface FormRoute {
  Body: Record<string, unknown> | undefined
}

interface RenderOptions {
  key: string
  errors?: FieldErrors
  /** An order was created from this form before, with other values */
  isDuplicate?: boolean
}

const pages: FastifyPluginAsync<{ store: OrderStore }> = async (app, { store }) => {
  await app.register(adminPages)
  const { timeZone } = store.calendar

  const getRequestLocale = ({ headers }: FastifyRequest) => getLocale(headers['accept-language'])

  async function render(
    reply: FastifyReply,
    form: NewOrderForm,
    { key, errors = {}, isDuplicate = false }: RenderOptions,
  ) {
    const locale = getRequestLocale(reply.request)
    const format = getFormatters(locale, timeZone)
    return reply.renderView(
      { page: 'portal/orders/new-order', fragment: 'portal/orders/_new-order-part' },
      {
        administrator: reply.request.administrator,
        form: buildNewOrderView({ form, key, errors, format }),
        isDuplicate,
        currencies: buildCurrencyChoices(await store.listCurrencies(), locale),
        timeZone,
      },
    )
  }

  app.get('/admin/orders/new', async (_request, reply) => {
    const form = parseNewOrderForm({ currency: app.config.CURRENCY }, timeZone)
    return render(reply, form, { key: randomUUID() })
  })

  app.post<FormRoute>('/admin/orders/new/emissions', async (request, reply) => {
    const form = parseNewOrderForm(request.body ?? {}, timeZone)
    const format = getFormatters(getRequestLocale(request), timeZone)
    return reply.renderView(
      { page: 'portal/orders/_emissions-parts' },
      {
        emissions: buildEmissionsView(form, format),
        errors: listCalculatorErrors(form),
        form: buildNewOrderView({ form, key: '', errors: {}, format }),
      },
    )
  })

  app.post<FormRoute>('/admin/orders', async (request, reply) => {
    const { body = {} } = request
    const key = normalizeFieldValue(body.key) || randomUUID()
    const form = parseNewOrderForm(body, timeZone)
    if (form.order === null) return render(reply.code(422), form, { key, errors: form.errors })
    const created = await store.create(form.order, request.administrator.email, `form ${key}`)
    if (created.outcome === 'idempotency_key_reused') {
      return render(reply.code(422), form, { key: randomUUID(), isDuplicate: true })
    }
    reply.setFlash({ code: 'created', orderId: created.order.id })
    const url = `/admin/orders/${created.order.id}`
    // htmx would follow a redirect and swap the page into the form.
    return request.wantsFragment
      ? reply.header('hx-redirect', url).send()
      : reply.redirect(url, 303)
  })
}

export default pages
