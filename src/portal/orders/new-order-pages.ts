import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import adminPages from '../../plugins/admin-pages.js'
import { getLocale } from '../../http/locale.js'
import type { OrderStore } from '../../order-store/order-store.js'
import { buildCurrencyChoices } from './currency-choices.js'
import { getFormatters } from '../formatters.js'
import { parseNewOrderForm, type NewOrderForm } from './new-order-form.js'
import { getEmissionErrors, buildEmissionView, buildNewOrderView } from './new-order-view.js'
import { getFieldText, type FieldErrors } from './order-fields.js'

type Fields = Record<string, unknown>
interface FormRoute {
  Body: Fields | undefined
}

const pages: FastifyPluginAsync<{ store: OrderStore }> = async (app, { store }) => {
  await app.register(adminPages)
  const { timeZone } = store.calendar

  const localeOf = ({ headers }: FastifyRequest) => getLocale(headers['accept-language'])

  const show = (
    reply: FastifyReply,
    form: NewOrderForm,
    told: { key: string; faults?: FieldErrors; sentBefore?: string },
  ) => {
    const locale = localeOf(reply.request)
    const { key, faults = {}, sentBefore } = told
    return reply.renderView(
      { page: 'portal/orders/new-order', fragment: 'portal/orders/_new-order-part' },
      {
        administrator: reply.request.administrator,
        form: buildNewOrderView({ form, key, faults, figures: getFormatters(locale, timeZone) }),
        sentBefore,
        currencies: buildCurrencyChoices(store.listCurrencies(), locale),
        timeZone,
      },
    )
  }

  app.get('/admin/orders/new', async (_request, reply) =>
    show(reply, parseNewOrderForm({ currency: app.config.CURRENCY }, timeZone), {
      key: randomUUID(),
    }),
  )

  app.post<FormRoute>('/admin/orders/new/emissions', async ({ headers, body = {} }, reply) => {
    const form = parseNewOrderForm(body, timeZone)
    const figures = getFormatters(getLocale(headers['accept-language']), timeZone)
    return reply.renderView(
      { page: 'portal/orders/_emissions-parts' },
      {
        emission: buildEmissionView(form, figures),
        errors: getEmissionErrors(form),
        form: buildNewOrderView({ form, key: '', faults: {}, figures }),
      },
    )
  })

  app.post<FormRoute>('/admin/orders', async (request, reply) => {
    const { body = {} } = request
    const key = getFieldText(body.key) || randomUUID()
    const form = parseNewOrderForm(body, timeZone)
    if (form.order === null) return show(reply.code(422), form, { key, faults: form.faults })
    const created = await store.create(form.order, request.administrator.email, `form ${key}`)
    if (created.outcome === 'idempotency_key_reused') {
      return show(reply.code(422), form, { key: randomUUID(), sentBefore: key })
    }
    reply.setFlash({ code: 'created', orderId: created.order.id })
    const page = `/admin/orders/${created.order.id}`
    // htmx would follow a redirect and put the page in the place of the form.
    return request.wantsFragment
      ? reply.header('hx-redirect', page).send()
      : reply.redirect(page, 303)
  })
}

export default pages
