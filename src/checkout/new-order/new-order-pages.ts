import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { CALCULATOR_TYPES, type CalculatorType } from '../../calculator/calculator-data.js'
import {
  buildFormView,
  CALCULATOR_NAMES,
  CHOICES,
  FIELD_NAMES,
  listFieldNames,
} from '../../calculator/form-view.js'
import type { Formatters } from '../../core/formatting/portal-formatters.js'
import { getLocale, getRequestFormatters } from '../../core/http/locale.js'
import { STATUS_LABELS } from '../../orders/labels.js'
import { getStatusPermission } from '../../orders/order-permissions.js'
import { LIVE_STATUSES } from '../../orders/order-status.js'
import {
  buildCurrencyChoices,
  buildFieldViews,
  normalizeFieldValue,
  ORDER_FIELDS,
  type FieldErrors,
} from '../../orders/pages/order-fields.js'
import { estimateTrip } from '../../orders/pages/trip-view.js'
import { createPriceTerms } from '../checkout-config.js'
import {
  buildPortfolioChoices,
  describeSuggestion,
  parseNewOrderForm,
  type NewOrderForm,
  type Pricing,
} from './new-order-form.js'

/** The errors in one calculator, by its field names. */
const getCalculatorErrors = (type: CalculatorType, errors: FieldErrors): FieldErrors =>
  Object.fromEntries(
    Object.entries(errors)
      .filter(([path]) => path.startsWith(`${type}.`))
      .map(([path, message]) => [path.slice(type.length + 1), message]),
  )

/** The result of the selected calculator, or the fields that it still needs. */
function buildEmissionsView({ calculatorType, calculators }: NewOrderForm, format: Formatters) {
  if (calculatorType === null) return { state: 'none' as const }
  const form = calculators[calculatorType]
  if (form.calculation !== null) {
    return { state: 'calculated' as const, estimate: estimateTrip(form.calculation, format) }
  }
  const { missing, invalid } = buildFormView(calculatorType, form, format.numbers)
  return {
    state: 'incomplete' as const,
    missing,
    invalid: invalid.map(({ name }) => name),
  }
}

/** Errors in the selected calculator while the user fills it in; empty fields have no error yet. */
const listCalculatorErrors = ({ calculatorType, calculators }: NewOrderForm) =>
  calculatorType === null
    ? []
    : listFieldNames(calculatorType, calculators[calculatorType].lines).map((name) => ({
        id: `${calculatorType}-${name.replaceAll('.', '-')}-error`,
        message: calculators[calculatorType].errors[name],
      }))

interface Options {
  form: NewOrderForm
  /** Idempotency key: submitting the form twice creates one order */
  key: string
  errors: FieldErrors
  pricing: Pricing | null
  format: Formatters
}

/** Builds the form of a new order. */
function buildNewOrderView({ form, key, errors, pricing, format }: Options) {
  const fields = buildFieldViews(ORDER_FIELDS, { values: form.values, errors, format })
  return {
    key,
    fields: Object.fromEntries(fields.map((field) => [field.name, field])),
    calculatedCo2e: form.calculatedCo2e,
    calculatedPrice: form.calculatedPrice,
    portfolios: pricing && buildPortfolioChoices(pricing, form.portfolioId, format),
    priceHint:
      pricing &&
      describeSuggestion(
        pricing,
        {
          price: form.suggestedPrice,
          portfolioId: form.portfolioId,
          isUsed: form.calculatedPrice !== '',
        },
        format,
      ),
    errors,
    errorCount: Object.keys(errors).length,
    placedAt: { value: form.placedAt, error: errors.placedAt },
    statuses: LIVE_STATUSES.map((value) => ({
      permission: getStatusPermission(value),
      value,
      label: STATUS_LABELS[value],
      isSelected: value === form.status,
    })),
    calculators: [
      { type: 'none', title: 'None', isSelected: form.calculatorType === null, form: null },
      ...CALCULATOR_TYPES.map((type) => ({
        type,
        title: CALCULATOR_NAMES[type].title,
        isSelected: form.calculatorType === type,
        form: {
          names: FIELD_NAMES,
          values: form.calculators[type].values,
          lines: form.calculators[type].lines,
          errors: getCalculatorErrors(type, errors),
        },
      })),
    ],
    choices: CHOICES,
    emissions: buildEmissionsView(form, format),
  }
}

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
