import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { getLocale, getRequestFormatters } from '../../core/http/locale.js'
import { buildCurrencyChoices } from '../../orders/pages/money-input.js'
import { normalizeFieldValue, type FieldErrors } from '../../orders/pages/order-fields.js'
import { getStatusPermission } from '../../orders/status-permission.js'
import { createPriceTerms } from '../checkout-config.js'
import { parseNewOrderForm, type NewOrderForm, type Pricing } from './new-order-form.js'
import { buildEmissionsView, buildNewOrderView, listCalculatorErrors } from './new-order-view.js'

const WRITE = { config: { permission: 'orders:write' } } as const

interface FormRoute {
  Body: Record<string, unknown> | undefined
}

interface FormOptions {
  key: string
  pricing: Pricing | null
  errors?: FieldErrors
}

const pages: FastifyPluginAsync = async (app) => {
  const { orders: store, listPricedPortfolios } = app
  const getTerms = createPriceTerms(app.config)
  const { timeZone } = store.calendar

  const getPricing = async (): Promise<Pricing | null> =>
    listPricedPortfolios && {
      portfolios: await listPricedPortfolios(),
      feePercent: app.config.SERVICE_FEE_PERCENT,
      getTerms,
    }

  async function buildView(
    request: FastifyRequest,
    form: NewOrderForm,
    { key, pricing, errors = {} }: FormOptions,
  ) {
    const format = getRequestFormatters(request)
    const locale = getLocale(request.headers['accept-language'])
    return {
      form: buildNewOrderView({ form, key, errors, pricing, format }),
      currencies: buildCurrencyChoices(await store.listCurrencies(), locale),
      timeZone,
    }
  }

  /** @param isDuplicate whether an order with different values was already created from this form */
  async function render(
    reply: FastifyReply,
    form: NewOrderForm,
    options: FormOptions,
    isDuplicate = false,
  ) {
    const view = await buildView(reply.request, form, options)
    return reply.renderView(
      { page: 'checkout/new-order', fragment: 'checkout/_new-order-part' },
      { ...view, isDuplicate },
    )
  }

  /** Renders the calculated parts of the form while the user fills it in. */
  async function renderParts(
    request: FastifyRequest<FormRoute>,
    reply: FastifyReply,
    page: string,
  ) {
    const pricing = await getPricing()
    const form = parseNewOrderForm(request.body ?? {}, timeZone, pricing)
    const view = await buildView(request, form, { key: '', pricing })
    return reply.renderView(
      { page },
      {
        ...view,
        emissions: buildEmissionsView(form, getRequestFormatters(request)),
        errors: listCalculatorErrors(form),
      },
    )
  }

  app.get('/admin/orders/new', WRITE, async (_request, reply) => {
    const pricing = await getPricing()
    const form = parseNewOrderForm({ currency: app.config.CURRENCY }, timeZone, pricing)
    return render(reply, form, { key: randomUUID(), pricing })
  })

  app.post<FormRoute>('/admin/orders/new/emissions', WRITE, async (request, reply) =>
    renderParts(request, reply, 'orders/_emissions-parts'),
  )

  app.post<FormRoute>('/admin/orders/new/price', WRITE, async (request, reply) =>
    renderParts(request, reply, 'orders/_price-part'),
  )

  app.post<FormRoute>('/admin/orders', WRITE, async (request, reply) => {
    const { body = {} } = request
    const key = normalizeFieldValue(body.key) || randomUUID()
    const pricing = await getPricing()
    const form = parseNewOrderForm(body, timeZone, pricing)
    if (form.order === null)
      return render(reply.code(422), form, { key, pricing, errors: form.errors })
    request.requirePermission(getStatusPermission(form.order.status ?? 'pending'))
    const created = await store.create(
      { ...form.order, origin: 'admin' },
      request.actor,
      `form ${key}`,
    )
    if (created.outcome === 'idempotency_key_reused') {
      return render(reply.code(422), form, { key: randomUUID(), pricing }, true)
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
